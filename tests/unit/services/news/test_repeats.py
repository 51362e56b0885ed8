"""Feeds that name their items anew, and feeds that list more than is stored: nothing is processed twice."""

from itertools import count
from typing import Any

import pytest

from sluice.core.errors import Unavailable
from sluice.core.news.article import Article, Marks
from sluice.services.news.collect.conditional_feeds import NotModified
from sluice.services.news.state.listed_rows import MAX_PER_SOURCE, MAX_REMEMBERED
from sluice.services.news.state.remote_state import SourceReport, UpdateReport
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING
from unit.services.news.harness import ListedSource, NewsHarness, article

DAY_S = 86_400


async def update(news: NewsHarness, **settings: Any) -> Any:
    report = await news.updater(**settings).run()
    news.clock.advance(60)
    return report.as_json()


async def run_hour(news: NewsHarness, **settings: Any) -> int:
    """Update and process until there is nothing left; return how many articles were added."""
    report = await update(news, **settings)
    await news.run_until_idle(400)
    news.clock.advance(3600)
    return len(report["added"])


def reload_all(names: list[str], number: int, *, kind: str, **more: Any) -> list[Article]:
    """Return the items of a feed that names or addresses them anew each time."""
    made = []
    for name in names:
        query = f"?session={number}" if kind == "query" else f"?utm_source={number}" if kind == "tracking" else ""
        link = f"https://news.example/{name}{query}"
        made.append(article(f"{name}-{number}", title=f"Title {name}", link=link, source_name="Site", **more))
    return made


@pytest.mark.parametrize("kind", ["guid", "query", "tracking"])
@pytest.mark.parametrize("dated", [True, False])
async def test_items_named_anew(kind: str, *, dated: bool):
    """The items of a feed are added once, however often it names them anew, for days."""
    news = NewsHarness()
    names = [f"n{n}" for n in range(5)]
    more = {} if dated else {"pubDate": ""}
    added = []
    for number in range(6):
        news.source.articles = reload_all(names, number, kind=kind, **more)
        added.append(await run_hour(news))
        news.clock.advance(20 * 3600)
    assert added == [5, 0, 0, 0, 0, 0]
    assert sum(news.upstream.calls.values()) == 3 * 5
    assert len(news.index()) == 5


async def test_items_dated_anew():
    """A feed that also gives its items the time of the request adds them once."""
    news = NewsHarness()
    added = []
    for number in range(5):
        news.source.articles = reload_all(
            ["a"], number, kind="query", pubDate="", queuedAt=int(news.clock.now() * 1000)
        )
        added.append(await run_hour(news))
        news.clock.advance(DAY_S)
    assert added == [1, 0, 0, 0, 0]


async def test_ids_stay():
    """An article keeps the id under which it was stored first."""
    news = NewsHarness()
    for number in range(3):
        news.source.articles = reload_all(["a"], number, kind="guid")
        await run_hour(news)
    assert news.index() == ["a-0"]


async def test_articles_stored_before_links_were_remembered():
    """What is published is known by its link, although no update has remembered it."""
    news = NewsHarness()
    news.source.articles = reload_all(["a", "b"], 0, kind="guid")
    await run_hour(news)
    sql: Any = news.state.rows._sql
    sql.run("delete from listed")
    news.source.articles = reload_all(["a", "b"], 1, kind="guid")
    assert await run_hour(news) == 0


async def test_two_outlets_with_one_title():
    """They are two articles; stories group them."""
    news = NewsHarness()
    titles = {"title": "Bitcoin climbs", "link": "https://news.example/1"}
    news.source.articles = [
        article("a", **titles | {"source_name": "One"}),
        article("b", **titles | {"link": "https://news.example/2", "source_name": "Two"}),
    ]
    assert await run_hour(news) == 2


