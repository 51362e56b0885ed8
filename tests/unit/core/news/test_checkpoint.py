"""The checkpoint: its stored shape, the transitions between the stages, and the retry rules."""

from typing import Any

import pytest

from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint import Checkpoint, CorruptCheckpoint, TryLaterEntry
from sluice.core.news.checkpoint_transitions import TRANSITIONS, IllegalTransition, Outcome, Place, place_after
from sluice.core.news.retry import AttemptBy, is_retry_due, plan_attempt

RESET: dict[str, Any] = {
    "currentArticleId": None,
    "currentArticle": None,
    "processedIds": [],
    "tryLater": [],
    "lastUpdate": None,
}


def make_article(name: str, **members: object) -> Article:
    return Article({"id": name, "needsSentiment": False, "needsSummary": True, **members})


def test_transitions():
    """Every stage has a transition for every outcome; nothing else is allowed."""
    stages = [stage for stage in Stage if stage is not Stage.COMPLETE]
    assert TRANSITIONS.keys() == {(stage, outcome) for stage in stages for outcome in Outcome}
    assert place_after(Stage.SENTIMENT, Outcome.DONE, Stage.COMPLETE) is Place.PROCESSED
    assert place_after(Stage.SENTIMENT, Outcome.DONE, Stage.SUMMARY) is Place.CURRENT
    with pytest.raises(IllegalTransition):
        place_after(Stage.COMPLETE, Outcome.DONE, Stage.COMPLETE)
    with pytest.raises(IllegalTransition):
        place_after(Stage.CONTENT, Outcome.DONE, Stage.SENTIMENT)


def test_checkpoint_round_trip():
    """The stored shape is the documented one."""
    stored = dict(RESET)
    stored |= {"currentArticleId": "c", "currentArticle": {"id": "c", "needsSentiment": True, "needsSummary": True}}
    stored |= {"processedIds": ["x", "y"], "lastUpdate": 1704067200000}
    failed = {"id": "f", "needsSentiment": False, "needsSummary": True, "sentiment": "neutral"}
    stored["tryLater"] = [{"id": "f", "article": failed, "failedAt": 1704067200000, "reason": "max_retries_reached"}]
    again = Checkpoint.from_json(stored).as_json()
    assert again == stored
    with pytest.raises(CorruptCheckpoint, match="lastUpdate"):
        Checkpoint.from_json(stored | {"lastUpdate": "yesterday"})


def test_processed_ids_are_trimmed():
    """Ids outside the index are limited to the newest."""
    checkpoint = Checkpoint(processed=("a", "b", "c"))
    assert checkpoint.trim_processed({"c"}, 0).processed == ("c",)
    assert checkpoint.trim_processed({"c"}, 1).processed == ("a", "c")


@pytest.mark.parametrize("place", Place)
def test_an_article_has_one_place(place: Place):
    """Moving an article removes it from its old place."""
    article = make_article("a")
    for old in Place:
        moved = Checkpoint().move(article, old, now_ms=1).move(article, place, now_ms=2, reason="why")
        assert moved.known_ids == {"a"}
        places = {Place.CURRENT: moved.current, Place.TRY_LATER: moved.try_later, Place.PROCESSED: moved.processed}
        assert [each for each, content in places.items() if content] == [place]


@pytest.mark.parametrize(
    ("attempt", "has_fallback", "expected"),
    [
        (1, False, AttemptBy.PRIMARY),
        (3, True, AttemptBy.PRIMARY),
        (4, True, AttemptBy.FALLBACK),
        (4, False, AttemptBy.NONE),
        (5, True, AttemptBy.NONE),
    ],
)
def test_attempts(attempt: int, has_fallback: bool, expected: AttemptBy):
    """After three attempts the fallback makes one more, if there is one."""
    assert plan_attempt(attempt, 3, has_fallback=has_fallback) is expected


@pytest.mark.parametrize(("failures", "wait_s"), [(0, 0), (1, 0), (2, 60), (3, 180), (4, 420), (99, 60 * 1023)])
def test_retry_delays(failures: int, wait_s: int):
    """The first retry is immediate; each further one waits about twice as long, up to a limit."""
    entry = TryLaterEntry(make_article("a", contentTimeout=failures), 1000, "why")
    assert is_retry_due(entry, retry_delay_s=60, now_ms=1000 + wait_s * 1000)
    assert wait_s == 0 or not is_retry_due(entry, retry_delay_s=60, now_ms=1000 + wait_s * 1000 - 1)
