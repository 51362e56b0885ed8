"""Draining the queue, one invocation at a time, within the limits of the origin and of the platform.

- A page is leased for a limited time, and its request to the origin has a grant that is stored before it is sent. So a crash
  loses no page, and no limit of the origin is exceeded after it. A page on which the Worker crashes repeatedly is given up.
- Nothing is sent while the breaker is open or the origin has asked for a pause (429); a half-open breaker lets one page try.
- An invocation may make only so many subrequests, and lasts only so long. It starts pages as far as both allow, and returns
  the time at which the next one should run: short waits are spent here, long ones between two alarms, where they cost nothing.

Pages that hang must not stop those that do not:

- While others wait, slow requests take at most half of the zone's places, but always one. Beyond that the youngest is preempted as soon as
  it is slow, because least of the origin's work is lost with it.
- A preempted page goes behind all others. There it is late: it is not preempted again, so that it ends some day. Late pages
  take half of the places at most, so that a new page finds one at once.
- When an invocation may start no more, slow pages make way for the next one, the youngest first.
- What is slow depends on the origin: several times what its good responses take.
- A page on its last attempt is not preempted, since that would make it a failure; nor is any that began while the breaker was not
  closed.
- While nothing but slow requests is heard of, one page from the end of the queue is tried: the first ones may be of the kind
  that hangs, and others may not.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sluice.core.ports import Clock
from sluice.core.preload.queue_entries import QueueEntry
from sluice.core.preload.rate_limits import SLOW_S, OriginLimits
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.queue import DueTimes, Queue
from sluice.services.preload.warming.grant_store import GrantStore
from sluice.services.preload.warming.origin import TIMEOUT_S, OriginWait
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
MAX_RUN_S: Final = 300.0  # of one invocation, which the platform cuts off after 15 minutes
MAX_CONNECTIONS: Final = 6  # that the platform lets wait for headers at once; more would only stand in its queue
OVERHEAD: Final = 8  # subrequests for the log, the mirror and the alerts: two of each, and two to spare
# A request is slow if it takes so many times what good ones take, and at least SLOW_S; without good ones, after so long.
SLOW_FACTOR: Final = 10
UNKNOWN_SLOW_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Stop:
    """Nothing more to do before `until`; None: nothing at all."""

    until: float | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait so long, or without a number until a page under way is done."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class PageInFlight:
    """A page under way; one that is late, or on its last attempt, gives way to nobody."""

    entry: QueueEntry
    began_at: float
    wait: OriginWait
    is_late: bool
    is_preemptible: bool
    is_probe: bool


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
    _tasks: dict[asyncio.Task[None], PageInFlight] = field(default_factory=dict)
    _started: int = 0
    _began_at: float = 0.0

    async def run(self) -> float | None:
        """Warm what may be warmed now; return when to run again, None when there is no reason to."""
        self._started, self._began_at = 0, self.clock.now()
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
        """Start the next page and return None, or return what to wait for."""
        now, config = self.clock.now(), self.state.config
        if config is None or self.state.is_held:
            return Stop(None)
        if self.is_interrupted():
            return self._finish_run(now, has_others=True)
        due = self._recover_due(now, by_hand=not config.preload_enabled)
        is_full = due.has_late and self._count_late() >= OriginLimits.from_config(config).slow_slots
        is_ready = due.is_ready or (due.has_late and not is_full)
        if not is_ready and due.retry_at is None:
            return Wait(LOOK_S) if self._tasks else Stop(due.lease_ends_at)
        if self._started >= self._max_pages or now - self._began_at >= MAX_RUN_S:
            return self._finish_run(now, has_others=due.is_ready)
        due_at = 0.0 if is_ready else due.retry_at or 0.0
        earliest = max(due_at, self._held_until(now))
        if earliest > now:
            return self._wait_until(min(earliest, now + LOOK_S) if is_full else earliest, now)
        return self._start_page(config, now, due)

    def _recover_due(self, now: float, *, by_hand: bool) -> DueTimes:
        """Make entries ready whose backoff or lease is over; only those wanted by hand count in a zone that is switched off."""
        due = self.queue.load_due_times(by_hand=by_hand)
        retries = due.retry_at is not None and due.retry_at <= now
        ended = due.lease_ends_at is not None and due.lease_ends_at <= now
        if retries:
            self.queue.release_due_retries(now)
        if ended:
            for entry in self.queue.reclaim(now, [flight.entry.id for flight in self._tasks.values()]):
                self.settler.give_up(entry, now)
        return self.queue.load_due_times(by_hand=by_hand) if retries or ended else due

    def _held_until(self, now: float) -> float:
        """Return until when no page may be fetched, because of the breaker or of a 429."""
        breaker = self.state.breaker.at(now)
        open_until = breaker.open_until if breaker.state == "open" else 0.0
        return float(max(open_until, self.state.get("hold_until", default=0.0)))

    def _wait_until(self, earliest: float, now: float) -> Stop | Wait:
        if earliest - now <= PATIENCE_S or self._tasks:
            return Wait(earliest - now)
        return Stop(min(earliest, now + INTERVAL_S))

    def _start_page(self, config: ZoneConfig, now: float, due: DueTimes) -> Stop | Wait | None:
        breaker, limits = self.state.breaker.at(now), OriginLimits.from_config(config)
        self.state.put_breaker(breaker)
        in_flight = self.grants.count_in_flight(now)
        wait_s = self.grants.next_wait_s(limits, now) if breaker.may_fetch(in_flight) else None
        if wait_s is None or len(self._tasks) >= MAX_CONNECTIONS:
            if not self._tasks:
                return Wait(POLL_S)
            can_preempt = due.is_ready and breaker.state == "closed"
            return self._preempt_slow_request(now, limits.slow_slots) if can_preempt else Wait(None)
        if wait_s > 0:
            # The more requests are slow, the fewer places are kept for those that timed out.
            return Wait(min(wait_s, LOOK_S)) if self._tasks else self._wait_until(now + wait_s, now)
        is_late, is_probe = not due.is_ready, breaker.state == "half-open" or self._is_stuck(now)
        entry = self._lease(config, now, is_late=is_late, is_probe=is_probe)
        if entry is not None:
            is_preemptible = breaker.state == "closed" and not is_late and entry.attempt < config.preload_retry_max
            wait, grant_id = OriginWait(), self.grants.grant(now)
            task = asyncio.ensure_future(self.warmer.warm(entry, config, grant_id, breaker.era, wait))
            self._tasks[task] = PageInFlight(entry, now, wait, is_late, is_preemptible, is_probe)
            self._started += 1
        return None

    def _lease(self, config: ZoneConfig, now: float, *, is_late: bool, is_probe: bool) -> QueueEntry | None:
        by_hand, is_half_open = not config.preload_enabled, self.state.breaker.state == "half-open"
        if is_half_open:
            return self.queue.lease_probe(now, LEASE_S, by_hand=by_hand)
        if is_late:
            return self.queue.lease_late(now, LEASE_S, by_hand=by_hand)
        lease = self.queue.lease_last if is_probe else self.queue.lease
        return lease(now, LEASE_S, by_hand=by_hand)

    def _count_late(self) -> int:
        return sum(flight.is_late for flight in self._tasks.values())

    def _preempt_slow_request(self, now: float, slow_slots: int) -> Wait:
        """End the wait for the youngest of the slow requests, if these take more than their share of the places."""
        slow_s = self._find_slow_s(now)
        flights = sorted(self._tasks.values(), key=lambda flight: flight.began_at)
        slow = [flight for flight in flights if flight.wait.is_under_way and flight.began_at + slow_s <= now]
        if len(slow) > slow_slots:
            for flight in [flight for flight in slow[slow_slots:] if flight.is_preemptible][-1:]:
                flight.wait.end()
                return Wait(None)
        next_s = [flight.began_at + slow_s - now for flight in flights if flight.began_at + slow_s > now]
        return Wait(min(next_s, default=None))

    def _finish_run(self, now: float, *, has_others: bool) -> Stop | Wait:
        """Wait for the pages under way, for slow ones only if no others wait for the next invocation."""
        if has_others and self._tasks:
            return self._preempt_slow_request(now, 0)
        return Stop(now)

    def _find_slow_s(self, now: float) -> float:
        mean_ms = self.settler.alerts.load_good_latency_ms(now)
        return min(TIMEOUT_S, max(SLOW_S, SLOW_FACTOR * mean_ms / 1000)) if mean_ms else UNKNOWN_SLOW_S

    def _is_stuck(self, now: float) -> bool:
        """Return whether nothing but slow requests is heard of, and no page from elsewhere in the queue is being tried."""
        oldest = min((flight.began_at for flight in self._tasks.values()), default=now)
        if now - oldest < SLOW_S or any(flight.is_probe for flight in self._tasks.values()):
            return False
        slow_s = self._find_slow_s(now)
        return now - oldest >= slow_s and not self.settler.alerts.has_answered_since(now - slow_s)

    async def _wait(self, seconds: float | None) -> None:
        sleep = None if seconds is None else asyncio.ensure_future(self.clock.sleep(seconds))
        pending: set[asyncio.Task[None]] = {*self._tasks, *([sleep] if sleep else [])}
        done, _ = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        if sleep and sleep not in done:
            sleep.cancel()
        for task in done & self._tasks.keys():
            del self._tasks[task]
            task.result()