async def test_daily_title():
    """A title that returns each day is taken again after 48 hours, and not only once."""
    news = NewsHarness()
    added = []
    for day in range(7):
        date = f"2027-01-{16 + day}T09:00:00Z"
        news.clock.advance(max(0.0, 1_800_000_000 + (day + 1) * DAY_S + 3600 - news.clock.now()))
        link = f"https://news.example/{day}"
        news.source.articles = [
            article(f"d{day}", title="Bitcoin price today", link=link, pubDate=date),
            *news.source.articles,
        ]
        added.append(await run_hour(news))
    assert added == [1, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("dated", [True, False])
async def test_more_items_than_are_stored(*, dated: bool):
    """A feed that lists more than the index and the pending list hold has each item processed once."""
    news = NewsHarness(max_stored_articles=3, max_pending_list_size=4, max_articles_per_run=3)
    news.source.articles = [article(f"n{n}", **({} if dated else {"pubDate": ""})) for n in range(20)]
    added = [await run_hour(news, max_pending_list_size=4) for _ in range(12)]
    assert (sum(added), added[-5:]) == (20, [0] * 5)
    assert all(n == 1 for n in news.upstream.calls.values())


async def test_forgotten_when_no_longer_configured():
    """What a source listed is forgotten with the source."""
    news = NewsHarness()
    news.source.articles = [article("a")]
    await update(news)
    assert news.state.listed.read()
    news.source.name = "other"
    news.source.articles = []
    await update(news)
    assert news.state.listed.read() == []


@pytest.mark.parametrize("error", [NotModified("same"), Unavailable("down")])
async def test_remembered_while_a_source_is_silent(error: Any):
    """A feed that has not changed or cannot be read keeps what it listed."""
    news = NewsHarness(max_stored_articles=1, max_pending_list_size=1, max_articles_per_run=3)
    items = [article(f"n{n}") for n in range(6)]
    news.source.articles = items
    for _ in range(8):
        await run_hour(news, max_pending_list_size=1)
    news.source.articles, news.source.error = [], error
    assert await run_hour(news, max_pending_list_size=1) == 0
    news.source.articles, news.source.error = items, None
    assert await run_hour(news, max_pending_list_size=1) == 0


async def test_age_limit():
    """An older article is not added, one without a date is; a known one stays."""
    news = NewsHarness()
    news.source.articles = [
        article("old", pubDate="2026-12-10T00:00:00Z"),
        article("new", pubDate="2026-12-20T00:00:00Z"),
        article("undated", pubDate=""),
    ]
    report = await update(news)
    assert (sorted(report["added"]), report["tooOld"]) == (["new", "undated"], 1)
    report = await update(news, max_article_age_days=60)
    assert (report["added"], report["tooOld"]) == (["old"], 0)
    assert (await update(news, max_article_age_days=1))["pending"] == 3


async def test_begun_anew():
    """After the documented deletion of all keys, what the feeds list is collected again."""
    news = NewsHarness()
    news.source.articles = [article("a"), article("b")]
    await run_hour(news)
    for key in (PENDING, CHECKPOINT, INDEX):
        await news.delete(key)
    assert await run_hour(news) == 2


async def test_memory_is_bounded():
    """Each source keeps the latest, and all together no more than the limit."""
    news = NewsHarness()
    for start in range(0, 1000, 200):
        news.source.articles = [article(f"n{n}") for n in range(start, start + 200)]
        await update(news, max_pending_list_size=5000)
    remembered = [item[0] for item in news.state.listed.read()]
    assert len(remembered) == MAX_PER_SOURCE
    assert set(remembered[:200]) == {f"n{n}" for n in range(800, 1000)}
    sources = range(MAX_REMEMBERED // MAX_PER_SOURCE * 2)
    items: list[Marks] = [[f"i{n}", "", "", "", 0, 0] for n in range(MAX_PER_SOURCE)]
    reports = [SourceReport(name=f"s{n}", outcome="read", items=0, error="") for n in sources]
    news.state.listed.store(UpdateReport(reports, {}, {f"s{n}": items for n in sources}))
    assert len(news.state.listed.read()) == MAX_REMEMBERED


async def test_surplus_is_not_remembered():
    """What has no room yet is added by a later run."""
    news = NewsHarness()
    news.source.articles = [article(name, title=name) for name in ("a", "b", "c")]
    assert (await update(news, max_pending_list_size=1))["surplus"] == 2
    await news.run_until_idle()
    assert len((await update(news, max_pending_list_size=5))["added"]) == 2


async def test_crash_at_every_point():
    """Wherever an update crashes, a feed that names its items anew adds them once."""
    for point in range(1, 8):
        for before in (True, False):
            news, numbers = NewsHarness(), count()
            news.steps.fail_at(point, before=before)
            for _ in range(5):
                news.source.articles = reload_all(["a", "b"], next(numbers), kind="query")
                await news.run_minute(news.updater().run)
                await news.run_until_idle()
            assert len(news.index()) == 2


async def test_paging_stops_at_what_is_remembered():
    """A news service is not read further than to what was processed, however long ago."""
    news = NewsHarness(max_stored_articles=1, max_pending_list_size=1, max_articles_per_run=3)
    news.source.articles = [article("a"), article("b"), article("c")]
    for _ in range(4):
        await run_hour(news, max_pending_list_size=1)
    assert set(news.source.known) >= {"a", "b", "c"}
    assert isinstance(news.source, ListedSource)
