"""Draining the queue, one invocation at a time, within the limits of the origin and of the platform."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sluice.core.ports import Clock
from sluice.core.preload.rate_limits import Limits
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.queue import DueTimes, Queue
from sluice.services.preload.warming.grant_store import GrantStore
from sluice.services.preload.warming.settle_page import PageSettler
from sluice.services.preload.warming.warm_page import PageWarmer
from sluice.services.preload.zone.state import ZoneState

INTERVAL_S: Final = 30.0  # the longest pause while anything waits
PATIENCE_S: Final = 2.0  # a longer pause is spent between two alarms, where it costs nothing
LOOK_S: Final = 1.0  # how soon a new page is noticed while another one hangs
POLL_S: Final = 0.1  # how often a request of an earlier invocation is looked for
LEASE_S: Final = 90.0  # 30 s for the origin, the rest for storing, with room to spare
PAGE_COST: Final = 6  # subrequests for one page: the origin, D1 twice, R2, the edge, and one to spare
MAX_PAGES: Final = 150  # of one invocation: D1 allows it 1,000 queries even on the paid plan, and a page takes five
MAX_CONNECTIONS: Final = 6  # that the platform lets wait for headers at once; more would only stand in its queue
OVERHEAD: Final = 8  # subrequests for the log, the mirror and the alerts: two of each, and two to spare


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more to do before `until`; None: nothing at all."""

    until: float | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so long, or without a number until a page under way is done."""

    seconds: float | None


@dataclass(slots=True, kw_only=True)
class Drain:
    clock: Clock
    state: ZoneState
    queue: Queue
    grants: GrantStore
    warmer: PageWarmer
    settler: PageSettler
    subrequests: int
    # Whether something more urgent waits for the end of this invocation.
    is_interrupted: Callable[[], bool]
    # Each page under way, with the id of its entry.
    _tasks: dict[asyncio.Task[None], int] = field(default_factory=dict)
    _started: int = 0

    async def run(self) -> float | None:
        """Warms what may be warmed now; returns when to run again, None when there is no reason to."""
        self._started = 0
        while True:
            match self._start_next():
                case Stop(until=until) if not self._tasks:
                    return until
                case Stop():
                    await self._wait(None)
                case Wait(seconds=seconds):
                    await self._wait(seconds)

    @property
    def _max_pages(self) -> int:
        return min(MAX_PAGES, max(1, (self.subrequests - OVERHEAD) // PAGE_COST))

    def _start_next(self) -> Stop | Wait | None:
        """Starts the next page and returns None, or returns what to wait for."""
        now, config = self.clock.now(), self.state.config
        if config is None or self.state.is_held:
            return Stop(None)
        if self.is_interrupted():
            return Stop(now)
        due = self._recover_due(now, by_hand=not config.preload_enabled)
        if not due.is_ready and due.retry_at is None:
            return Wait(LOOK_S) if self._tasks else Stop(due.lease_ends_at)
        if self._started >= self._max_pages:
            return Stop(now)
        due_at = 0.0 if due.is_ready else due.retry_at or 0.0
        earliest = max(due_at, self._held_until(now))
        if earliest > now:
            return self._wait_until(earliest, now)
        return self._start_page(config, now)

    def _recover_due(self, now: float, *, by_hand: bool) -> DueTimes:
        """Makes entries ready whose backoff or lease is over; only those wanted by hand count in a zone that is switched off."""
        due = self.queue.load_due_times(by_hand=by_hand)
        retries = due.retry_at is not None and due.retry_at <= now
        ended = due.lease_ends_at is not None and due.lease_ends_at <= now
        if retries:
            self.queue.release_due_retries(now)
        if ended:
            for entry in self.queue.reclaim(now, self._tasks.values()):
                self.settler.give_up(entry, now)
        return self.queue.load_due_times(by_hand=by_hand) if retries or ended else due

    def _held_until(self, now: float) -> float:
        """Until when no page may be fetched, because of the breaker or of a 429."""
        breaker = self.state.breaker.at(now)
        open_until = breaker.open_until if breaker.state == "open" else 0.0
        return float(max(open_until, self.state.get("hold_until", default=0.0)))

    def _wait_until(self, earliest: float, now: float) -> Stop | Wait:
        if earliest - now <= PATIENCE_S or self._tasks:
            return Wait(earliest - now)
        return Stop(min(earliest, now + INTERVAL_S))

    def _start_page(self, config: ZoneConfig, now: float) -> Stop | Wait | None:
        breaker = self.state.breaker.at(now)
        self.state.put_breaker(breaker)
        in_flight = self.grants.count_in_flight(now)
        wait_s = self.grants.next_wait_s(Limits.from_config(config), now) if breaker.may_fetch(in_flight) else None
        if wait_s is None or len(self._tasks) >= MAX_CONNECTIONS:
            return Wait(None if self._tasks else POLL_S)
        if wait_s > 0:
            return self._wait_until(now + wait_s, now)
        lease = self.queue.lease_probe if breaker.state == "half-open" else self.queue.lease
        entry = lease(now, LEASE_S, by_hand=not config.preload_enabled)
        if entry is not None:
            grant_id = self.grants.grant(now)
            self._started += 1
            task = asyncio.ensure_future(self.warmer.warm(entry, config, grant_id, breaker.era))
            self._tasks[task] = entry.id
        return None

    async def _wait(self, seconds: float | None) -> None:
        sleep = None if seconds is None else asyncio.ensure_future(self.clock.sleep(seconds))
        pending: set[asyncio.Task[None]] = {*self._tasks, *([sleep] if sleep else [])}
        done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        if sleep and sleep not in done:
            sleep.cancel()
        for task in done & self._tasks.keys():
            del self._tasks[task]
            task.result()
