"""The object of one zone: the only writer of its queue. It answers calls, and works when its alarm rings."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Alarm, Sql
from sluice.core.preload.purges import Purge
from sluice.core.preload.zone_config import ZoneConfig
from sluice.core.remote import Message, answer_calls
from sluice.services.preload.queue.enqueue import PageOrder
from sluice.services.preload.queue.queue import TALLIES, QueueCounters
from sluice.services.preload.serving.purging import PurgeRound
from sluice.services.preload.warming.drain import INTERVAL_S
from sluice.services.preload.zone.clock_watch import MAX_WEBHOOK_WAIT_S, ClockWatch
from sluice.services.preload.zone.housekeeping import Housekeeping
from sluice.services.preload.zone.operator_calls import OperatorCalls
from sluice.services.preload.zone.schema import create_tables
from sluice.services.preload.zone.services import Dependencies, ObjectStorage, ZoneServices
from sluice.services.preload.zone.settings import PreloadSettings
from sluice.services.preload.zone.signed_calls import SignedCalls
from sluice.services.preload.zone.state import ZoneState
from sluice.services.preload.zone.visitor_calls import VisitorCalls

FILES_AT_ONCE: Final = 3  # sitemaps read in one invocation
ALARM_PRECISION_S: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWork:
    """What waits: accepted purges, pages, rows for D1 and the webhook, and when the next sitemap may be read."""

    has_purges: bool
    has_pages: bool
    has_rows: bool
    sitemap_due_at: float | None
    tallies: QueueCounters


class BackgroundWork:
    """What the object does without a caller waiting: purges, sitemaps, warming, and sending its rows out."""

    def __init__(self, services: ZoneServices) -> None:
        self.services = services
        self.clock_watch = ClockWatch(services)
        self._is_purging = False
        # Whether the last invocation read sitemaps: the next one warms pages, so that neither waits for all of the other.
        self._has_crawled = False

    def recover(self) -> None:
        """End what was under way when the object last stopped, because nothing will finish it."""
        services, now = self.services, self.services.now()
        hold_s = services.origin.hold_s()
        services.grants.abandon(now, hold_s)
        services.queue.shorten_all(now + hold_s)
        self.clock_watch.clamp_waits()

    async def handle_alarm(self) -> None:
        """Carry out purges, read sitemaps, warm pages; then set the next alarm, even after a failure."""
        self.clock_watch.look()
        # In case this invocation is cut off before its end.
        fallback_at = self.services.now() + INTERVAL_S
        await self.services.alarm.set(fallback_at)
        next_at: float | None = fallback_at
        try:
            next_at = await self._work()
        except Exception as error:  # noqa: BLE001 - the platform gives up an alarm that fails too often
            self.services.log.error("drain.failed", error)
        is_published = await self._publish(has_rows=True)
        if next_at is None and not is_published:
            next_at = self.services.now() + INTERVAL_S
        await self._set_next_alarm(next_at, fallback_at)

    async def settle(self) -> None:
        """Do the rest of a signed request. It runs after the reply; if it crashes, the alarm does the same."""
        if self._load_pending_work().has_purges:
            await self.carry_out_purges()
        await self.services.mirror.write()

    async def tick(self) -> None:
        """Do what the cron asks for each minute."""
        services = self.services
        services.require_registered()
        self.clock_watch.look()
        await services.publisher.adopt_edits()
        await Housekeeping(services).run_due(services.config)
        await services.origin_cron.call(services.config)
        await services.agent_watch.look_if_due(services.config)
        pending = self._load_pending_work()
        await self._publish(has_rows=pending.has_rows, tallies=pending.tallies)
        has_work = pending.has_pages or pending.has_purges or pending.sitemap_due_at is not None
        if has_work or services.state.wants_origin_check:
            await services.wake()

    async def _set_next_alarm(self, next_at: float | None, fallback_at: float) -> None:
        """Set the alarm, unless a call has meanwhile set it to an earlier time."""
        alarm = self.services.alarm
        set_at = await alarm.get()
        is_untouched = set_at is None or abs(set_at - fallback_at) < ALARM_PRECISION_S
        if next_at is None:
            if is_untouched:
                await alarm.delete()
        elif set_at is None or is_untouched or next_at < set_at:
            await alarm.set(max(next_at, self.services.now()))

    async def _work(self) -> float | None:
        """Return when there is more to do; None when there is nothing."""
        pending, config = self._load_pending_work(), self.services.state.config
        if pending.has_purges:
            # A round leaves no room for other calls to the platform, so they wait for the next alarm.
            await self.carry_out_purges()
            return self.services.now()
        if config is None:
            return None
        if self.services.state.wants_origin_check:
            await self.services.origin_check.run(config)
            return self.services.now()
        sitemap_at = self._find_crawl_time(pending, config)
        if sitemap_at is not None and sitemap_at <= self.services.now() and not self._has_crawled:
            # Sitemaps and pages have an invocation of their own each, because both need its subrequests.
            self._has_crawled = True
            await self._crawl_sitemaps(config)
            return self.services.now()
        self._has_crawled = False
        page_at = None if self.services.state.is_held else await self.services.build_drain().run()
        latest = self.services.now() + INTERVAL_S
        return min((min(time, latest) for time in (sitemap_at, page_at) if time is not None), default=None)

    def _load_pending_work(self) -> PendingWork:
        """Read in one statement what waits, so that an invocation with nothing to do costs little."""
        [row] = self.services.sql.rows(
            f"""SELECT EXISTS (SELECT 1 FROM purge) AS has_purges, EXISTS (SELECT 1 FROM entry) AS has_pages,
                  EXISTS (SELECT 1 FROM outbox) AS has_rows, {TALLIES},
                  (SELECT min(due_at) FROM crawl WHERE state = 'pending') AS sitemap_due_at FROM queue_tally"""  # noqa: S608
        )
        due_at = row["sitemap_due_at"]
        return PendingWork(
            has_purges=bool(row["has_purges"]),
            has_pages=bool(row["has_pages"]),
            has_rows=bool(row["has_rows"]),
            sitemap_due_at=None if due_at is None else float(due_at),
            tallies=QueueCounters.parse(row),
        )

    def _find_crawl_time(self, pending: PendingWork, config: ZoneConfig) -> float | None:
        """Return when the next sitemap may be read; None when there is none, or none is to be read now."""
        state = self.services.state
        if pending.sitemap_due_at is None or state.is_held or not config.preload_enabled:
            return None
        breaker = state.breaker.at(self.services.now())
        return breaker.open_until if breaker.state == "open" else pending.sitemap_due_at

    async def _crawl_sitemaps(self, config: ZoneConfig) -> None:
        for _ in range(FILES_AT_ONCE):
            if not await self.services.crawl.read_next_file(config):
                break

    async def _publish(self, *, has_rows: bool, tallies: QueueCounters | None = None) -> bool:
        """Send the configuration, the log, the alerts and the mirror out; return whether nothing is left to send."""
        services = self.services
        try:
            if not services.state.is_published:
                await services.publisher.publish()
            is_flushed = not has_rows or await services.outbox.flush(services.outside.database)
            await services.mirror.write_if_due(tallies or services.queue.load_tallies())
        except SluiceError as error:
            services.log.error("publish.failed", error)
            return False
        return (await self._deliver_alerts() if has_rows else True) and is_flushed

    async def _deliver_alerts(self) -> bool:
        """Post alerts to the webhook; after a failure it waits, longer each time, and nothing else waits with it."""
        services, state, now = self.services, self.services.state, self.services.now()
        failures, due_at = state.get("webhook_failures", default=[0, 0])
        if now < due_at:
            return True
        try:
            is_delivered = await services.outbox.deliver(services.webhook.post)
        except SluiceError as error:
            services.log.error("webhook.failed", error)
            wait_s = min(MAX_WEBHOOK_WAIT_S, INTERVAL_S * 2**failures)
            state.put(webhook_failures=[failures + 1, now + wait_s])
            return True  # the minute's cron tries again
        if failures:
            state.put(webhook_failures=[0, 0])
        return is_delivered

    async def carry_out_purges(self) -> None:
        """Do one round of the oldest purge. Its pages are enqueued before they are removed, so that a crash loses none."""
        purger = self.services.purger
        purge = purger.load_next()
        if purge is None or self._is_purging:
            return
        self._is_purging = True
        try:
            found = await purger.find(purge)
            await self._warm_again(purge, found)
            await purger.remove(purge, found, self.services.now())
        finally:
            self._is_purging = False

    async def _warm_again(self, purge: Purge, found: PurgeRound) -> None:
        """Enqueue the pages of a round; all rounds of a purge are one batch."""
        services, config, now = self.services, self.services.state.config, self.services.now()
        batch_id = f"preload-{purge.purge_id.removeprefix('purge-')}"
        if found.is_last:
            # Also where nothing is warmed any more after a purge: the batch has the pages of earlier rounds.
            services.batches.end_crawl(batch_id, now)
            return
        if config is None or not (config.preload_enabled and config.preload_post_purge):
            return
        urls = list(dict.fromkeys(page.url for page in found.pages))
        order = PageOrder(batch_id=batch_id, trigger="post-purge", urls=urls)
        facts = await services.load_facts(urls)
        if not services.purger.is_accepted(purge):
            return  # the zone was deleted meanwhile
        # First, because a full queue may drop all pages of this round, and others follow.
        services.batches.open(batch_id, order.trigger, now)
        services.batches.begin_crawl(batch_id)
        services.enqueuer.enqueue(order, config, facts, now)


class ZoneCalls(SignedCalls, OperatorCalls, VisitorCalls):
    """What a zone can be asked for: each public method is a call, whose caller has `calls.Zones` give it a zone."""

    def __init__(self, services: ZoneServices) -> None:
        super().__init__(services)
        self.background = BackgroundWork(services)

    async def settle(self) -> None:
        self.services.require_registered()
        await self.background.settle()

    async def tick(self) -> None:
        await self.background.tick()


class ZoneObject:
    def __init__(self, sql: Sql, alarm: Alarm, outside: Dependencies, settings: PreloadSettings) -> None:
        create_tables(sql)
        self._storage = ObjectStorage(sql, alarm, ZoneState(sql))
        self._outside = outside
        self._settings = settings
        self._calls: ZoneCalls | None = None

    def calls(self, zone_id: str) -> ZoneCalls:
        """Return the zone's parts, built once. A call brings the zone's id, because a new object does not know it."""
        if self._calls is None:
            services = ZoneServices(zone_id, self._storage, self._outside, self._settings)
            self._calls = ZoneCalls(services)
            self._calls.background.recover()
        return self._calls

    async def call(self, zone_id: str, name: str, message: Message) -> Message:
        """Handle one call that came over RPC."""
        return await answer_calls(ZoneCalls)(self.calls(zone_id), name, message)

    async def handle_alarm(self) -> None:
        """Handle the alarm; a zone that was never registered has nothing to do."""
        zone_id = self._storage.state.get("zone_id")
        if zone_id is not None:
            await self.calls(str(zone_id)).background.handle_alarm()
