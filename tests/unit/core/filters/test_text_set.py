"""Texts in several tables behave as in one set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.filters.transformations import text_set
from sluice.core.filters.transformations.text_set import TextSet, are_distinct
from unit.core.filters.rules import run

TEXTS = st.lists(st.sampled_from([f"||{letter}.com^" for letter in "abcdefghijklmnop"]), max_size=8)


@pytest.fixture(autouse=True)
def _small_tables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(text_set, "_TABLE_TEXTS", 3)


@given(st.lists(TEXTS, max_size=8), TEXTS)
def test_as_one_set(runs: list[list[str]], asked: list[str]):
    """Whatever is added, the new texts come back once each, and the tables tell what one set would."""
    texts, expected = TextSet(), set[str]()
    for run_of_texts in runs:
        given_texts = list(run_of_texts)
        new = texts.add_all(given_texts)
        assert list(new) == list(dict.fromkeys(text for text in run_of_texts if text not in expected))
        assert (new is given_texts) == (len(new) == len(run_of_texts))
        expected |= set(run_of_texts)
    for text in asked[:4]:
        assert texts.add(text) == (text not in expected)
        expected.add(text)
    assert sorted(texts) == sorted(expected)
    assert texts & set(asked) == expected & set(asked)
    assert texts.isdisjoint(asked) == expected.isdisjoint(asked)


@given(TEXTS)
def test_distinct_texts(texts: list[str]):
    assert are_distinct(texts) == (len(set(texts)) == len(texts))


def test_transformations_across_tables():
    """Rules are repeated and covered also if the other one is in another table."""
    wide = [f"||{letter}.com^" for letter in "abcdefgh"]
    narrow = [f"||x.{letter}.com^" for letter in "abcdefgh"]
    assert run("Compress", *narrow, *wide, *wide) == wide
    assert run("Deduplicate", *wide, "||z.com^", *wide) == ["||z.com^", *wide]
    assert run("Deduplicate", "", *wide, "", *narrow) == ["", *wide, "", *narrow]
