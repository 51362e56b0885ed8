"""Conditional blocks in a source."""

import pytest

from sluice.core.compiler.sources.conditions import BadDirective, select_lines


def keep(*lines: str, constants: frozenset[str] = frozenset()) -> list[str]:
    return [lines[at] for at in select_lines(lines, constants)]


def test_branches():
    """The lines of the true branch are kept; those of the other branch and the directives are dropped."""
    source = ("a", "!#if adguard", "b", "!#else", "c", "!#endif ", "d")
    assert keep(*source) == ["a", "c", "d"]
    assert keep(*source, constants=frozenset({"adguard"})) == ["a", "b", "d"]


def test_nested_branches():
    """A branch inside a false one is dropped, and its condition is not evaluated."""
    assert keep("!#if true", "a", "!#if false", "b", "!#else", "c", "!#endif", "!#endif", "d") == ["a", "c", "d"]
    assert keep("!#if false", "!#if (&&", "a", "!#else", "b", "!#endif", "!#endif", "c") == ["c"]


def test_other_directives_are_kept():
    """Hints for Safari, unknown directives, and indented or upper-case directives are ordinary lines."""
    lines = ["!#safari_cb_affinity(all)", "a", "!#safari_cb_affinity", "!#unknown", " !#if false", "!#IF false", "#!if"]
    assert keep(*lines) == lines


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
def test_unbalanced_blocks(lines: list[str], at: int):
    """The error names the line of the mistake."""
    with pytest.raises(BadDirective) as caught:
        keep(*lines)
    assert caught.value.at == at


def test_deep_nesting():
    """Ten thousand nested conditions are evaluated like one."""
    depth = 10_000
    assert keep(*["!#if true"] * depth, "a", *["!#endif"] * depth) == ["a"]
