"""What one run of the processor does, and what it costs."""

import json

import pytest

from sluice.core.errors import NotFound, Refused
from sluice.core.news.article import Stage
from sluice.core.news.checkpoint import MOVES, Checkpoint, Corrupt, IllegalMove, Outcome, Place, place_after
from sluice.core.news.pending_list import MAX_WAIT_MS
from sluice.services.news.storage.keys import (
    CHECKPOINT,
    CORRUPT_PREFIX,
    INDEX,
    PENDING,
    PROCESSOR_WRITES,
    UPDATER_WRITES,
)
from sluice.services.news.storage.write_domain import OutsideDomain
from unit.services.news.world import World, article

RESET = '{"currentArticleId":null,"currentArticle":null,"processedIds":[],"tryLater":[],"lastUpdate":null}'


async def counted(world: World) -> list[str]:
    """The KV operations of one run."""
    before = len(world.kv.operations)
    await world.minute()
    return [f"{name} {subject}" for name, subject in world.kv.operations[before:]]


async def test_new_article_takes_seven_operations():
    """Three reads and four writes, as documented."""
    world = World()
    await world.pending("a")
    assert await counted(world) == [
        f"get {CHECKPOINT}",
        f"get {PENDING}",
        f"get {INDEX}",
        f"put {CHECKPOINT}",
        "put article:a",
        f"put {INDEX}",
        f"put {CHECKPOINT}",
    ]


async def test_continued_article_takes_five_operations():
    """Two reads and three writes, for the second and the third stage."""
    world = World()
    await world.pending("a")
    await world.minute()
    for _ in range(2):
        assert await counted(world) == [
            f"get {CHECKPOINT}",
            f"get {INDEX}",
            f"put {CHECKPOINT}",
            "put article:a",
            f"put {CHECKPOINT}",
        ]
    assert world.stored("a")["aiSummary"] == "Summary of a."


async def test_article_at_its_last_attempt_takes_eight_operations():
    """Three reads and five writes: the article is written once more, with empty values."""
    world = World(max_attempts=2)
    world.outside.failures["scrape"] = 99
    await world.pending("a")
    await world.minute()
    await world.minute()
    assert world.checkpoint()["tryLater"][0]["reason"] == "fetch_failed: not now (attempt 1/2)"
    assert await counted(world) == [
        f"get {CHECKPOINT}",
        f"get {PENDING}",
        f"get {INDEX}",
        f"put {CHECKPOINT}",
        "put article:a",
        f"put {INDEX}",
        "put article:a",
        f"put {CHECKPOINT}",
    ]
    stored = world.stored("a")
    assert (stored["aiSummary"], stored["needsSummary"]) == ("", False)
    assert stored["summaryError"] == "max_retries_reached: fetch_failed: not now (attempt 2/2)"
    assert world.checkpoint()["processedIds"] == ["a"]


async def test_idle_run_writes_nothing():
    """Without work there are two reads."""
    world = World()
    assert await counted(world) == [f"get {CHECKPOINT}", f"get {PENDING}"]


async def test_stages_in_order():
    """One stage in one run: sentiment, then the page, then the summary; three runs in all."""
    world = World()
    await world.pending("a")
    for expected in ({"sentiment": "positive"}, {"summaryError": "scraping_complete"}, {"aiSummary": "Summary of a."}):
        await world.minute()
        assert expected.items() <= world.stored("a").items()
    stored = world.stored("a")
    assert (stored["sentimentBy"], stored["summaryBy"]) == ("scripted", "scripted")
    assert stored["sentimentAt"] < stored["summaryAt"] == stored["processedAt"]
    assert world.log.messages() == [
        "Processing article: a",
        "Article advanced",
        "Processing article: a",
        "Article advanced",
        "Processing article: a",
        "✓ Article fully processed",
    ]


async def test_five_at_a_time():
    """MAX_ARTICLES_PER_RUN 5 does five stages in a run, and what is left in the next."""
    world = World(max_articles_per_run=5)
    await world.pending("a", "b")
    await world.minute()
    assert world.checkpoint()["processedIds"] == ["a"]
    assert world.checkpoint()["currentArticleId"] == "b"
    await world.minute()
    assert world.checkpoint()["processedIds"] == ["b", "a"]
    assert sum(world.outside.asked.values()) == 6


async def test_pending_before_try_later():
    """What failed waits until nothing is pending, then is tried again, and success at the last attempt is success."""
    world = World(max_attempts=2)
    world.outside.failures["scrape a"] = 1
    await world.pending("a", "b")
    await world.until_idle()
    order = [subject for name, subject in world.steps.operations if name == "scrape"]
    assert order == ["a", "b", "a"]
    assert "Moving article to try-later list" in world.log.messages()
    assert world.stored("a")["aiSummary"] == "Summary of a."


