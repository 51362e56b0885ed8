"""Deduplicate: keeps the last of equal rules."""

import pytest

from unit.core.filters.rules import reasons, run, trace


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["a", "b", "a"], ["b", "a"]),
        (["! 1", "", "a", "! 2", "b", "a"], ["! 2", "b", "a"]),
        (["b", "! 1", "a", "a"], ["b", "a"]),
        (["! 1", " ", "! 2", "a", "a"], ["! 1", " ", "a"]),
        ([" ", "! 1", " "], ["! 1", " "]),
        (["! 1", "! 1", "", ""], ["! 1", "! 1", "", ""]),
        (["a", "A", "a ", " a"], ["a", "A", "a ", " a"]),
        (["a", "a", "! 1"], ["a", "! 1"]),
        (["##.x", "##.x"], ["##.x"]),
        (["constructor", "__proto__", "toString"], ["constructor", "__proto__", "toString"]),
        ([], []),
    ],
)
def test_deduplicate(lines, result):
    """The comments above a dropped rule are dropped too; comments and empty lines are never duplicates."""
    assert run("Deduplicate", *lines) == result


def test_trace():
    """Rules and the comments above them have different reasons."""
    assert trace("Deduplicate", "! 1", "a", "b", "a").origins == [2, 3]
    assert reasons("Deduplicate", "! 1", "a", "b", "a") == {
        "! 1": "comment or empty line above a dropped rule",
        "a": "duplicate of a later line",
    }
