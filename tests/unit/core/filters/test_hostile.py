"""Hostile input: each case must end quickly."""

from collections import deque

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

MANY = 100_000  # enough that quadratic time would not end
LONG_LINES = {
    "letters": "a" * MANY,
    "labels": "a." * MANY,
    "hosts line of dots": "0.0.0.0 " + "a." * MANY,
    "hosts line of names": "0.0.0.0 " + "a.b " * MANY,
    "hyphens": "||a" + "-" * MANY + "^",
    "dollars": "||a.com^" + "$a" * MANY,
    "escaped dollars": "||a.com^" + "\\$" * MANY,
    "commas": "||a.com^$" + "," * MANY,
    "modifiers": "||a.com^$" + "important," * MANY,
    "international": "я." * MANY,
    "one label": "я" * MANY + ".рф",
    "spaces": " " * MANY + "#",
    "separators": "^" * MANY,
    "markers": "#" * MANY,
    "address": "0" * MANY + " a.com",
    "colons": "0.0.0.0 " + ":" * MANY,
    "slashes": "/" * MANY,
    "nul": "\0" * MANY,
    "surrogates": "\ud800" * MANY,
}


@pytest.mark.parametrize("line", LONG_LINES.values(), ids=LONG_LINES.keys())
@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_long_lines(name, line):
    """A very long line costs no more than as many bytes in short lines."""
    TRANSFORMATIONS[name].apply([line, line])


@pytest.mark.parametrize("line", LONG_LINES.values(), ids=LONG_LINES.keys())
def test_long_lines_and_patterns(line):
    """Many patterns of all kinds are matched against a long line."""
    many = [f"text{number}" for number in range(50)]
    for texts in (many, ["*a*b*c*d*"], ["/a.*b.*c$/", "/([a-z0-9-]+\\.)+x/"]):
        transform([line], [], exclusions=Patterns.parse(texts))


@pytest.mark.parametrize("line", LONG_LINES.values(), ids=LONG_LINES.keys())
def test_long_lines_and_domains(line):
    """Domains, and exceptions of other sources, are looked for in a long line."""
    filters = LineFilters(domain_exclusions=DomainPatterns.parse(["*.b.org", "a.com"]))
    run_to_end(transform_stepwise([line, line], [], filters, observer=NO_OBSERVER))
    deque(find_conflicts([line, "@@||a.com^", line], lambda _: "list"), maxlen=0)


def test_many_empty_lines():
    """Very many empty lines above one dropped rule."""
    lines = [""] * MANY + ["||a/b"]
    assert transform(lines, ["Validate"]) == []
    assert len(trace(lines, ["Validate"]).dropped) == MANY + 1


def test_many_equal_lines():
    """The same line very often, with a comment above it each time."""
    assert transform(["! x", "||a.com^"] * MANY, ["Deduplicate"]) == ["! x", "||a.com^"]
    assert transform(["a.com"] * MANY, ["Compress"]) == ["||a.com^"]