async def test_retries_are_spaced():
    """An article that fails again waits longer each time, so that a short outage does not use up its attempts."""
    world = World(retry_delay_s=60, max_attempts=5)
    world.outside.failures["scrape"] = 3
    await world.pending("a")
    outcomes = [await world.minute() for _ in range(14)]
    at = [minute for minute, outcome in enumerate(outcomes) if outcome == "ok"]
    # Sentiment, then the page at minute 1, at once again, then after 1 and 3 minutes more; then the summary.
    assert at == [0, 1, 2, 3, 6, 7]


async def test_outage_is_no_opinion():
    """While the analyst is down the sentiment stays open; when it is down for good, the reserve speaks in its own name."""
    world = World(max_attempts=2)
    world.reserve = World().outside
    world.reserve.name = "embedded"
    world.outside.failures["sentiment"] = 99
    await world.pending("a")
    await world.minute()
    assert "sentiment" not in world.stored("a")
    assert world.checkpoint()["tryLater"][0]["reason"] == "ai_error: not now (attempt 1/2)"
    await world.until_idle()
    assert (world.stored("a")["sentiment"], world.stored("a")["sentimentBy"]) == ("positive", "embedded")
    assert world.stored("a")["summaryBy"] == "scripted"


async def test_hopeless_page_is_not_tried_again():
    """A failure that no second attempt can mend completes the article at once, with the reason."""
    world = World()
    world.outside.failures["scrape"] = Refused("not a page")
    await world.pending("a")
    await world.until_idle()
    assert world.outside.asked["scrape a"] == 1
    assert world.stored("a")["summaryError"] == "fetch_failed: not a page (attempt 1/5)"


async def test_article_without_link():
    """There is nothing to fetch, and that is said."""
    world = World()
    entry = {"id": "a", "article": dict(article("a", link="").data), "addedAt": 1}
    await world.put(PENDING, [entry])
    await world.until_idle()
    assert world.stored("a")["summaryError"] == "no_link"


async def test_provider_sentiment_is_kept():
    """An article that came with a sentiment begins with its page."""
    world = World()
    given = article("a", needsSentiment=False, sentiment="negative")
    await world.put(PENDING, [{"id": "a", "article": dict(given.data), "addedAt": 1}])
    await world.until_idle()
    assert world.outside.asked["sentiment a"] == 0
    assert world.stored("a")["sentiment"] == "negative"


async def test_old_articles_leave_the_index():
    """The index holds the latest only; with DELETE_OLD_ARTICLES the articles go too, one deletion each."""
    for delete in (False, True):
        world = World(max_stored_articles=2, max_articles_per_run=3, delete_old_articles=delete)
        await world.pending("a", "b", "c")
        await world.until_idle()
        assert world.index() == ["c", "b"]
        assert (world.stored("a") is None) is delete
        assert [subject for name, subject in world.kv.operations if name == "delete"] == ["article:a"] * delete


async def test_processed_ids_are_bounded_and_remembered():
    """An article that the index has dropped is still known, so a list that still holds it is no news; old ones go."""
    world = World(max_stored_articles=1, max_pending_list_size=2, max_articles_per_run=3)
    await world.pending("a", "b", "c", "d")
    for _ in range(4):
        await world.minute()
    assert world.checkpoint()["processedIds"] == ["d", "c", "b"]
    assert Checkpoint(processed=("a", "b", "c")).trimmed({"c"}, 0).processed == ("c",)


async def test_starving_article_goes_first():
    """Newest first, until one has waited too long."""
    world = World()
    now_ms = int(world.clock.now() * 1000)
    ages = {"new": now_ms, "old": now_ms - 1, "oldest": now_ms - MAX_WAIT_MS - 10_000}
    await world.put(PENDING, [{"id": n, "article": dict(article(n).data), "addedAt": at} for n, at in ages.items()])
    await world.until_idle()
    assert [n for what, n in world.steps.operations if what == "summary"] == ["oldest", "new", "old"]


@pytest.mark.parametrize("broken", ["{", "[]", '{"processedIds": 5}', '{"tryLater": [1]}', '{"currentArticleId": "a"}'])
async def test_corrupt_checkpoint(broken: str):
    """It is put aside as it was, an alert is logged, and what was done is found out from the articles themselves."""
    world = World()
    await world.pending("a", "b")
    for _ in range(4):
        await world.minute()
    assert world.checkpoint()["currentArticleId"] == "b"
    await world.put(CHECKPOINT, broken)
    world.clock.advance(120)
    await world.until_idle()
    [aside] = [key for key in world.kv._history if key.startswith(CORRUPT_PREFIX)]
    assert json.dumps(world.read(aside)) == json.dumps(json.loads(broken)) if broken != "{" else aside
    assert any("alert" in fields for name, fields in world.log.events if name == "checkpoint.corrupt")
    assert sorted(world.checkpoint()["processedIds"]) == ["a", "b"]
    assert {what: n for what, n in world.outside.asked.items() if n > 1} == {}


