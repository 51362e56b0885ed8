"""A zone's object: the one truth about its queue. Every method takes and returns plain JSON values."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.errors import NotFound, SluiceError
from sluice.core.ports import Alarm, Sql
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.enqueue import Order
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.warming.drain import INTERVAL_S, Drain
from sluice.services.preload.zone.configuration import Publishing
from sluice.services.preload.zone.housekeeping import CANDIDATES, Housekeeping
from sluice.services.preload.zone.operator_calls import OperatorCalls
from sluice.services.preload.zone.outbox import Outbox
from sluice.services.preload.zone.requests_shared import Call, Desk, Json, Settings
from sluice.services.preload.zone.schema import create_tables
from sluice.services.preload.zone.services import Outside, Parts
from sluice.services.preload.zone.signed_calls import SignedCalls

FILES_AT_ONCE: Final = 3  # sitemaps read in one invocation
ALARM_PRECISION_S: Final = 0.01
MIRROR_INTERVAL_S: Final = 10.0
MIRRORS_AT_ONCE: Final = 5  # writes in a row, a second apart, before somebody else may go on


@dataclass(slots=True)
class ZoneObject:
    sql: Sql
    alarm: Alarm
    outside: Outside
    settings: Settings
    _mirroring: bool = field(default=False)
    _purging: bool = field(default=False)

    def __post_init__(self) -> None:
        """A new life of the object: whatever was under way in the last one has no one left to finish it."""
        create_tables(self.sql)
        now, origin = self.outside.clock.now(), self.parts.origin
        hold_s = origin.hold_s()
        origin.throttle.abandon(now, hold_s)
        Queue(self.sql).shorten_leases(now + hold_s)

    @property
    def parts(self) -> Parts:
        return Parts(self.sql, self.outside)

    @property
    def desk(self) -> Desk:
        return Desk(self.parts, self.settings, self._wake)

    async def call(self, zone_id: str, method: str, given: Json) -> Json:
        """Do what is asked by name; the zone's own name comes along, since the object is not told it otherwise."""
        if method == "configure":
            self.parts.state.put("zone_id", zone_id)
            return await OperatorCalls(self.desk).configure(given)
        zone = self._zone(zone_id)
        own: dict[str, Call] = {"settle": self._settle, "tick": self._tick}
        handlers = SignedCalls(self.desk).table | OperatorCalls(self.desk).table | own
        return await handlers[method](zone, given)

    async def ring(self) -> None:
        """The alarm: purges first, then sitemaps, then pages; whatever fails, it rings again."""
        # In case this invocation is cut off before its end.
        fallback_at = self.parts.now() + INTERVAL_S
        await self.alarm.set(fallback_at)
        next_at: float | None = fallback_at
        try:
            next_at = await self._work()
        except Exception as error:  # noqa: BLE001 - an alarm that fails too often would be given up by the platform
            self.outside.tell("drain.failed", error)
        await self._afterwards()
        if next_at is None and Outbox(self.sql).waiting:
            next_at = self.parts.now() + INTERVAL_S
        await self._ring_next(next_at, fallback_at)

    async def _ring_next(self, next_at: float | None, fallback_at: float) -> None:
        """Set the alarm, unless somebody has set it meanwhile to ring sooner."""
        set_at = await self.alarm.get()
        untouched = set_at is None or abs(set_at - fallback_at) < ALARM_PRECISION_S
        if next_at is None:
            if untouched:
                await self.alarm.delete()
        elif set_at is None or untouched or next_at < set_at:
            await self.alarm.set(max(next_at, self.parts.now()))

    async def _work(self) -> float | None:
        await self._run_purges()
        state, zone = self.parts.state, self.parts.state.zone
        if zone is None:
            return None
        times = [await self._crawl(zone)]
        if not state.get("paused", default=False):
            times.append(await Drain(self.parts.warming, self.settings.subrequests).run())
        now = self.parts.now()
        known = [min(time, now + INTERVAL_S) for time in times if time is not None]
        return min(known) if known else None

    async def _crawl(self, zone: ZoneConfig) -> float | None:
        crawl, state, now = self.parts.crawl, self.parts.state, self.parts.now()
        stands_still = state.get("paused", default=False) or not zone.preload_enabled
        if crawl.next_due_at() is None or stands_still:
            return None
        if state.breaker.at(now).state == "open":
            return state.breaker.open_until
        facts = await Housekeeping(self.parts).facts_of_busiest(CANDIDATES)
        for _ in range(FILES_AT_ONCE):
            if not await crawl.step(zone, facts):
                break
        return crawl.next_due_at()

    async def _afterwards(self) -> None:
        """Bring the log, the alerts and the mirror out; what fails is tried again by the next minute's cron."""
        try:
            await Publishing(self.parts).publish()
            await Outbox(self.sql).flush(self.outside.database)
            await Outbox(self.sql).deliver(self.settings.post_webhook)
            if not Queue(self.sql).depth or self._mirror_is_old():
                await self._mirror()
        except SluiceError as error:
            self.outside.tell("publish.failed", error)

    def _mirror_is_old(self) -> bool:
        """While the queue drains, a mirror every few seconds is enough: each one is a write that KV charges for."""
        return bool(self.parts.now() - self.parts.state.get("mirrored_at", default=0) >= MIRROR_INTERVAL_S)

    async def _mirror(self) -> None:
        """One writer at a time: it writes again what changed while it wrote."""
        if self._mirroring:
            return
        self._mirroring = True
        try:
            for _ in range(MIRRORS_AT_ONCE):
                if not await Publishing(self.parts).mirror():
                    break
        finally:
            self._mirroring = False

    async def _wake(self) -> None:
        """Ring now, or as soon as the ringing under way is over."""
        now = self.parts.now()
        rings_at = await self.alarm.get()
        if rings_at is None or rings_at > now:
            await self.alarm.set(now)

    def _zone(self, zone_id: str) -> ZoneConfig:
        zone = self.parts.state.zone
        if zone is None:
            raise NotFound(f"the zone {zone_id} is not registered; PUT /api/v1/zones/{zone_id}/config first")
        return zone

    async def _settle(self, zone: ZoneConfig, _given: Json) -> Json:
        """What a signed request leaves for later: run by waitUntil, and by the alarm if that dies."""
        await self._run_purges()
        await self._mirror()
        return {"depth": Queue(self.sql).depth, "post_purge": zone.preload_post_purge}

    async def _run_purges(self) -> None:
        zone = self.parts.state.zone
        if self._purging or zone is None:
            return
        self._purging = True
        try:
            for purge_id, urls in await self.parts.purging.run():
                await self._warm_again(zone, urls)
                self.parts.purging.done(purge_id)
        finally:
            self._purging = False

    async def _warm_again(self, zone: ZoneConfig, urls: list[str]) -> None:
        if not (zone.preload_enabled and zone.preload_post_purge and urls):
            return
        facts = await self.desk.facts(urls) if len(urls) <= CANDIDATES else {}
        order = Order(batch_id=self.desk.new_id("preload"), trigger="post-purge", urls=urls)
        self.parts.enqueueing.place(order, zone, facts, self.parts.now())
        await self._wake()

    async def _tick(self, _zone: ZoneConfig, _given: Json) -> Json:
        """The minute's cron."""
        await Publishing(self.parts).adopt()
        zone = self._zone(self.parts.zone_id)
        await self._run_purges()
        await Housekeeping(self.parts).tick(zone, self.settings.deployment)
        await self._afterwards()
        if Queue(self.sql).depth or self.parts.crawl.next_due_at() is not None:
            await self._wake()
        return {"depth": Queue(self.sql).depth}
