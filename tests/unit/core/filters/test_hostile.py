"""Hostile input: each case takes time that grows with its size, and no faster."""

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

import pytest

from sluice.core.filters.conflicts import find_conflicts
from sluice.core.filters.patterns.domain_patterns import DomainPatterns
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.pipeline import (
    NO_OBSERVER,
    TRANSFORMATIONS,
    LineFilters,
    run_to_end,
    trace,
    transform,
    transform_stepwise,
)
from steps import check_linear

MANY = 100_000  # enough that quadratic time inside a regular expression, which is not counted, would not end
LONG_LINES: dict[str, Callable[[int], str]] = {
    "letters": lambda many: "a" * many,
    "labels": lambda many: "a." * many,
    "hosts line of dots": lambda many: "0.0.0.0 " + "a." * many,
    "hosts line of names": lambda many: "0.0.0.0 " + "a.b " * many,
    "hyphens": lambda many: "||a" + "-" * many + "^",
    "dollars": lambda many: "||a.com^" + "$a" * many,
    "escaped dollars": lambda many: "||a.com^" + "\\$" * many,
    "commas": lambda many: "||a.com^$" + "," * many,
    "modifiers": lambda many: "||a.com^$" + "important," * many,
    "international": lambda many: "я." * many,
    "one label": lambda many: "я" * many + ".рф",
    "spaces": lambda many: " " * many + "#",
    "separators": lambda many: "^" * many,
    "markers": lambda many: "#" * many,
    "address": lambda many: "0" * many + " a.com",
    "colons": lambda many: "0.0.0.0 " + ":" * many,
    "slashes": lambda many: "/" * many,
    "nul": lambda many: "\0" * many,
    "surrogates": lambda many: "\ud800" * many,
}


def exclude(texts: list[str], line: str) -> list[str]:
    return transform([line], [], exclusions=Patterns.parse(texts))


def use_up(values: Iterable[object]) -> None:
    deque(values, maxlen=0)


@pytest.mark.parametrize("make", LONG_LINES.values(), ids=LONG_LINES.keys())
@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_long_lines(name, make):
    """A very long line costs no more than as many bytes in short lines, and becomes no more than the final empty line."""
    check_linear(make, lambda line: TRANSFORMATIONS[name].apply([line, line]))
    assert len(TRANSFORMATIONS[name].apply([make(MANY), make(MANY)])) <= 3


@pytest.mark.parametrize("make", LONG_LINES.values(), ids=LONG_LINES.keys())
def test_long_lines_and_patterns(make):
    """Many patterns of all kinds are matched against a long line, which has none of them."""
    many = [f"text{number}" for number in range(50)]
    for texts in (many, ["*a*b*c*d*"], ["/a.*b.*c$/", "/([a-z0-9-]+\\.)+x/"]):
        check_linear(make, partial(exclude, texts))
        assert exclude(texts, make(MANY)) == [make(MANY)]


@pytest.mark.parametrize("make", LONG_LINES.values(), ids=LONG_LINES.keys())
def test_long_lines_and_domains(make):
    """Domains, and exceptions of other sources, are looked for in a long line."""
    filters = LineFilters(domain_exclusions=DomainPatterns.parse(["*.b.org", "a.com"]))
    check_linear(make, lambda line: run_to_end(transform_stepwise([line, line], [], filters, observer=NO_OBSERVER)))
    check_linear(make, lambda line: use_up(find_conflicts([line, "@@||a.com^", line], lambda _: "list")))


def test_many_empty_lines():
    """Very many empty lines above one dropped rule."""
    check_linear(lambda many: [""] * many + ["||a/b"], lambda lines: trace(lines, ["Validate"]))
    lines = [""] * MANY + ["||a/b"]
    assert transform(lines, ["Validate"]) == []
    assert len(trace(lines, ["Validate"]).dropped) == MANY + 1


def test_many_equal_lines():
    """The same line very often, with a comment above it each time."""
    check_linear(lambda many: ["! x", "||a.com^"] * many, lambda lines: transform(lines, ["Deduplicate"]))
    check_linear(lambda many: ["a.com"] * many, lambda lines: transform(lines, ["Compress"]))
    assert transform(["! x", "||a.com^"] * MANY, ["Deduplicate"]) == ["! x", "||a.com^"]
    assert transform(["a.com"] * MANY, ["Compress"]) == ["||a.com^"]
