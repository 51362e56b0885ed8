"""A clock that is set back: leases, retries, feeds, deliveries and alerts go on within their own limits."""

import pytest

from fakes.clock import ManualClock
from fakes.objects import FakeStorage
from sluice.core.news.ai.ai_failures import AiFault
from sluice.core.news.ai.breaker import AiBreaker
from sluice.core.news.checkpoint import TryLaterEntry
from sluice.core.news.retry import is_retry_due
from sluice.core.ports import FetchResponse
from sluice.platform.durable_objects import Sql
from sluice.platform.storage.kv import KV, MAX_QUEUED_S, WritePacer
from sluice.services.news.collect.conditional_feeds import ConditionalFeeds, Postponed
from sluice.services.news.run_lease.lease import CurrentValue, LastAnnouncement
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.serve.stored_snapshot import REMEMBERED_S, StoredSnapshot
from sluice.services.news.state.outbox import DeliveryKind, Outbox
from sluice.services.news.state.remote_state import UpdateReport
from sluice.services.news.state.source_rows import OVERDUE_MS, SourceRows
from unit.services.news.harness import NewsHarness, article

DAY_S = 86_400
DAY_MS = DAY_S * 1000
FEED = "https://feed.example/rss"
JUMPS_MS = [1000, 3_600_000, DAY_MS]


@pytest.mark.parametrize("back_ms", JUMPS_MS)
async def test_lease_of_a_crashed_run(back_ms: int):
    """The lease of a run that crashed before the jump ends when one that is granted now would."""
    lock, now_ms = RunLock(Sql(FakeStorage())), 2 * DAY_MS
    await lock.acquire("crashed", now_ms, 100)
    refused = await lock.acquire("next", now_ms - back_ms, 100)
    assert not refused.is_granted
    assert refused.wait_ms <= 100
    assert (await lock.acquire("next", now_ms - back_ms + refused.wait_ms, 100)).is_granted


@pytest.mark.parametrize("stage", ["sentiment", "summary"])
async def test_failed_article(stage: str):
    """An article that failed before the jump is tried again, and processed."""
    news = NewsHarness(retry_delay_s=600)
    await news.put_pending("a")
    news.upstream.failures[f"{stage} a"] = 2
    for _ in range(5):
        await news.run_minute()
    news.clock.advance(-DAY_S)
    news.kv._clock = _Ahead(news.clock, DAY_S)
    for _ in range(30):
        await news.run_minute()
    assert news.checkpoint()["processedIds"] == ["a"]


class _Ahead:
    """The clock of KV, which nobody sets back."""

    def __init__(self, clock: ManualClock, ahead_s: float) -> None:
        self._clock = clock
        self._ahead_s = ahead_s

    def now(self) -> float:
        return self._clock.now() + self._ahead_s

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


def test_retry_is_due():
    """A failure of the future is no reason to wait."""
    entry = TryLaterEntry(article("a", sentimentAttempts=3), 2 * DAY_MS, "")
    assert not is_retry_due(entry, retry_delay_s=60, now_ms=2 * DAY_MS + 1)
    assert is_retry_due(entry, retry_delay_s=60, now_ms=DAY_MS)


def test_new_key():
    """A key that was first written before the jump is not taken for new until the clock is there again."""
    last = LastAnnouncement(version=1, first_at_ms=2 * DAY_MS, was_present=False)
    assert last.judge_read(None, 2 * DAY_MS + 1) is CurrentValue.ANNOUNCED
    assert last.judge_read(None, DAY_MS) is CurrentValue.KV


@pytest.mark.parametrize("back_s", [3600, 2 * DAY_S])
async def test_feed_that_asked_to_wait(back_s: int):
    """A feed that asked to wait is asked again after a day at most."""
    clock = ManualClock()
    retry_at_ms = int((clock.now() + DAY_S) * 1000)
    clock.advance(-back_s)

    async def answer(url: str, **_options: object) -> FetchResponse:
        return FetchResponse(url, 200, (), b"")

    feeds = ConditionalFeeds(answer, clock)
    feeds.load({FEED: {"etag": "", "lastModified": "", "retryAtMs": retry_at_ms}}, is_list_missing=False)
    with pytest.raises(Postponed):
        await feeds.fetch_for(FEED)(FEED, max_bytes=1, timeout_s=1)
    stored = {url: state.as_json() for url, state in feeds.found.items()}
    clock.advance(DAY_S)
    later = ConditionalFeeds(answer, clock)
    later.load(stored, is_list_missing=False)
    assert (await later.fetch_for(FEED)(FEED, max_bytes=1, timeout_s=1)).status == 200


def test_delivery():
    """What waits to be sent is sent an hour after the jump at the latest."""
    outbox = Outbox(Sql(FakeStorage()))
    outbox.add(DeliveryKind.ALERT, "t", "{}", 2 * DAY_MS)
    outbox.clamp_waits(DAY_MS)
    assert len(outbox.list_due(DAY_MS + 3_600_000, 10)) == 1


async def test_alarm_after_the_jump():
    """The next plan of the alarm already counts from now."""
    news = NewsHarness()
    news.state.sender.outbox.add(DeliveryKind.ALERT, "t", "{}", int(news.clock.now() * 1000))
    news.clock.advance(-DAY_S)
    await news.state.finish_update(UpdateReport([], {}))
    at = await news.state.alarm.get()
    assert at is not None
    assert at <= news.clock.now() + 3600


def test_silent_updater():
    """An updater that falls silent after the jump is noticed as soon as ever."""
    sources = SourceRows(Sql(FakeStorage()))
    sources.finish_update(UpdateReport([], {}), 2 * DAY_MS)
    sources.clamp_waits(DAY_MS)
    assert sources.find_overdue(DAY_MS + OVERDUE_MS - 1) == []
    assert [each["type"] for each in sources.find_overdue(DAY_MS + OVERDUE_MS)] == ["updater-silent"]


def test_ai_breaker():
    """A breaker that could not be open for so long is closed."""
    breaker = AiBreaker().after_failure(AiFault.PERMANENT, "gone", 3 * DAY_MS)
    assert breaker.is_open(3 * DAY_MS + 1)
    assert not breaker.is_open(DAY_MS)


async def test_published_before_the_jump():
    """An article that was published just before the jump does not count as new for a day: KV is read again."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_until_idle()
    rows, now_ms = news.state.rows, int(news.clock.now() * 1000)
    assert rows.list_changed_around(now_ms, DAY_MS) == {"a"}
    assert rows.list_changed_around(now_ms - 1000, DAY_MS) == {"a"}
    assert rows.list_changed_around(now_ms - 2 * DAY_MS, DAY_MS) == set()


async def test_first_page():
    """An isolate reads the first page again, although it remembers one of the future."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_until_idle()
    store = StoredSnapshot(KV(news.snapshot_kv, news.clock), news.remote_state, news.clock)
    first = await store.read_first_page()
    store.memory.first_page = None
    store.memory.first_page_until = news.clock.now() + DAY_S
    assert first is not None
    assert await store.read_first_page() is not None
    assert store.memory.first_page_until == news.clock.now() + REMEMBERED_S


@pytest.mark.parametrize("back_s", [1.0, float(DAY_S)])
def test_writes_to_kv(back_s: float):
    """A write to a key that was written before the jump waits no longer than writes wait for each other."""
    pacer = WritePacer()
    pacer.record_write("key", 2.0 * DAY_S)
    assert pacer.reserve("key", 2.0 * DAY_S - back_s) <= MAX_QUEUED_S
