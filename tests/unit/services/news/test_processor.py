"""What one run of the processor does, and how many operations it takes."""

import pytest

from sluice.core.errors import NotFound, Refused
from sluice.core.news.article import Stage
from sluice.core.news.pending_list import MAX_WAIT_MS
from sluice.platform.storage.kv import KV
from sluice.services.news.process.answers import FixedAnalyst
from sluice.services.news.storage.keys import (
    CHECKPOINT,
    CORRUPT,
    INDEX,
    PENDING,
    PROCESSOR_WRITES,
    UPDATER_WRITES,
)
from sluice.services.news.storage.write_domain import OutsideWriteDomain, WriteDomain
from unit.services.news.harness import NewsHarness, article

RESET = '{"currentArticleId":null,"currentArticle":null,"processedIds":[],"tryLater":[],"lastUpdate":null}'


async def count_operations(news: NewsHarness) -> list[str]:
    """Return the KV operations of one run."""
    before = len(news.kv.operations)
    await news.run_minute()
    return [f"{name} {subject}" for name, subject in news.kv.operations[before:]]


async def test_new_article_takes_seven_operations():
    """Three reads and four writes, as documented."""
    news = NewsHarness()
    await news.put_pending("a")
    assert await count_operations(news) == [
        f"get {CHECKPOINT}",
        f"get {PENDING}",
        f"get {INDEX}",
        f"put {CHECKPOINT}",
        "put article:a",
        f"put {INDEX}",
        f"put {CHECKPOINT}",
    ]


