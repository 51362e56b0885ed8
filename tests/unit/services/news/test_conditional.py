"""Feeds that have not changed, sources that ask to wait, and alerts of sources that fail."""

import json
from dataclasses import dataclass, field
from typing import Any

from fakes.clock import ManualClock
from sluice.core.errors import Unavailable
from sluice.core.ports import FetchResponse, HeaderPairs
from sluice.services.news.collect.conditional_feeds import ConditionalFeeds
from sluice.services.news.collect.updater import UpdateResult
from sluice.services.news.state.outbox import MAX_ATTEMPTS
from sluice.services.news.state.remote_state import SourceReport, StoredFeed, UpdateReport
from sluice.services.news.state.source_rows import OVERDUE_MS
from sluice.services.news.storage.keys import PENDING
from unit.services.news.harness import NewsHarness

FEED = "https://feed.example/rss"
RSS = b"<rss version='2.0'><channel><title>F</title><item><title>Bitcoin %d</title><link>https://e.example/%d</link></item></channel></rss>"


@dataclass
class FeedServer:
    """Answers 304 to the current ETag, `status` otherwise."""

    version: int = 1
    status: int = 200
    headers: HeaderPairs = ()
    requests: list[dict[str, str]] = field(default_factory=list)

    async def __call__(self, url: str, *, headers: HeaderPairs = (), **_options: Any) -> FetchResponse:
        sent = {name.lower(): value for name, value in headers}
        self.requests.append(sent)
        etag = f'"v{self.version}"'
        if self.status == 200 and sent.get("if-none-match") == etag:
            return FetchResponse(url, 304, (), b"")
        body = RSS % (self.version, self.version) if self.status == 200 else b""
        return FetchResponse(url, self.status, (("etag", etag), *self.headers), body)


async def run(news: NewsHarness, server: FeedServer, **changes: Any) -> Any:
    """Make one run of the updater with this feed alone, and return its report."""
    news.web = server
    report = await news.updater(feeds=(FEED,), **changes).run()
    assert isinstance(report, UpdateResult)
    news.clock.advance(2)
    return report.as_json()


def outcome(report: dict[str, Any]) -> str:
    return str(report["sources"]["feed:feed.example/rss"]["outcome"])


async def test_unchanged_feed():
    """The ETag of the last response is sent, and 304 is neither a failure nor parsed; a changed feed is read."""
    news, server = NewsHarness(), FeedServer()
    assert outcome(await run(news, server)) == "read"
    report = await run(news, server)
    assert (outcome(report), report["failed"], report["outcome"]) == ("unchanged", {}, "ok")
    assert server.requests[1]["if-none-match"] == '"v1"'
    server.version = 2
    assert outcome(await run(news, server)) == "read"
    [source] = news.state.sources.describe()["sources"]
    assert (source["conditionalHits"], source["items"]) == (1, 1)
    assert len(news.read(PENDING)) == 2


async def test_missing_list_is_filled_again():
    """After the operator has deleted the pending list, the feed is read although it has not changed."""
    news, server = NewsHarness(), FeedServer()
    for _ in range(2):
        await run(news, server)
    await news.delete(PENDING)
    report = await run(news, server)
    assert (outcome(report), len(report["added"])) == ("read", 1)


async def test_surplus_is_read_again():
    """A feed whose articles had no room is read again, although it has not changed."""
    news, server = NewsHarness(), FeedServer()
    await news.put_pending("old")
    assert (await run(news, server, max_pending_list_size=1))["surplus"] == 1
    assert len((await run(news, server))["added"]) == 1


async def test_retry_after():
    """A server that asks to wait is not asked before, by cron or by hand; then it is."""
    news, server = NewsHarness(), FeedServer(status=429, headers=(("retry-after", "600"),))
    assert outcome(await run(news, server)) == "failed"
    server.status = 200
    news.clock.advance(500)
    assert outcome(await run(news, server)) == "postponed"
    assert len(server.requests) == 1
    news.clock.advance(100)
    assert outcome(await run(news, server)) == "read"


async def test_runs_by_hand_have_no_minimum_interval():
    """Two runs at once both ask the source."""
    news, server = NewsHarness(), FeedServer()
    await run(news, server)
    await run(news, server)
    assert len(server.requests) == 2


