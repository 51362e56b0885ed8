"""The sentiment of a headline: clauses, reversals, whose matter it is, and how sure the judgement is."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.news.language import is_english
from sluice.core.news.sentiment import judge_headline
from unit.core.news import hard_headlines, headlines


def test_headlines():
    """At least 90 of 100 plain labels, and most of each sentiment."""
    labelled = headlines.labelled_headlines()
    assert Counter(label for _, label in labelled) == {"positive": 34, "negative": 33, "neutral": 33}
    right = Counter(label for title, label in labelled if judge_headline(title).sentiment == label)
    assert right.total() >= 90
    assert all(right[label] >= 28 for label in ("positive", "negative", "neutral"))


def test_hard_headlines():
    """At least nine of ten hard labels, and of confident judgements nearly all."""
    judged = [(judge_headline(title), label) for title, label in hard_headlines.labelled_headlines()]
    right = [judgement.sentiment == label for judgement, label in judged]
    sure = [judgement.sentiment == label for judgement, label in judged if judgement.confidence >= 0.8]
    assert sum(right) >= 0.9 * len(right)
    assert sum(sure) >= 0.95 * len(sure)
    assert len(sure) >= 40


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        # The main clause decides, and the last state in a sequence.
        ("Despite heavy outflows, Bitcoin climbs 4%", "positive"),
        ("Bitcoin climbs 4% despite heavy outflows", "positive"),
        ("Bitcoin climbs early, but ends the day lower", "negative"),
        ("Bitcoin slumps even as inflows hit record", "negative"),
        ("Stocks rally while Bitcoin slides", "negative"),
        # The end of a bad thing is good, and the other way round.
        ("Court tosses lawsuit against Bitcoin exchange", "positive"),
        ("Bitcoin ends its longest losing streak", "positive"),
        ("Bitcoin ends its longest winning streak", "negative"),
        ("Country lifts ban on Bitcoin", "positive"),
        ("Governor vetoes Bitcoin reserve bill", "negative"),
        ("Fears of a Bitcoin ban ease", "positive"),
        ("Momentum for bitcoin stalls as hopes fade", "negative"),
        ("Bitcoin rally fades", "negative"),
        ("Bitcoin outflows dry up", "positive"),
        # Negation.
        ("Bitcoin will not crash, analyst says", "positive"),
        ("Bitcoin fails to reclaim $100,000", "negative"),
        ("Bitcoin neither rises nor falls", "neutral"),
        # Whose matter it is.
        ("Short sellers lose $300 million as Bitcoin jumps", "positive"),
        ("Ether crashes 14%", "neutral"),
        ("Police arrest hacker behind exchange theft", "positive"),
        ("Hackers steal 900 BTC", "negative"),
        ("Exchange balances of Bitcoin sink to a four-year low", "positive"),
        ("Inflation cools, lifting bitcoin", "positive"),
        # No event.
        ("Will bitcoin crash?", "neutral"),
        ("Why is Bitcoin down?", "negative"),
        ("How to profit from a Bitcoin crash", "neutral"),
        ("Bitcoin rises 0.1%", "neutral"),
        ("BTC -3.2% ETH -4.4%", "negative"),
        ("Price target and live updates", "neutral"),
        ("", "neutral"),
    ],
)
def test_rules(title: str, expected: str):
    """Each rule of the labels, in a sentence of its own."""
    assert judge_headline(title).sentiment == expected


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


@pytest.mark.parametrize(
    ("title", "sentiment"),
    [
        # The parts of a phrase with other words between them.
        ("Broker cuts its twelve-month Bitcoin target to $85,000", "negative"),
        ("Broker raises its twelve-month Bitcoin target to $185,000", "positive"),
        ("Exchange makes all of its customers whole", "positive"),
        ("Agency transfers 9,400 seized BTC to Kraken", "negative"),
        ("Judge allows lawsuit against Kestrel to proceed", "negative"),
        ("Endowment discloses $90 million Bitcoin stake", "positive"),
        ("Bitcoin unable to hold gains", "negative"),
        # The culprit, not the crime.
        ("Woman who laundered 120,000 BTC gets eleven years in prison", "positive"),
        ("Police dismantle gang behind wallet thefts", "positive"),
        # What turns out to be wrong is undone.
        ("Worries about a forced sale prove overblown", "positive"),
        ("Ministry backs down on mining ban", "positive"),
        # The second verb is not undone by the first.
        ("Agency delays ruling and sues exchange", "negative"),
        # A phrase in another form of its verb.
        ("Bitcoin lost steam over the weekend", "negative"),
        ("Funds keep pouring money into Bitcoin", "positive"),
        # What is hoped for is no fact, and nothing is undone twice.
        ("Hopes for a Bitcoin reserve fade in Lima", "negative"),
        ("Governor dashes hopes of March cut", "negative"),
        # Sceptics who only speak, and the end of a move.
        ("Peter Schiff says Bitcoin is headed to zero", "negative"),
        ("Bitcoin's slide was short-lived", "positive"),
        ("Not even a strike could stop Bitcoin", "positive"),
        ("Bitcoin breaks six-day losing streak", "positive"),
        ("Halden suspends euro withdrawals", "negative"),
        # Words that look like others.
        ("Bitcoin Core v31 raises OP_RETURN limit", "neutral"),
        ("Bitcoin halving in charts", "neutral"),
        ("Inflation data due on Friday", "neutral"),
        # Other languages.
        ("Die Börse Halden stoppt am Montag alle Auszahlungen an ihre Kunden", "unknown"),
        ("Bitcoin verliert weiter an Wert", "unknown"),
    ],
)
def test_classes_of_headlines(title: str, sentiment: str):
    """Phrases with gaps, culprits, what is undone, and languages with few signs."""
    assert judge_headline(title).sentiment == sentiment
