"""Draining the queue, one invocation at a time: within the limits of the origin and of the platform."""

import asyncio
from dataclasses import dataclass, field
from typing import Final

from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.dead_letters import DeadLetters
from sluice.services.preload.queue.queue import Entry, Queue
from sluice.services.preload.warming.grant_store import Limits, Throttle
from sluice.services.preload.warming.warm_page import Warming
from sluice.services.preload.zone.outbox import Outbox
from sluice.services.preload.zone.state import State

INTERVAL_S: Final = 30.0  # the longest pause while anything waits
PATIENCE_S: Final = 2.0  # a longer pause is spent outside, where it costs nothing
LOOK_S: Final = 1.0  # how soon a new page is noticed while others are under way: one that hangs holds nobody up
LEASE_S: Final = 90.0  # 30 s for the origin, the rest for storing, with room to spare
PAGE_COST: Final = 6  # calls for one page: the origin, D1 twice, R2, the edge, and one to spare
OVERHEAD: Final = 5  # calls for the log, the mirror and the alerts


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more to do before that time; None: nothing at all."""

    until: float | None


@dataclass(frozen=True, slots=True)
class Wait:
    """For so long, or until a page under way is done when only that can help."""

    seconds: float | None


@dataclass(slots=True)
class Drain:
    warming: Warming
    subrequests: int
    # Each page under way, with the id of its entry.
    _tasks: dict[asyncio.Task[None], int] = field(default_factory=dict)
    _started: int = 0

    async def run(self) -> float | None:
        """Warm what may be warmed now; returns when to come again, None when there is no reason to."""
        self._started = 0
        while True:
            step = self._next()
            if isinstance(step, Stop):
                if not self._tasks:
                    return step.until
                await self._wait(None)
            elif isinstance(step, Wait):
                await self._wait(step.seconds)

    @property
    def _pages_allowed(self) -> int:
        return max(1, (self.subrequests - OVERHEAD) // PAGE_COST)

    def _next(self) -> Stop | Wait | None:
        """Start the next page (None), or tell what to wait for."""
        warming = self.warming
        now, state = warming.clock.now(), State(warming.sql)
        zone = state.zone
        if zone is None or not zone.preload_enabled or state.get("paused", default=False):
            return Stop(None)
        self._recover(now)
        due_at = Queue(warming.sql).next_due_at()
        if due_at is None:
            return Wait(LOOK_S) if self._tasks else Stop(Queue(warming.sql).lease_ends_at())
        if self._started >= self._pages_allowed:
            return Stop(now)
        earliest = max(due_at, self._held_until(state, now))
        if earliest > now:
            return self._later(earliest, now)
        return self._start(zone, state, now)

    def _recover(self, now: float) -> None:
        queue = Queue(self.warming.sql)
        queue.wake(now)
        for entry in queue.reclaim(now, self._tasks.values()):
            self._give_up(entry, now)

    def _held_until(self, state: State, now: float) -> float:
        breaker = state.breaker.at(now)
        opened = breaker.open_until if breaker.state == "open" else 0.0
        return float(max(opened, state.get("hold_until", default=0.0)))

    def _later(self, earliest: float, now: float) -> Stop | Wait:
        if earliest - now <= PATIENCE_S or self._tasks:
            return Wait(earliest - now)
        return Stop(min(earliest, now + INTERVAL_S))

    def _start(self, zone: ZoneConfig, state: State, now: float) -> Stop | Wait | None:
        sql = self.warming.sql
        breaker = state.breaker
        if (current := breaker.at(now)) != breaker:
            state.keep_breaker(current)
        throttle = Throttle(sql)
        if not current.may_fetch(throttle.in_flight(now)):
            return Wait(None if self._tasks else 0.1)
        wait_s = throttle.wait_s(Limits.of(zone), now)
        if wait_s is None:
            return Wait(None if self._tasks else 0.1)
        if wait_s > 0:
            return self._later(now + wait_s, now)
        entry = Queue(sql).lease(now, LEASE_S)
        if entry is not None:
            flight = throttle.grant(now)
            self._started += 1
            self._tasks[asyncio.ensure_future(self.warming.warm(entry, zone, flight, current.era))] = entry.id
        return None

    async def _wait(self, seconds: float | None) -> None:
        sleep = None if seconds is None else asyncio.ensure_future(self.warming.clock.sleep(seconds))
        pending: set[asyncio.Task[None]] = {*self._tasks, *([sleep] if sleep else [])}
        done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        if sleep and sleep not in done:
            sleep.cancel()
        for task in done & self._tasks.keys():
            del self._tasks[task]
            task.result()

    def _give_up(self, entry: Entry, now: float) -> None:
        """A page on which the Worker died again and again."""
        sql = self.warming.sql
        reason = "the Worker ended in the middle of it too often"
        DeadLetters(sql).add(entry, status=None, reason=reason, now=now)
        Queue(sql).finish(entry, "failed", now)
        Outbox(sql).log(self.warming.zone_id, entry.url, "failed", now=now, detail=reason)
