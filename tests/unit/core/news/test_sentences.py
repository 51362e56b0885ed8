"""Splitting text into sentences, and cutting it at the end of one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.news.sentences import cut_at_sentence, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Powell of the U.S. Fed spoke. He left.", ["Mr. Powell of the U.S. Fed spoke.", "He left."]),
        ("J. Powell said 3.5% is enough. Yes.", ["J. Powell said 3.5% is enough.", "Yes."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("It is No. 5. No. That is all.", ["It is No. 5.", "No.", "That is all."]),
        ("Line one\nLine two", ["Line one", "Line two"]),
        ("比特币上涨。市场平静。", ["比特币上涨。", "市场平静。"]),
        ("It fell to $9. $8 is next.", ["It fell to $9.", "$8 is next."]),
        (
            "Der Handel startet am 1. Juli in Berlin. Er endet nie.",
            ["Der Handel startet am 1. Juli in Berlin.", "Er endet nie."],
        ),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]):
    """A full stop after an abbreviation, an initial or inside a number does not end a sentence."""
    assert split_sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One. Two. Three.", 100, "One. Two. Three."),
        ("One. Two. Three.", 9, "One. Two."),
        ("One. Two. Three.", 12, "One. Two."),
        ("No end in sight here at all", 12, "No end in"),
        ("Unbreakable", 4, "Unbr"),
    ],
)
def test_cut(text: str, limit: int, expected: str):
    """Text is cut after a sentence, otherwise after a word, otherwise anywhere."""
    assert cut_at_sentence(text, limit) == expected


@given(st.text(), st.integers(1, 50))
def test_cut_is_a_beginning(text: str, limit: int):
    """The result is always a beginning of the text within the limit."""
    cut = cut_at_sentence(text, limit)
    assert len(cut) <= limit
    assert text.startswith(cut)
