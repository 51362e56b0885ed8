"""The state object: what it publishes, and that it finds what it missed."""

from dataclasses import replace
from typing import Any

import pytest

from fakes.kv import FakeKV
from fakes.objects import FakeStorage
from sluice.core.errors import TooManyRequests, Unavailable
from sluice.core.news.article import Article
from sluice.platform.durable_objects import Sql
from sluice.services.news.push.subscription_rows import SubscriptionRows
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.state.outbox import DeliveryKind, Outbox
from sluice.services.news.state.remote_state import UpdateReport
from sluice.services.news.state.second_looks import SecondLooks
from sluice.services.news.state.source_rows import SourceRows
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


async def test_version_is_written_last():
    """Whoever reads a version finds at least that snapshot, and the first page of it."""
    news = NewsHarness()
    await news.state.publish(article("a"), ArticleIndex(("a",), 1))
    await news.state.refresh()
    written = [key for name, key in news.snapshot_kv.operations if name == "put"]
    assert len(written) == 3
    assert written[-1].endswith("version")
    assert written.index("snapshot") == 1


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


def build_sql() -> Sql:
    return Sql(FakeStorage())


class TestOutbox:
    """What waits to be sent by the state object."""

    def targets(self, outbox: Outbox, now_ms: int, limit: int = 99) -> list[str]:
        return [delivery.target for delivery in outbox.list_due(now_ms, limit)]

    def test_order(self):
        """What is due first is sent first; of what is due at once, what was added first."""
        outbox = Outbox(build_sql())
        for target, due_ms in (("late", 30), ("first", 10), ("second", 10), ("future", 40)):
            outbox.add(DeliveryKind.ALERT, target, "", due_ms)
        assert self.targets(outbox, 30) == ["first", "second", "late"]
        assert self.targets(outbox, 30, 1) == ["first"]
        assert (outbox.next_due_ms(), outbox.count()) == (10, 4)
        [first] = outbox.list_due(30, 1)
        outbox.remove(first)
        assert self.targets(outbox, 40) == ["second", "late", "future"]

    def test_feed(self):
        """One copy of the feed waits for a subscription, unless one has been tried; other deliveries are not replaced."""
        outbox = Outbox(build_sql())
        for target in ("1", "2", "1"):
            outbox.add(DeliveryKind.FEED, target, "", 0)
        outbox.add(DeliveryKind.VERIFICATION, "1", "", 0)
        outbox.add(DeliveryKind.VERIFICATION, "1", "", 0)
        assert outbox.count_kind(DeliveryKind.FEED) == 2
        assert outbox.count_kind(DeliveryKind.VERIFICATION) == 2
        [tried, *_] = outbox.list_due(0, 9)
        assert outbox.retry(tried, 0)
        outbox.add(DeliveryKind.FEED, tried.target, "", 0)
        assert outbox.count_kind(DeliveryKind.FEED) == 3

    def test_retries(self):
        """After 10 s, 30 s, 90 s and so on, up to an hour; the ninth failure is the last. Others stay as they are."""
        outbox = Outbox(build_sql())
        outbox.add(DeliveryKind.ALERT, "a", "", 0)
        outbox.add(DeliveryKind.ALERT, "b", "", 10**9)
        now_ms, waits = 0, []
        while True:
            [delivery] = outbox.list_due(now_ms, 9)
            assert delivery.target == "a"
            if not outbox.retry(delivery, now_ms):
                break
            assert outbox.retry(delivery, now_ms), "a try that ends late changes nothing"
            due_ms = outbox.next_due_ms()
            assert due_ms is not None
            waits.append((due_ms - now_ms) // 1000)
            now_ms = due_ms
        assert waits == [10, 30, 90, 270, 810, 2430, 3600, 3600]
        assert self.targets(outbox, 10**9) == ["b"]

    def test_two_that_fail_alike(self):
        """Each is given up by itself."""
        outbox = Outbox(build_sql())
        for target in ("a", "b"):
            outbox.add(DeliveryKind.ALERT, target, "", 0)
        for _ in range(8):
            for delivery in outbox.list_due(10**9, 9):
                assert outbox.retry(delivery, 0)
        first, second = outbox.list_due(10**9, 9)
        assert not outbox.retry(first, 0)
        assert outbox.list_due(10**9, 9) == [second]

    def test_last_try_that_ends_late(self):
        """It does not remove what a later try has counted."""
        outbox = Outbox(build_sql())
        outbox.add(DeliveryKind.ALERT, "a", "", 0)
        [delivery] = outbox.list_due(0, 1)
        outbox.retry(delivery, 0)
        assert not outbox.retry(replace(delivery, attempts=8), 0)
        assert outbox.count() == 1

    def test_clock_that_was_set_back(self):
        """Nothing waits for more than an hour; what is due sooner keeps its time."""
        outbox = Outbox(build_sql())
        outbox.add(DeliveryKind.ALERT, "far", "", 10**9)
        outbox.add(DeliveryKind.ALERT, "near", "", 5)
        outbox.clamp_waits(1000)
        assert outbox.next_due_ms() == 5
        assert self.targets(outbox, 3_600_999) == ["near"]
        assert self.targets(outbox, 3_601_000) == ["near", "far"]

    def test_nobody_receives(self):
        """Beyond ten thousand the oldest go."""
        sql = build_sql()
        outbox = Outbox(sql)
        sql.run(
            """with recursive number (n) as (select 1 union all select n + 1 from number where n < 10000)
            insert into delivery (kind, target, body, due_ms, created_ms) select 'alert', n, '', 0, 0 from number"""
        )
        for name in ("x", "y"):
            outbox.add(DeliveryKind.ALERT, name, "", 1)
        assert outbox.count() == 10_000
        assert self.targets(outbox, 0, 1) == ["3"]


class TestSecondLooks:
    """The articles that wait for Workers AI."""

    def build(self, *names: str) -> SecondLooks:
        looks = SecondLooks(build_sql())
        looks.update({name: Article({"id": name, "secondLook": "sentiment"}) for name in names})
        return looks

    def test_each_has_its_turn(self):
        """The one with the fewest attempts comes first; after three attempts it stays as it is."""
        looks = self.build("a", "b")
        assert sorted(looks.claim() for _ in range(2)) == ["a", "b"]
        looks.give_back("b")
        assert looks.claim() == "b"
        assert sorted(looks.claim() for _ in range(4)) == ["a", "a", "b", "b"]
        assert (looks.claim(), looks.count()) == ("", 0)
        looks.give_back("a")
        assert (looks.count(), looks.claim()) == (1, "a")

    def test_given_back_often(self):
        """An attempt that is taken back twice gives no more than three."""
        looks = self.build("a")
        for _ in range(3):
            looks.give_back("a")
        assert [looks.claim() for _ in range(4)] == ["a", "a", "a", ""]

    def test_answered_articles_leave(self):
        """An article that is no longer marked goes, and so does one that is no longer in the index; others keep their count."""
        looks = self.build("a", "b", "c")
        for _ in range(3):
            looks.claim()
        looks.update({"a": Article({"id": "a"}), "b": Article({"id": "b", "secondLook": "sentiment"})})
        assert looks.count() == 2
        looks.keep(["b", "unknown"])
        assert [looks.claim() for _ in range(3)] == ["b", "b", ""]


def report(now: str = "", **outcomes: str) -> UpdateReport:
    """Return a report of a run in which each source had an outcome; what failed says when."""
    sources: list[Any] = [
        {"name": name, "outcome": outcome, "items": 7, "error": f"down {now}" if outcome == "failed" else ""}
        for name, outcome in outcomes.items()
    ]
    return UpdateReport(sources=sources, feeds={}, listed={})


class TestSources:
    """What each source answered last."""

    def test_alerts(self):
        """A source that fails twice is told once, and its recovery once; another source has nothing to do with it."""
        rows = SourceRows(build_sql())
        assert rows.finish_update(report(a="failed", b="read"), 1) == []
        [alert] = rows.finish_update(report("again", a="failed", b="read"), 2)
        assert (alert["type"], alert["source"], alert["error"], alert["consecutiveFailures"]) == (
            "source-failing", "a", "down again", 2,
        )  # fmt: skip
        assert rows.finish_update(report(a="failed", b="failed"), 3) == []
        assert rows.finish_update(report(a="postponed", b="read"), 4) == []
        assert [(each["type"], each["source"]) for each in rows.finish_update(report(a="unchanged", b="read"), 5)] == [
            ("source-recovered", "a")
        ]
        assert rows.finish_update(report(a="read", b="read"), 6) == []

    def test_description(self):
        """The sources by name: the last success, the last error, the number of articles; those that are gone are forgotten."""
        rows = SourceRows(build_sql())
        rows.finish_update(report(c="read", b="read", a="read"), 1)
        rows.finish_update(report("then", c="failed", a="unchanged"), 2)
        known = [
            (each["name"], each["lastSuccess"], each["lastError"], each["lastErrorAt"], each["items"], each["conditionalHits"], each["failures"])
            for each in rows.describe()["sources"]
        ]  # fmt: skip
        assert known == [("a", 2, None, None, 7, 1, 0), ("c", 1, "down then", 2, 7, 0, 1)]

    def test_silent_updater(self):
        """It is told once, two and a half hours after the last run, and that it runs again."""
        rows = SourceRows(build_sql())
        assert (rows.next_check_ms(), rows.find_overdue(10**12)) == (None, [])
        rows.finish_update(report(a="read"), 1000)
        assert rows.find_overdue(1000 + 150 * 60_000 - 1) == []
        assert [alert["type"] for alert in rows.find_overdue(1000 + 150 * 60_000)] == ["updater-silent"]
        assert rows.find_overdue(10**12) == []
        assert [alert["type"] for alert in rows.finish_update(report(a="read"), 10**12)] == ["updater-recovered"]
        rows.clamp_waits(5000)
        assert rows.next_check_ms() == 5000 + 150 * 60_000
        rows.clamp_waits(9000)
        assert rows.next_check_ms() == 5000 + 150 * 60_000


class TestSubscriptions:
    """Subscriptions of feeds, and webhooks."""

    def test_renewed_and_ended(self):
        """The same subscription again renews it; one ends at its time or when it is cancelled, and no other with it."""
        rows = SubscriptionRows(build_sql())
        for topic, callback, until_ms in (("t", "https://a/1", 10), ("u", "https://a/1", 20), ("t", "https://b/2", 30)):
            rows.subscribe(topic, callback, "secret", until_ms)
        rows.subscribe("t", "https://a/1", "new", 25)
        first, second, third = rows.list_active(19)
        assert (first.topic, first.callback, first.secret) == ("t", "https://a/1", "new")
        assert [rows.find(str(second.id), now_ms) for now_ms in (19, 20)] == [second, None]
        rows.unsubscribe("t", "https://b/none")
        assert [each.id for each in rows.list_active(20)] == [first.id, third.id]
        rows.unsubscribe("t", "https://b/2")
        assert rows.list_active(24) == [first]
        assert rows.list_active(25) == []

    def test_room(self):
        """Fifty for one host, a thousand in all with those that wait for confirmation."""
        rows = SubscriptionRows(build_sql())
        for number in range(50):
            rows.check_room("https://one/x", 0)
            rows.subscribe("t", f"https://one/{number}", "", 10)
        with pytest.raises(TooManyRequests):
            rows.check_room("https://one/x", 0)
        rows.check_room("https://two/x", 949)
        with pytest.raises(TooManyRequests):
            rows.check_room("https://two/x", 950)

    def test_webhooks(self):
        """They are listed as they were added, found by their id, and removed one by one."""
        rows = SubscriptionRows(build_sql())
        for name, created_ms in (("z", 1), ("c", 2), ("b", 2), ("a", 3)):
            rows.add_webhook({"id": name, "url": f"https://{name}", "secret": "s", "created_ms": created_ms})
        assert [hook["id"] for hook in rows.list_webhooks()] == ["z", "b", "c", "a"]
        found = rows.find_webhook("c")
        assert found is not None
        assert (found["url"], rows.find_webhook("none")) == ("https://c", None)
        assert (rows.remove_webhook("c"), rows.remove_webhook("c")) == (True, False)
        assert [hook["id"] for hook in rows.list_webhooks()] == ["z", "b", "a"]

    def test_announced_stories(self):
        """A story is announced once; it may be announced again when it was long forgotten."""
        rows = SubscriptionRows(build_sql())
        assert rows.announce_stories(["a", "b"], 10) == ["a", "b"]
        assert rows.announce_stories(["c", "b", "d"], 20) == ["c", "d"]
        rows.forget_stories(20)
        assert rows.announce_stories(["a", "c"], 30) == ["a"]

    def test_content_of_the_feeds(self):
        """A change is reported once."""
        rows = SubscriptionRows(build_sql())
        assert [rows.replace_digest(digest) for digest in ("x", "x", "y")] == [True, False, True]