async def test_outage_of_the_state_object(monkeypatch: Any):
    """Without the state object feeds are read without conditions."""
    news, server = NewsHarness(), FeedServer()

    async def fail(*_args: object, **_named: object) -> str:
        raise Unavailable("not now")

    monkeypatch.setattr(type(news.state), "begin_update", fail)
    monkeypatch.setattr(type(news.state), "finish_update", fail)
    assert [outcome(await run(news, server)) for _ in range(2)] == ["read", "read"]


@dataclass
class AlertReceiver:
    """A webhook that answers with `status`."""

    status: int = 200
    bodies: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, url: str, *, body: bytes | None = None, **_options: Any) -> FetchResponse:
        self.bodies.append(json.loads(body or b"null"))
        return FetchResponse(url, self.status, (), b"")


def watch_alerts(news: NewsHarness) -> AlertReceiver:
    news.web = receiver = AlertReceiver()
    return receiver


async def ring(news: NewsHarness) -> None:
    """Let the alarm ring if it is due."""
    at = await news.state.alarm.get()
    if at is not None and at <= news.clock.now():
        await news.state.alarm.delete()
        await news.state.handle_alarm()


async def test_one_alert_and_one_recovery():
    """A source that dies is reported once, after its second failure, and once when it returns."""
    news = NewsHarness()
    receiver = watch_alerts(news)
    for error in (None, "down", "down", "down", "down", None, None):
        news.source.error = Unavailable(error) if error else None
        await news.updater().run()
        news.clock.advance(3600)
        await ring(news)
    assert [(body["type"], body["source"]) for body in receiver.bodies] == [
        ("source-failing", "listed"),
        ("source-recovered", "listed"),
    ]
    assert receiver.bodies[0]["error"] == "down"


async def test_alert_is_sent_again():
    """A webhook that does not answer is tried again later, and given up in the end."""
    news = NewsHarness()
    receiver = watch_alerts(news)
    receiver.status = 500
    news.source.error = Unavailable("down")
    for _ in range(2):
        await news.updater().run()
        news.clock.advance(2)
    for _ in range(30):
        await ring(news)
        news.clock.advance(3600)
        await news.updater().run()
    assert [body["type"] for body in receiver.bodies] == ["source-failing"] * MAX_ATTEMPTS
    assert news.state.sender.outbox.count() == 0


async def test_silent_updater_is_reported():
    """The alarm notices that the updater does not run any more, once, and that it runs again."""
    news = NewsHarness()
    receiver = watch_alerts(news)
    await news.updater().run()
    for _ in range(5):
        news.clock.advance(OVERDUE_MS / 1000)
        await ring(news)
    await news.updater().run()
    news.clock.advance(60)
    await ring(news)
    assert [body["type"] for body in receiver.bodies] == ["updater-silent", "updater-recovered"]


def test_validators_of_a_removed_feed_are_forgotten():
    """Nothing is kept of a feed that is no longer configured."""
    news = NewsHarness()
    state: StoredFeed = {"etag": "x", "lastModified": "", "retryAtMs": 0}
    one, other = (SourceReport(name=name, outcome="read", items=1, error="") for name in ("a", "b"))
    news.state.sources.finish_update(UpdateReport([one], {"u1": state, "u2": state}), 1)
    news.state.sources.finish_update(UpdateReport([other], {"u2": state}), 2)
    assert list(news.state.sources.begin_update(3)) == ["u2"]
    assert [each["name"] for each in news.state.sources.describe()["sources"]] == ["b"]


async def test_other_addresses_are_fetched_without_conditions():
    """The feed that a page leads to does not get the validators of the page."""
    server = FeedServer()
    feeds = ConditionalFeeds(server, ManualClock())
    feeds.load({FEED: {"etag": "x", "lastModified": "", "retryAtMs": 0}}, is_list_missing=False)
    fetch = feeds.fetch_for(FEED)
    for url in (FEED, "https://feed.example/other"):
        await fetch(url, max_bytes=1, timeout_s=1)
    assert [request.get("if-none-match") for request in server.requests] == ["x", None]
