"""The rate-limit window: a fixed window for each client, counted exactly inside the client's Durable Object."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sluice.core.ports import Alarm, Clock, Sql

# How long after its end a window is deleted. A client that comes back earlier would only create it again.
_LINGER_S: Final = 60


@dataclass(frozen=True, slots=True)
class RateLimitDecision:
    """Whether one more request is allowed, and when the window ends in epoch seconds."""

    allowed: bool
    count: int
    reset_at: float


class RateLimitCalls(Protocol):
    """What the Durable Object of one client does."""

    async def count_request(
        self, max_requests: int, window_s: int, *, cost: int = 1, owed: int = 0
    ) -> RateLimitDecision: ...


def decide(
    known: tuple[int, float] | None, now: float, max_requests: int, window_s: int, *, cost: int = 1, owed: int = 0
) -> RateLimitDecision:
    """Decide by the count so far and the end of its window. What is owed was served before and counts in any case.

    A window that ends later than a new one would is ignored: the limits have changed, or the clock was set back.
    """
    if known is None or not now < known[1] <= now + window_s:
        known = (0, now + window_s)
    count, reset_at = known[0] + owed, known[1]
    allowed = count + cost <= max_requests
    return RateLimitDecision(allowed=allowed, count=count + cost if allowed else count, reset_at=reset_at)


class RateLimitWindow:
    """One client's count, in the SQLite of its object. It is read once: no one else writes it."""

    def __init__(self, sql: Sql, clock: Clock) -> None:
        self._sql = sql
        self._clock = clock
        self._is_loaded = False
        self._known: tuple[int, float] | None = None

    def count_request(self, max_requests: int, window_s: int, *, cost: int = 1, owed: int = 0) -> RateLimitDecision:
        """Count a request if it is allowed. There is no await, so no two requests see the same count."""
        known = self._load()
        decision = decide(known, self._clock.now(), max_requests, window_s, cost=cost, owed=owed)
        counted = (decision.count, decision.reset_at)
        if counted != known:
            self._sql.rows("insert or replace into rate_window (id, count, reset_at) values (1, ?, ?)", *counted)
            self._known = counted
        return decision

    def find_end(self) -> float | None:
        """Return when the open window ends; None if no window is open."""
        known = self._load()
        return known[1] if known and known[1] > self._clock.now() else None

    def forget(self) -> None:
        """Forget the table, because the storage was erased."""
        self._is_loaded, self._known = False, None

    def _load(self) -> tuple[int, float] | None:
        if not self._is_loaded:
            self._sql.rows(
                "create table if not exists rate_window"
                " (id integer primary key check (id = 1), count integer, reset_at real)"
            )
            rows = self._sql.rows("select count, reset_at from rate_window")
            self._known = (int(rows[0]["count"] or 0), float(rows[0]["reset_at"] or 0)) if rows else None
            self._is_loaded = True
        return self._known


class ClientRateLimit:
    """What a client's object does: counts when it is called, and erases itself when its alarm rings."""

    def __init__(self, window: RateLimitWindow, alarm: Alarm, erase: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._window = window
        self._alarm = alarm
        self._erase = erase

    async def count_request(
        self, max_requests: int, window_s: int, *, cost: int = 1, owed: int = 0
    ) -> RateLimitDecision:
        """Count a request that costs `cost`, and the `owed` ones that the caller has served already."""
        end_before = self._window.find_end()
        decision = self._window.count_request(max_requests, window_s, cost=cost, owed=owed)
        if decision.reset_at != end_before:
            # Nothing was awaited since the row was written, so the platform stores row and alarm together.
            await self._alarm.set(decision.reset_at + _LINGER_S)
        return decision

    async def erase_if_over(self) -> None:
        """Erase the object after its window. Otherwise every address that ever called would keep an object."""
        ends_at = self._window.find_end()
        if ends_at is None:
            self._window.forget()
            await self._erase()
        else:
            await self._alarm.set(ends_at + _LINGER_S)
