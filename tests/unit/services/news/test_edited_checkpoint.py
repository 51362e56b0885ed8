"""A checkpoint that the operator has edited and put back, as the document describes."""

from typing import Any

import pytest

from sluice.core.news.checkpoint import Checkpoint, TryLaterEntry
from sluice.core.news.checkpoint_edits import apply_edit
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING, article_key
from unit.services.news.harness import NewsHarness, article

RESET = '{"currentArticleId":null,"currentArticle":null,"processedIds":[],"tryLater":[],"lastUpdate":null}'


async def fail_articles(*names: str, **options: Any) -> NewsHarness:
    """Return a service whose articles all wait in the try-later list, while their feed goes on to list them."""
    news = NewsHarness(retry_delay_s=10_000, max_attempts=9, **options)
    news.source.articles = [article(name) for name in names]
    for name in names:
        news.upstream.failures[f"scrape {name}"] = 99
    await news.run_minute(news.updater().run)
    for _ in range(3 * len(names)):
        await news.run_minute()
    assert sorted(waiting(news)) == sorted(names)
    return news


def waiting(news: NewsHarness) -> list[str]:
    return [entry["id"] for entry in news.checkpoint()["tryLater"]]


def remove(news: NewsHarness, *names: str) -> dict[str, Any]:
    """Return the checkpoint as the operator puts it back."""
    checkpoint: dict[str, Any] = news.checkpoint()
    return checkpoint | {"tryLater": [entry for entry in checkpoint["tryLater"] if entry["id"] not in names]}


def count_fetches(news: NewsHarness, name: str) -> int:
    return news.upstream.calls[f"scrape {name}"]


@pytest.mark.parametrize("stale_s", [0, 60])
@pytest.mark.parametrize("names", [("a",), ("a", "b", "c")])
async def test_removed_article_counts_as_processed(names: tuple[str, ...], stale_s: float):
    """It is not fetched again while its feed lists it, and is served as complete; the others wait on."""
    news = await fail_articles(*names, stale_s=stale_s)
    before = count_fetches(news, "a")
    await news.put(CHECKPOINT, remove(news, "a"))
    for _ in range(3):
        await news.run_minute()
        await news.run_minute(news.updater().run)
    assert count_fetches(news, "a") == before
    assert "a" in news.checkpoint()["processedIds"]
    assert sorted(waiting(news)) == sorted(set(names) - {"a"})
    assert "a" not in [entry["id"] for entry in news.read(PENDING)]
    stored = news.stored_article("a")
    assert (stored["needsSummary"], stored["summaryError"]) == (False, "removed_from_try_later")


async def test_removed_before_its_sentiment():
    """An article whose first stage failed is complete with empty values."""
    news = NewsHarness(retry_delay_s=10_000, max_attempts=9)
    news.upstream.failures["sentiment a"] = 99
    await news.put_pending("a")
    await news.run_minute()
    await news.put(CHECKPOINT, remove(news, "a"))
    await news.run_until_idle()
    stored = news.stored_article("a")
    assert (stored["sentiment"], stored["needsSentiment"], stored["needsSummary"]) == ("", False, False)
    assert news.upstream.calls == {"sentiment a": 1}


async def test_taken_over_once():
    """The run after the edit takes it over and writes it; the next idle one makes two reads."""
    news = await fail_articles("a")
    await news.put(CHECKPOINT, remove(news, "a"))
    await news.run_minute()
    before = len(news.kv.operations)
    assert await news.run_minute() == "idle"
    assert [name for name, _ in news.kv.operations[before:]] == ["get", "get"]


async def test_reset_begins_anew():
    """The documented reset removes no article: those that failed are tried again at once."""
    news = await fail_articles("a")
    before = count_fetches(news, "a")
    await news.put(CHECKPOINT, RESET)
    await news.run_minute()
    assert count_fetches(news, "a") == before + 1
    assert waiting(news) == ["a"]


async def test_failure_after_the_operator_had_read():
    """An article that failed between reading and putting back was not removed: it waits on."""
    news = await fail_articles("a")
    edited = remove(news, "a")
    news.source.articles = [article("b")]
    news.upstream.failures["scrape b"] = 99
    await news.run_minute(news.updater().run)
    for _ in range(3):
        await news.run_minute()
    assert waiting(news) == ["a", "b"]
    await news.put(CHECKPOINT, edited)
    await news.run_minute()
    assert (waiting(news), news.checkpoint()["processedIds"]) == (["b"], ["a"])


@pytest.mark.parametrize("stale_s", [0, 60])
async def test_crash_at_every_point(stale_s: float):
    """Wherever the run crashes that takes over an edit, the article stays removed."""
    for point in range(1, 14):
        for before in (True, False):
            news = await fail_articles("a", "b", stale_s=stale_s)
            fetches = count_fetches(news, "a")
            await news.put(CHECKPOINT, remove(news, "a"))
            news.steps.fail_at(point, before=before)
            for _ in range(6):
                await news.run_minute()
            assert count_fetches(news, "a") == fetches
            assert news.checkpoint()["processedIds"] == ["a"]
            assert waiting(news) == ["b"]
            assert news.stored_article("a")["needsSummary"] is False


def entry(name: str, failed_at_ms: int) -> TryLaterEntry:
    return TryLaterEntry(article(name), failed_at_ms, "")


def test_what_was_done_since_stays_done():
    """Articles that were processed after the operator had read are not repeated, wherever the edit has them."""
    edited = Checkpoint(current=article("c"), try_later=(entry("d", 5),), processed=("z",), updated_at_ms=10)
    last = Checkpoint(processed=("d", "c", "z"), try_later=(entry("e", 12),), updated_at_ms=20)
    edit = apply_edit(edited, last)
    assert edit.removed == ()
    assert edit.checkpoint.current is None
    assert edit.checkpoint.processed == ("d", "c", "z")
    assert [each.article.id for each in edit.checkpoint.try_later] == ["e"]


def test_current_article_goes_on_where_it_is():
    """The current article of an edit continues with what was done for it since."""
    further = article("c", needsSentiment=False)
    edit = apply_edit(Checkpoint(current=article("c"), updated_at_ms=1), Checkpoint(current=further, updated_at_ms=2))
    assert edit.checkpoint.current == further


async def test_edit_without_a_known_past():
    """Without a checkpoint that the processor announced, the edit counts as it is."""
    news = NewsHarness()
    await news.put(article_key("a"), article("a").as_json())
    await news.put(INDEX, ["a"])
    await news.put(CHECKPOINT, {"processedIds": ["a"], "tryLater": [], "lastUpdate": 5})
    await news.put_pending("a", "b")
    await news.run_until_idle()
    assert news.checkpoint()["processedIds"] == ["b", "a"]
