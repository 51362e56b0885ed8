"""Includes in a source."""

import pytest

from sluice.core.compiler.sources.includes import parse_include, resolve_include
from sluice.core.compiler.sources.source_errors import BadSource


@pytest.mark.parametrize(
    ("line", "target"),
    [("!#include a.txt", "a.txt"), ("!#include   a b.txt ", "a b.txt"), ("!#include", ""), ("! #include a", None)],
)
def test_parse_include(line: str, target: str | None):
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
def test_resolve_include(includer: str, target: str, location: str):
    """An include is relative to the file that contains it; a file may include a URL."""
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
    """A URL may include only files of its own origin."""
    with pytest.raises(BadSource):
        resolve_include(target, "https://h.example/a.txt")
