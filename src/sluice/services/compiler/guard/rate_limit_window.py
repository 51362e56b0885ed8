"""The rate-limit window: a fixed window for each client, counted exactly inside the client's Durable Object."""

from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass
from typing import Any, Final

from sluice.core.ports import Alarm, Clock, Sql
from sluice.services.compiler.remote_calls import RemoteReply, encode_reply

# How long after its end a window is deleted. A client that comes back earlier would only create it again.
_LINGER_S: Final = 60


@dataclass(frozen=True, slots=True)
class RateLimitDecision:
    """Whether one more request is allowed, and when the window ends in epoch seconds."""

    allowed: bool
    count: int
    reset_at: float


def decide(known: tuple[int, float] | None, now: float, max_requests: int, window_s: int) -> RateLimitDecision:
    """Decides by the count so far and the end of its window.

    A window that ends later than a new one would is ignored: the limits have changed, or the clock was set back.
    """
    if known is None or not now < known[1] <= now + window_s:
        return RateLimitDecision(allowed=True, count=1, reset_at=now + window_s)
    count, reset_at = known
    if count >= max_requests:
        return RateLimitDecision(allowed=False, count=count, reset_at=reset_at)
    return RateLimitDecision(allowed=True, count=count + 1, reset_at=reset_at)


class RateLimitWindow:
    """One client's count, in the SQLite of its object."""

    def __init__(self, sql: Sql, clock: Clock) -> None:
        self._sql = sql
        self._clock = clock

    def count_request(self, max_requests: int, window_s: int) -> RateLimitDecision:
        """Counts one request if it is allowed. There is no await, so no two requests see the same count."""
        decision = decide(self._read(), self._clock.now(), max_requests, window_s)
        if decision.allowed:
            self._sql.rows(
                "insert or replace into rate_window (id, count, reset_at) values (1, ?, ?)",
                decision.count,
                decision.reset_at,
            )
        return decision

    def find_end(self) -> float | None:
        """Returns when the open window ends; None if no window is open."""
        known = self._read()
        return known[1] if known and known[1] > self._clock.now() else None

    def _read(self) -> tuple[int, float] | None:
        # Each time, because erasing the object drops the table too.
        self._sql.rows(
            "create table if not exists rate_window (id integer primary key check (id = 1), count integer, reset_at real)"
        )
        rows = self._sql.rows("select count, reset_at from rate_window")
        return (int(rows[0]["count"] or 0), float(rows[0]["reset_at"] or 0)) if rows else None


class ClientRateLimit:
    """What a client's object does: counts when it is called, and erases itself when its alarm rings."""

    def __init__(self, window: RateLimitWindow, alarm: Alarm, erase: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._window = window
        self._alarm = alarm
        self._erase = erase

    async def count_request(self, max_requests: int, window_s: int) -> RemoteReply:
        return await encode_reply(self._count_request(max_requests, window_s))

    async def erase_if_over(self) -> None:
        """Erases the object after its window. Otherwise every address that ever called would keep an object."""
        ends_at = self._window.find_end()
        if ends_at is None:
            await self._erase()
        else:
            await self._alarm.set(ends_at + _LINGER_S)

    async def _count_request(self, max_requests: int, window_s: int) -> dict[str, Any]:
        decision = self._window.count_request(max_requests, window_s)
        if decision.count == 1:
            # Nothing was awaited since the row was written, so the platform stores row and alarm together.
            await self._alarm.set(decision.reset_at + _LINGER_S)
        return asdict(decision)
