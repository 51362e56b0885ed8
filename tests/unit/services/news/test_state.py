"""The state object: what it publishes, and that it finds what it missed."""

from typing import Any

from fakes.kv import FakeKV
from sluice.core.errors import Unavailable
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.storage.article_index import ArticleIndex
from sluice.services.news.storage.keys import INDEX, article_key
from unit.services.news.harness import NewsHarness, article


async def read_titles(news: NewsHarness) -> list[str]:
    """Return the titles of the stored snapshot."""
    text = await FakeKV.get(news.snapshot_kv, "snapshot")
    return [each.article.title for each in Snapshot.parse(text).articles] if text else []


async def test_every_stage_is_published():
    """After each run the snapshot shows the article as it is stored."""
    news = NewsHarness()
    await news.put_pending("a")
    seen = []
    for _ in range(3):
        await news.run_minute()
        [shown] = Snapshot.parse(await news.snapshot_kv.get("snapshot")).articles
        seen.append((shown.article.sentiment, shown.article.text("aiSummary"), shown.is_complete))
    assert seen == [("positive", "", False), ("positive", "", False), ("positive", "Summary of a.", True)]


async def test_unchanged_snapshot_is_not_written():
    """One snapshot for each change, and none without."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_minute()
    writes = len(news.snapshot_kv.operations)
    assert await news.state.refresh() is False
    assert len(news.snapshot_kv.operations) == writes


async def test_alarm_finishes_a_crashed_run():
    """A run that crashes between publishing and refreshing leaves an alarm that writes the snapshot."""
    news = NewsHarness()
    await news.state.publish(article("a"), ArticleIndex(("a",), 1))
    assert await news.state.alarm.get() is not None
    await news.state.handle_alarm()
    assert await read_titles(news) == ["a"]


async def test_outage_of_the_object_does_not_stop_the_pipeline(monkeypatch):
    """Articles are processed while the object cannot be reached; it finds them when it reconciles."""
    news = NewsHarness()

    async def fail(*_args: object, **_named: object) -> None:
        raise Unavailable("not now")

    with monkeypatch.context() as patch:
        patch.setattr(type(news.state), "publish", fail)
        await news.put_pending("a")
        await news.run_until_idle()
    assert await read_titles(news) == []
    assert await news.state.reconcile() is True
    assert await read_titles(news) == ["a"]
    assert await news.state.reconcile() is False


async def test_deleted_index():
    """After the operator has deleted the index, the next article is alone in it, and in the snapshot."""
    news = NewsHarness()
    await news.put_pending("a", "b")
    await news.run_until_idle()
    assert sorted(await read_titles(news)) == ["a", "b"]
    await news.state.publish(article("c"), ArticleIndex(("c",), 10**13))
    await news.state.refresh()
    assert await read_titles(news) == ["c"]


async def test_stale_index_drops_nothing():
    """An index that KV still shows in an older version does not remove what was published since."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_until_idle()
    version = news.state.rows.index_version
    await news.put(article_key("b"), dict(article("b").data))
    await news.state.publish(article("b"), ArticleIndex(("b", "a"), version + 1))
    assert await news.state.reconcile() is True
    assert news.index() == ["a"]
    assert await read_titles(news) == ["b", "a"]
    await news.put(INDEX, ["b"], metadata={"version": version + 2})
    await news.state.reconcile()
    assert await read_titles(news) == ["b"]


async def test_an_article_costs_few_rows():
    """With many articles published, one more is a few statements by key: no other article is read or written."""
    news = NewsHarness()
    ids = [f"a{n}" for n in range(300)]
    for name in ids:
        await news.put(article_key(name), dict(article(name).data))
    await news.put(INDEX, ids, metadata={"version": 1})
    await news.state.reconcile()
    sql: Any = news.state.rows._sql
    storage = sql._storage
    storage.operations.clear()
    await news.state.publish(article("new"), ArticleIndex(("new", *ids), 2))
    await news.state.refresh()
    statements = [sql for name, sql in storage.operations if name == "sql"]
    assert len(await read_titles(news)) == 301
    assert len(statements) < 40
    assert not [sql for sql in statements if "from article" in sql and "where" not in sql]


async def test_a_new_snapshot_purges_the_copies():
    """The copies of the older snapshot are purged when there is a newer one, and only then."""
    news = NewsHarness()
    await news.state.publish(article("a"), ArticleIndex(("a",), 1))
    refresh = news.api().refresh
    assert [await refresh.run(), await refresh.run()] == [True, False]
    assert news.cache.purged == ["news"]


async def test_failed_purge_is_logged():
    """Copies that cannot be purged expire by themselves; the run does not fail."""
    news = NewsHarness()
    news.cache.error = Unavailable("too many purges")
    await news.state.publish(article("a"), ArticleIndex(("a",), 1))
    assert await news.api().refresh.run()
    assert [fields["error"] for name, fields in news.log.events if name == "purge.failed"] == ["too many purges"]
