"""Conditions and includes inside a source."""

import pytest

from sluice.core.compiler.sources.conditions import BadDirective, select_lines
from sluice.core.compiler.sources.failures import BadSource
from sluice.core.compiler.sources.includes import parse_include, resolve_include


def kept(*lines: str, constants: frozenset[str] = frozenset()) -> list[str]:
    return [lines[at] for at in select_lines(lines, constants)]


def test_branches():
    """The lines of the branch that holds stay, the other ones and the directives go."""
    source = ("a", "!#if adguard", "b", "!#else", "c", "!#endif ", "d")
    assert kept(*source) == ["a", "c", "d"]
    assert kept(*source, constants=frozenset({"adguard"})) == ["a", "b", "d"]


def test_nested_branches():
    """A branch inside one that does not hold never holds, and its condition is not even read."""
    assert kept("!#if true", "a", "!#if false", "b", "!#else", "c", "!#endif", "!#endif", "d") == ["a", "c", "d"]
    assert kept("!#if false", "!#if (&&", "a", "!#else", "b", "!#endif", "!#endif", "c") == ["c"]


def test_other_directives_stay():
    """Hints for Safari, unknown directives, and directives that are indented or in capitals are ordinary lines."""
    lines = ["!#safari_cb_affinity(all)", "a", "!#safari_cb_affinity", "!#unknown", " !#if false", "!#IF false", "#!if"]
    assert kept(*lines) == lines


@pytest.mark.parametrize(
    ("lines", "at"),
    [
        (["a", "!#if true", "b"], 1),
        (["!#if true", "!#if true", "!#endif"], 0),
        (["a", "!#endif"], 1),
        (["a", "b", "!#else"], 2),
        (["!#if true", "!#else", "!#else", "!#endif"], 2),
        (["a", "!#if true &&", "!#endif"], 1),
        (["!#if true", "!#else if false", "!#endif"], 1),
        (["!#if true", "!#endif adguard"], 1),
    ],
)
def test_what_does_not_balance(lines: list[str], at: int):
    """An error points at the line that is to blame."""
    with pytest.raises(BadDirective) as caught:
        kept(*lines)
    assert caught.value.at == at


def test_deep_nesting():
    """Ten thousand conditions inside one another are followed like one."""
    depth = 10_000
    assert kept(*["!#if true"] * depth, "a", *["!#endif"] * depth) == ["a"]


@pytest.mark.parametrize(
    ("line", "target"),
    [("!#include a.txt", "a.txt"), ("!#include   a b.txt ", "a b.txt"), ("!#include", ""), ("! #include a", None)],
)
def test_include_target(line: str, target: str | None):
    """An include names the rest of its line."""
    assert parse_include(line) == target


@pytest.mark.parametrize(
    ("includer", "target", "location"),
    [
        ("https://h.example/l/a.txt", "b.txt", "https://h.example/l/b.txt"),
        ("https://h.example/l/a.txt?x=1", "../b.txt", "https://h.example/b.txt"),
        ("https://h.example/l/a.txt", "/b.txt", "https://h.example/b.txt"),
        ("https://h.example/l/a.txt", "https://h.example:443/b.txt", "https://h.example:443/b.txt"),
        ("HTTPS://H.example/a.txt", "https://h.EXAMPLE/b.txt", "https://h.EXAMPLE/b.txt"),
        ("lists/a.txt", "inc/b.txt", "lists/inc/b.txt"),
        ("lists/a.txt", "../b.txt", "b.txt"),
        ("a.txt", "/lists/b.txt", "/lists/b.txt"),
        ("a.txt", "https://h.example/b.txt", "https://h.example/b.txt"),
    ],
)
def test_resolve(includer: str, target: str, location: str):
    """An include is relative to the file that it stands in; a file may include a URL."""
    assert resolve_include(target, includer) == location


@pytest.mark.parametrize(
    "target",
    [
        "http://h.example/b.txt",
        "https://h.example:8443/b.txt",
        "https://other.example/b.txt",
        "//other.example/b.txt",
        "https://h.example@other.example/b.txt",
        "file:///etc/passwd",
        "data:,x",
        "https://[h/",
        "https://h.example:99999/b.txt",
        "",
    ],
)
def test_other_origins(target: str):
    """A URL includes only from its own origin: a list must not reach what its host could not."""
    with pytest.raises(BadSource):
        resolve_include(target, "https://h.example/a.txt")