async def test_continued_article_takes_five_operations():
    """The second and the third stage take two reads and three writes each."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_minute()
    for _ in range(2):
        assert await count_operations(news) == [
            f"get {CHECKPOINT}",
            f"get {INDEX}",
            f"put {CHECKPOINT}",
            "put article:a",
            f"put {CHECKPOINT}",
        ]
    assert news.stored_article("a")["aiSummary"] == "Summary of a."


async def test_article_at_its_last_attempt_takes_eight_operations():
    """Three reads and five writes: the article is written once more, with an empty summary."""
    news = NewsHarness(max_attempts=2)
    news.upstream.failures["scrape"] = 99
    await news.put_pending("a")
    await news.run_minute()
    await news.run_minute()
    assert news.checkpoint()["tryLater"][0]["reason"] == "fetch_failed: not now (attempt 1/2)"
    assert await count_operations(news) == [
        f"get {CHECKPOINT}",
        f"get {PENDING}",
        f"get {INDEX}",
        f"put {CHECKPOINT}",
        "put article:a",
        f"put {INDEX}",
        "put article:a",
        f"put {CHECKPOINT}",
    ]
    stored = news.stored_article("a")
    assert (stored["aiSummary"], stored["needsSummary"]) == ("", False)
    assert stored["summaryError"] == "max_retries_reached: fetch_failed: not now (attempt 2/2)"
    assert news.checkpoint()["processedIds"] == ["a"]


async def test_idle_run_writes_nothing():
    """Without work a run makes two reads."""
    news = NewsHarness()
    assert await count_operations(news) == [f"get {CHECKPOINT}", f"get {PENDING}"]


async def test_stages_in_order():
    """Each run performs one stage: sentiment, then the page, then the summary."""
    news = NewsHarness()
    await news.put_pending("a")
    for expected in ({"sentiment": "positive"}, {"summaryError": "scraping_complete"}, {"aiSummary": "Summary of a."}):
        await news.run_minute()
        assert expected.items() <= news.stored_article("a").items()
    stored = news.stored_article("a")
    assert (stored["sentimentBy"], stored["summaryBy"]) == ("scripted", "scripted")
    assert stored["sentimentAt"] < stored["summaryAt"] == stored["processedAt"]
    assert news.log.messages() == [
        "Processing article: a",
        "Article advanced",
        "Processing article: a",
        "Article advanced",
        "Processing article: a",
        "✓ Article fully processed",
    ]


async def test_five_at_a_time():
    """With MAX_ARTICLES_PER_RUN 5 a run performs five stages, and the next run the rest."""
    news = NewsHarness(max_articles_per_run=5)
    await news.put_pending("a", "b")
    await news.run_minute()
    assert news.checkpoint()["processedIds"] == ["a"]
    assert news.checkpoint()["currentArticleId"] == "b"
    await news.run_minute()
    assert news.checkpoint()["processedIds"] == ["b", "a"]
    assert sum(news.upstream.calls.values()) == 6


async def test_pending_before_try_later():
    """A failed article is retried when nothing is pending, and its last attempt may still succeed."""
    news = NewsHarness(max_attempts=2)
    news.upstream.failures["scrape a"] = 1
    await news.put_pending("a", "b")
    await news.run_until_idle()
    order = [subject for name, subject in news.steps.operations if name == "scrape"]
    assert order == ["a", "b", "a"]
    assert "Moving article to try-later list" in news.log.messages()
    assert news.stored_article("a")["aiSummary"] == "Summary of a."


async def test_retries_are_spaced():
    """An article waits longer after each failure, so that a short outage does not use up its attempts."""
    news = NewsHarness(retry_delay_s=60, max_attempts=5)
    news.upstream.failures["scrape"] = 3
    await news.put_pending("a")
    outcomes = [await news.run_minute() for _ in range(14)]
    at = [minute for minute, outcome in enumerate(outcomes) if outcome == "ok"]
    # Sentiment, the page at minute 1, an immediate retry, retries after 1 and 3 more minutes, the summary.
    assert at == [0, 1, 2, 3, 6, 7]


async def test_outage_is_not_neutral():
    """During an outage the sentiment stays open; after the last attempt the fallback answers under its own name."""
    news = NewsHarness(max_attempts=2)
    embedded = NewsHarness().upstream
    embedded.name = "embedded"
    news.fallback = FixedAnalyst(embedded)
    news.upstream.failures["sentiment"] = 99
    await news.put_pending("a")
    await news.run_minute()
    assert "sentiment" not in news.stored_article("a")
    assert news.checkpoint()["tryLater"][0]["reason"] == "ai_error: not now (attempt 1/2)"
    await news.run_until_idle()
    assert (news.stored_article("a")["sentiment"], news.stored_article("a")["sentimentBy"]) == ("positive", "embedded")
    assert news.stored_article("a")["summaryBy"] == "scripted"


async def test_permanent_failure_is_not_retried():
    """A failure that a retry cannot mend completes the article at once, with the reason."""
    news = NewsHarness()
    news.upstream.failures["scrape"] = Refused("not a page")
    await news.put_pending("a")
    await news.run_until_idle()
    assert news.upstream.calls["scrape a"] == 1
    assert news.stored_article("a")["summaryError"] == "fetch_failed: not a page (attempt 1/5)"


async def test_article_without_link():
    """An article without a link is completed with that reason."""
    news = NewsHarness()
    entry = {"id": "a", "article": dict(article("a", link="").data), "addedAt": 1}
    await news.put(PENDING, [entry])
    await news.run_until_idle()
    assert news.stored_article("a")["summaryError"] == "no_link"


async def test_provider_sentiment_is_kept():
    """An article with a sentiment from its provider starts with its page."""
    news = NewsHarness()
    provided = article("a", needsSentiment=False, sentiment="negative")
    await news.put(PENDING, [{"id": "a", "article": provided.as_json(), "addedAt": 1}])
    await news.run_until_idle()
    assert news.upstream.calls["sentiment a"] == 0
    assert news.stored_article("a")["sentiment"] == "negative"


async def test_old_articles_leave_the_index():
    """The index keeps the latest articles; with DELETE_OLD_ARTICLES the dropped ones are deleted, one deletion each."""
    for delete in (False, True):
        news = NewsHarness(max_stored_articles=2, max_articles_per_run=3, delete_old_articles=delete)
        await news.put_pending("a", "b", "c")
        await news.run_until_idle()
        assert news.index() == ["c", "b"]
        assert (news.stored_article("a") is None) is delete
        assert [subject for name, subject in news.kv.operations if name == "delete"] == ["article:a"] * delete


async def test_processed_ids_are_bounded_and_remembered():
    """An article that the index has dropped is still known, so that it is not processed again; the oldest ids go."""
    news = NewsHarness(max_stored_articles=1, max_pending_list_size=2, max_articles_per_run=3)
    await news.put_pending("a", "b", "c", "d")
    for _ in range(4):
        await news.run_minute()
    assert news.checkpoint()["processedIds"] == ["d", "c", "b"]


async def test_starving_article_goes_first():
    """The newest article comes first, unless one has waited too long."""
    news = NewsHarness()
    now_ms = int(news.clock.now() * 1000)
    ages = {"new": now_ms, "old": now_ms - 1, "oldest": now_ms - MAX_WAIT_MS - 10_000}
    await news.put(PENDING, [{"id": n, "article": dict(article(n).data), "addedAt": at} for n, at in ages.items()])
    await news.run_until_idle()
    assert [n for what, n in news.steps.operations if what == "summary"] == ["oldest", "new", "old"]


@pytest.mark.parametrize("broken", ["{", "[]", '{"processedIds": 5}', '{"tryLater": [1]}', '{"currentArticleId": "a"}'])
async def test_corrupt_checkpoint(broken: str):
    """A corrupt checkpoint is kept, an alert is logged, and a new one is derived from the stored articles."""
    news = NewsHarness()
    await news.put_pending("a", "b")
    for _ in range(4):
        await news.run_minute()
    assert news.checkpoint()["currentArticleId"] == "b"
    await news.put(CHECKPOINT, broken)
    await news.run_until_idle()
    kept = news.kv._history[CORRUPT][-1][1]
    assert kept is not None
    assert kept.value.decode() == broken
    assert any("alert" in fields for name, fields in news.log.events if name == "checkpoint.corrupt")
    assert sorted(news.checkpoint()["processedIds"]) == ["a", "b"]
    assert {what: n for what, n in news.upstream.calls.items() if n > 1} == {}


async def test_corrupt_checkpoint_while_idle():
    """It is mended by the next run although there is nothing to do, and one copy is kept, however often it happens."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_until_idle()
    for broken in ("{", "[]"):
        await news.put(CHECKPOINT, broken)
        await news.run_minute()
        assert news.checkpoint()["processedIds"] == ["a"]
        before = len(news.kv.operations)
        await news.run_minute()
        assert [name for name, _ in news.kv.operations[before:]] == ["get", "get"]
    assert [key for key in news.kv._history if key.startswith(CORRUPT)] == [CORRUPT]


