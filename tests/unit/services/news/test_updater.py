"""What one run of the updater does, and how many operations it takes."""

from dataclasses import replace
from typing import Any

from sluice.core.errors import Unavailable
from sluice.services.news.collect.updater import UpdateResult
from sluice.services.news.run_lease.run_lock import MAX_VALUE_BYTES
from sluice.services.news.run_outcomes import Waiting
from sluice.services.news.storage.keys import CHECKPOINT, PENDING
from unit.services.news.harness import ListedSource, NewsHarness, article


def ids(news: NewsHarness) -> list[str]:
    return [entry["id"] for entry in news.read(PENDING)]


async def run(news: NewsHarness, **settings: Any) -> Any:
    report = await news.updater(**settings).run()
    news.clock.advance(3600)
    return report.as_json()


async def test_three_operations():
    """Two reads and one write."""
    news = NewsHarness()
    news.source.articles = [article("a")]
    await run(news)
    assert news.kv.operations == [("get", PENDING), ("get", CHECKPOINT), ("put", PENDING)]
    [entry] = news.read(PENDING)
    assert entry.keys() == {"id", "article", "addedAt"}
    assert (entry["id"], entry["article"]["title"]) == ("a", "a")


async def test_new_in_front_without_duplicates():
    """New articles come before the old ones, and none is listed twice."""
    news = NewsHarness()
    await news.put_pending("b")
    news.source.articles = [article("a"), article("a"), article("b")]
    report = await run(news)
    assert ids(news) == ["a", "b"]
    assert report["added"] == ["a"]


async def test_processed_articles_are_trimmed():
    """Processed articles leave the list and do not come back while their source lists them; the current one stays."""
    news = NewsHarness()
    news.source.articles = [article("a"), article("b"), article("c")]
    await run(news)
    for _ in range(4):
        await news.run_minute()
    report = await run(news)
    assert (ids(news), report["trimmed"], report["added"]) == (["b", "c"], 1, [])


async def test_accepted_articles_are_never_evicted():
    """Without room the newest articles wait for a later run and their ids are logged; the list keeps its articles."""
    news = NewsHarness()
    await news.put_pending("old")
    dated = {"c": "2027-01-03", "b": "2027-01-02", "a": "2027-01-01"}
    news.source.articles = [article(name, pubDate=date) for name, date in dated.items()]
    report = await run(news, max_pending_list_size=3)
    assert ids(news) == ["b", "a", "old"]
    assert report["surplus"] == 1
    assert ("articles.surplus", {"ids": ("c",)}) in news.log.events
    await news.run_until_idle()
    report = await run(news, max_pending_list_size=3)
    assert report["added"] == ["c"]


async def test_every_surplus_id_is_logged():
    """However many there are, each id is logged."""
    news = NewsHarness()
    news.source.articles = [article(f"a{n}") for n in range(120)]
    await run(news, max_pending_list_size=1)
    lines = [fields["ids"] for name, fields in news.log.events if name == "articles.surplus"]
    assert [len(ids) for ids in lines] == [50, 50, 19]
    assert len({each for ids in lines for each in ids}) == 119


async def test_smaller_cap_evicts_nothing():
    """A limit below the size of the list drops no article."""
    news = NewsHarness()
    await news.put_pending("a", "b", "c")
    await run(news, max_pending_list_size=1)
    assert ids(news) == ["a", "b", "c"]


async def test_known_articles_stop_the_paging():
    """Sources receive the ids of all pending, current, waiting and processed articles."""
    news = NewsHarness()
    news.upstream.failures["scrape b"] = 99
    await news.put_pending("a", "b", "c", "d")
    for _ in range(6):
        await news.run_minute()
    await run(news)
    assert news.source.known == {"a", "b", "c", "d"}


async def test_gap_is_filled():
    """After a source stopped early, known articles do not stop its paging until it has succeeded once."""
    news = NewsHarness()
    news.source.articles = [article("a")]
    news.source.error = Unavailable("page 2 answered 500")
    report = await run(news)
    assert (report["outcome"], ids(news)) == ("failed", ["a"])
    news.source.error = None
    await run(news)
    assert news.source.known == frozenset()
    await run(news)
    assert news.source.known == {"a"}


async def test_corrupt_checkpoint_loses_nothing():
    """Without a readable checkpoint nothing is trimmed, and the updater leaves the repair to the processor."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.put(CHECKPOINT, "{")
    news.source.articles = [article("b")]
    await run(news)
    assert ids(news) == ["b", "a"]
    assert news.kv._history[CHECKPOINT][-1][1].value == b"{"  # type: ignore[union-attr]


async def test_second_run_at_once_sees_the_first():
    """A run that reads a stale list continues with what the last run wrote, so no accepted article is lost."""
    news = NewsHarness(stale_s=60)
    for names in ("a", "b", "c"):
        news.source.articles = [article(names)]
        assert isinstance(await news.updater().run(), UpdateResult)
    assert ids(news) == ["c", "b", "a"]


async def test_list_too_large_to_keep():
    """A run that reads a stale list and cannot know the newer one does not write."""
    news = NewsHarness(stale_s=60)
    news.source.articles = [article("a", description="x" * MAX_VALUE_BYTES)]
    await news.updater().run()
    assert await news.updater().run() == Waiting("pending list")
    news.clock.advance(61)
    news.source.articles = [article("b")]
    assert isinstance(await news.updater().run(), UpdateResult)
    assert ids(news) == ["b", "a"]


async def test_no_source():
    """Without any source the report names the variables to set."""
    news = NewsHarness()
    updater = news.updater()
    object.__setattr__(updater, "sources", [])
    assert "NEWS_FEEDS" in (await updater.run()).as_json()["reason"]


async def test_sources_of_one_name():
    """Two feeds with the same name both count."""
    news = NewsHarness()
    first, second = ListedSource(), ListedSource()
    first.articles, second.articles = [article("a")], [article("b")]
    assert first.name == second.name
    await replace(news.updater(), sources=[first, second]).run()
    assert sorted(ids(news)) == ["a", "b"]
