"""The sentiment of a headline: clauses, reversals, whose matter it is, and how sure the judgement is."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.news.language import is_english
from sluice.core.news.sentiment import judge_headline
from unit.core.news.labelled_sets import load_headlines, load_set


def test_headlines():
    """At least 90 of 100 plain labels, and most of each sentiment."""
    labelled = load_headlines("plain")
    assert Counter(label for _, label in labelled) == {"positive": 34, "negative": 33, "neutral": 33}
    right = Counter(label for title, label in labelled if judge_headline(title).sentiment == label)
    assert right.total() >= 90
    assert all(right[label] >= 28 for label in ("positive", "negative", "neutral"))


def test_hard_headlines():
    """At least nine of ten hard labels, and of confident judgements nearly all."""
    judged = [(judge_headline(title), label) for title, label in load_headlines("hard")]
    right = [judgement.sentiment == label for judgement, label in judged]
    sure = [judgement.sentiment == label for judgement, label in judged if judgement.confidence >= 0.8]
    assert sum(right) >= 0.9 * len(right)
    assert sum(sure) >= 0.95 * len(sure)
    assert len(sure) >= 40


@pytest.mark.parametrize("case", load_set("dev", "rules")["headlines"], ids=lambda case: case["title"])
def test_rules(case: dict[str, str]):
    """Each rule of the labels, in a sentence of its own: also phrases with gaps, culprits, and languages with few signs."""
    assert judge_headline(case["title"]).sentiment == case["label"]


def test_score_and_confidence():
    """The score has the sign of the sentiment, and a clear headline is surer than a mixed one."""
    clear = judge_headline("Bitcoin plunges to record low after exchange hack")
    mixed = judge_headline("Bitcoin gains as miners sell and lawsuits mount")
    assert clear.score < 0 < clear.confidence <= 1
    assert clear.confidence > mixed.confidence


def test_description_decides_when_the_title_says_nothing():
    """A title without direction takes that of its description."""
    assert judge_headline("Kestrel Exchange update").sentiment == "neutral"
    assert judge_headline("Kestrel Exchange update", "Hackers stole $40 million in Bitcoin.").sentiment == "negative"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Bitcoin in São Paulo: café owner takes BTC", True),
        ("Deutsche Börse opens Bitcoin desk for the first time", True),
        ("$104,210", True),
        ("El Salvador buys 19 bitcoin", True),
        ("Halden suspends euro withdrawals", True),
        ("El Salvador compra 19 bitcoin", False),
        ("El Bitcoin Cae Un 5%", False),
        ("Bitcoin steigt auf neues Rekordhoch", False),
        ("Bitcoin fällt unter 90.000 Dollar", False),
        ("Bitcoin repasse sous les 90 000 dollars", False),
        ("比特币", False),
    ],
)
def test_language(title: str, expected: bool):
    """English with foreign names is English; market words do not make a foreign title English."""
    assert is_english(title) is expected


@given(st.text(max_size=200), st.text(max_size=100))
def test_any_text(title: str, description: str):
    """Any text has a judgement."""
    judgement = judge_headline(title, description)
    assert judgement.sentiment in {"positive", "negative", "neutral", "unknown"}
    assert -1 <= judgement.score <= 1
    assert 0 <= judgement.confidence <= 1
