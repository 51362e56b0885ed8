"""Properties of every transformation on any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.pipeline import TRANSFORMATIONS, trace, transform
from unit.core.filters import rules

REPEATABLE = [name for name in TRANSFORMATIONS if name != "InvertAllow"]
patterns = st.lists(st.one_of(rules.line, st.sampled_from(["*", "a*", "com", "/^a/", "||*^"])), max_size=3).map(
    lambda texts: Patterns.parse(text for text in texts if not text.startswith("/"))
)


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@given(lines=rules.lines)
def test_trace_agrees_with_apply(name, lines):
    """`trace` returns the same lines as `apply`, and accounts for every input line in order."""
    step = TRANSFORMATIONS[name]
    traced = step.trace(list(lines))
    assert traced.lines == step.apply(list(lines))
    assert len(traced.origins) == len(traced.lines)
    origins = [origin for origin in traced.origins if origin >= 0]
    assert origins == sorted(origins)
    assert {*origins, *(line.at for line in traced.dropped)} == set(range(len(lines)))
    assert all(line.reason for line in traced.dropped)


@pytest.mark.parametrize("name", REPEATABLE)
@given(lines=rules.lines)
def test_idempotence(name, lines):
    """A second run changes nothing."""
    once = TRANSFORMATIONS[name].apply(lines)
    assert TRANSFORMATIONS[name].apply(once) == once


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@given(lines=rules.lines)
def test_the_input_is_not_changed(name, lines):
    """A transformation never changes its input list."""
    before = list(lines)
    TRANSFORMATIONS[name].apply(lines)
    assert lines == before


@given(rules.lines, rules.names, patterns, patterns, st.randoms(use_true_random=False))
def test_the_pipeline(lines, names, exclusions, inclusions, chance):
    """The pipeline accepts any lines and any names in any order, and the trace has the same result."""
    result = transform(lines, names, exclusions=exclusions, inclusions=inclusions)
    chance.shuffle(names)
    report = trace(lines, names, exclusions=exclusions, inclusions=inclusions)
    assert report.lines == result
    assert {*report.origins, *(line.at for line in report.dropped), -1} == {*range(len(lines)), -1}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
@given(text=st.text(alphabet=st.characters(), max_size=40))
def test_any_text(name, text):
    """Any text, including lone surrogates and NUL, is transformed alone as in the pipeline, and does not change what it is given."""
    lines = [text, "\ud800" + text, text + "\0"]
    given = list(lines)
    assert TRANSFORMATIONS[name].apply(lines) == transform(given, [name])
    assert lines == given