async def test_reset_checkpoint():
    """The documented reset repeats no summary: what is stored is found before it is made again."""
    world = World()
    await world.pending("a")
    await world.until_idle()
    await world.put(CHECKPOINT, RESET)
    world.clock.advance(120)
    await world.until_idle()
    assert world.outside.asked["summary a"] == 1
    assert world.checkpoint()["processedIds"] == ["a"]


async def test_write_domains():
    """A Worker that writes another's key fails."""
    world = World()
    for writes, foreign in ((UPDATER_WRITES, CHECKPOINT), (PROCESSOR_WRITES, PENDING), ((), INDEX)):
        store = world.store(writes)
        with pytest.raises(OutsideDomain, match="belongs to another Worker"):
            await store.put_json(foreign, [])
        with pytest.raises(OutsideDomain):
            await store.put_text(f"{foreign}:x", "")
        with pytest.raises(OutsideDomain):
            await store.delete(foreign)
    assert world.kv.operations == []


async def test_all_keys_expire():
    """Every key is written with ID_INDEX_TTL."""
    world = World(ttl_s=1000)
    await world.pending("a")
    await world.minute()
    for key in (CHECKPOINT, INDEX, "article:a"):
        entry = world.kv._history[key][-1][1]
        assert entry is not None
        assert entry.expires_at == pytest.approx(world.kv._history[key][-1][0] + 1000)


def test_moves():
    """Every stage has an end for every outcome; nothing else is allowed."""
    stages = [stage for stage in Stage if stage is not Stage.COMPLETE]
    assert MOVES.keys() == {(stage, outcome) for stage in stages for outcome in Outcome}
    assert place_after(Stage.SENTIMENT, Outcome.DONE, Stage.COMPLETE) is Place.PROCESSED
    assert place_after(Stage.SENTIMENT, Outcome.DONE, Stage.SUMMARY) is Place.CURRENT
    with pytest.raises(IllegalMove):
        place_after(Stage.COMPLETE, Outcome.DONE, Stage.COMPLETE)
    with pytest.raises(IllegalMove):
        place_after(Stage.CONTENT, Outcome.DONE, Stage.SENTIMENT)


def test_checkpoint_round_trip():
    """The stored shape is the documented one."""
    stored = json.loads(RESET)
    stored |= {"currentArticleId": "c", "currentArticle": {"id": "c", "needsSentiment": True, "needsSummary": True}}
    stored |= {"processedIds": ["x", "y"], "lastUpdate": 1704067200000}
    failed = {"id": "f", "needsSentiment": False, "needsSummary": True, "sentiment": "neutral"}
    stored["tryLater"] = [{"id": "f", "article": failed, "failedAt": 1704067200000, "reason": "max_retries_reached"}]
    again = Checkpoint.from_json(stored).to_json()
    assert again.pop("indexVersion") is None
    assert again == stored
    with pytest.raises(Corrupt, match="lastUpdate"):
        Checkpoint.from_json(stored | {"lastUpdate": "yesterday"})


async def test_by_hand():
    """One article goes through all its stages at once, and the article that was in work stays in work."""
    world = World()
    await world.pending("a", "b")
    await world.minute()
    world.clock.advance(60)
    done = await world.processor().by_hand("b", force=False)
    assert done.text("aiSummary") == "Summary of b."
    checkpoint = world.checkpoint()
    assert (checkpoint["currentArticleId"], checkpoint["processedIds"], checkpoint["tryLater"]) == ("a", ["b"], [])
    await world.processor().by_hand("b", force=False)
    assert world.outside.asked["summary b"] == 1
    await world.processor().by_hand("b", force=True)
    assert world.outside.asked["summary b"] == 2
    await world.until_idle()
    assert sorted(world.checkpoint()["processedIds"]) == ["a", "b"]


async def test_by_hand_failing():
    """A failure leaves the article waiting for another try."""
    world = World()
    await world.pending("a")
    world.outside.failures["scrape a"] = 1
    done = await world.processor().by_hand("a", force=False)
    assert done.stage is Stage.CONTENT
    [waiting] = world.checkpoint()["tryLater"]
    assert waiting["reason"] == "fetch_failed: not now (attempt 1/5)"
    await world.until_idle()
    assert world.stored("a")["aiSummary"] == "Summary of a."


async def test_by_hand_unknown():
    """An id that nobody knows is a 404."""
    with pytest.raises(NotFound, match="'x' is stored or pending"):
        await World().processor().by_hand("x", force=False)


async def test_defect_does_not_loop():
    """An error that nobody foresaw fails the run for all to see, counts as an attempt, and in the end is given up."""
    world = World(max_attempts=2)

    def defect() -> None:
        raise ZeroDivisionError

    world.outside.failures["scrape a"] = defect
    await world.pending("a")
    await world.minute()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            await world.minute()
        world.clock.advance(60)
    await world.until_idle()
    assert world.stored("a")["summaryError"] == "max_retries_reached: fetch_failed"