async def test_reset_checkpoint():
    """The documented reset works at once and repeats no summary: the stored one is found first."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_until_idle()
    await news.put(CHECKPOINT, RESET)
    assert await news.run_minute() == "ok"
    assert news.upstream.calls["summary a"] == 1
    assert news.checkpoint()["processedIds"] == ["a"]


async def test_deleted_keys():
    """After the documented deletion of all keys the next runs begin anew, at once."""
    news = NewsHarness()
    news.source.articles = [article("a")]
    await news.run_minute(news.updater().run)
    await news.run_until_idle()
    for _ in range(2):
        for key in (PENDING, CHECKPOINT, INDEX):
            await news.delete(key)
        assert await news.run_minute(news.updater().run) == "ok"
        assert [entry["id"] for entry in news.read(PENDING)] == ["a"]
        assert await news.run_minute() == "ok"


async def test_edited_checkpoint():
    """A checkpoint that a person has edited and put back counts at once, although the processor has written since."""
    news = NewsHarness(retry_delay_s=10_000, max_attempts=9)
    news.upstream.failures["scrape a"] = 99
    await news.put_pending("a")
    await news.run_minute()
    await news.run_minute()
    edited = news.checkpoint() | {"tryLater": [], "processedIds": ["a"]}
    await news.put_pending("a", "b")
    await news.run_minute()
    await news.put(CHECKPOINT, edited)
    await news.run_until_idle()
    assert news.checkpoint()["processedIds"] == ["b", "a"]
    assert news.checkpoint()["tryLater"] == []


async def test_idle_run_says_why():
    """A run that did nothing names the reason."""
    news = NewsHarness(retry_delay_s=10_000, max_attempts=9)
    assert (await news.processor().run()).as_json()["reason"] == "no article is pending"
    news.upstream.failures["scrape a"] = 99
    await news.put_pending("a")
    for _ in range(4):
        await news.run_minute()
    report = await news.processor().run()
    assert report.as_json()["reason"] == "no article is pending; 1 wait for their next attempt"


async def test_write_domains():
    """A Worker cannot write a key of another Worker."""
    news = NewsHarness()
    for writes, foreign in ((UPDATER_WRITES, CHECKPOINT), (PROCESSOR_WRITES, PENDING), ((), INDEX)):
        store = WriteDomain(KV(news.kv, news.clock), writes)
        with pytest.raises(OutsideWriteDomain, match="belongs to another Worker"):
            await store.put_json(foreign, [])
        with pytest.raises(OutsideWriteDomain):
            await store.put_text(f"{foreign}:x", "")
        with pytest.raises(OutsideWriteDomain):
            await store.delete(foreign)
    assert news.kv.operations == []


async def test_all_keys_expire():
    """Every key is written with ID_INDEX_TTL."""
    news = NewsHarness(ttl_s=1000)
    await news.put_pending("a")
    await news.run_minute()
    for key in (CHECKPOINT, INDEX, "article:a"):
        entry = news.kv._history[key][-1][1]
        assert entry is not None
        assert entry.expires_at == pytest.approx(news.kv._history[key][-1][0] + 1000)


async def test_process_one():
    """One article goes through all its stages at once, and the current article stays current."""
    news = NewsHarness()
    await news.put_pending("a", "b")
    await news.run_minute()
    news.clock.advance(60)
    done = await news.processor().process_one("b", force=False)
    assert done.text("aiSummary") == "Summary of b."
    checkpoint = news.checkpoint()
    assert (checkpoint["currentArticleId"], checkpoint["processedIds"], checkpoint["tryLater"]) == ("a", ["b"], [])
    await news.processor().process_one("b", force=False)
    assert news.upstream.calls["summary b"] == 1
    await news.processor().process_one("b", force=True)
    assert news.upstream.calls["summary b"] == 2
    await news.run_until_idle()
    assert sorted(news.checkpoint()["processedIds"]) == ["a", "b"]


async def test_process_one_failure():
    """After a failure the article is retried later."""
    news = NewsHarness()
    await news.put_pending("a")
    news.upstream.failures["scrape a"] = 1
    done = await news.processor().process_one("a", force=False)
    assert done.stage is Stage.CONTENT
    [waiting] = news.checkpoint()["tryLater"]
    assert waiting["reason"] == "fetch_failed: not now (attempt 1/5)"
    await news.run_until_idle()
    assert news.stored_article("a")["aiSummary"] == "Summary of a."


async def test_process_one_unknown():
    """An unknown id raises NotFound."""
    with pytest.raises(NotFound, match="'x' is stored or pending"):
        await NewsHarness().processor().process_one("x", force=False)


async def test_defect_does_not_loop():
    """An unexpected error fails the run, counts as an attempt, and the article is given up in the end."""
    news = NewsHarness(max_attempts=2)

    def defect() -> None:
        raise ZeroDivisionError

    news.upstream.failures["scrape a"] = defect
    await news.put_pending("a")
    await news.run_minute()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            await news.run_minute()
        news.clock.advance(60)
    await news.run_until_idle()
    assert news.stored_article("a")["summaryError"] == "max_retries_reached: fetch_failed"
