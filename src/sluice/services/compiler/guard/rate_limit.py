"""How many requests a client may make in a window of time.

The exact count lives in one Durable Object per client. While that cannot be reached, a count in KV decides: it is seen
late and by one write per second only, so it lets some too many through, but it never stops the service.
"""

import asyncio
import ipaddress
import math
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

from sluice.core.errors import TooManyRequests
from sluice.core.ports import Alarm, Clock, Kv, Log, Sql

MAX_REQUESTS: Final = 10
WINDOW_S: Final = 60
UNKNOWN: Final = "unknown"
KEY_PREFIX: Final = "ratelimit:"
# Guesses. An object answers within some 10 ms; on a busy machine it may take seconds, and is no less exact for that.
OBJECT_PATIENCE_S: Final = 10.0
KV_PATIENCE_S: Final = 2.0
_TTL_MARGIN_S: Final = 10
_MIN_TTL_S: Final = 60  # KV takes nothing shorter
# How long after its end a window is forgotten; a client that goes on would only set up the same again.
_LINGER_S: Final = 60

Background = Callable[[Coroutine[Any, Any, None]], None]


class Remote(Protocol):
    """A client's object, called from outside."""

    @property
    def take(self) -> Callable[..., Awaitable[Any]]: ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one more request may pass, and when the window ends in epoch seconds."""

    allowed: bool
    count: int
    reset_at: float


def decided(known: tuple[int, float] | None, now: float, max_requests: int, window_s: int) -> Verdict:
    """The fixed window: `known` is the count so far and the end of its window.

    A window that ends later than a new one would is not believed: the limits have changed, or the clock was set back.
    """
    if known is None or not now < known[1] <= now + window_s:
        return Verdict(allowed=True, count=1, reset_at=now + window_s)
    count, reset_at = known
    if count >= max_requests:
        return Verdict(allowed=False, count=count, reset_at=reset_at)
    return Verdict(allowed=True, count=count + 1, reset_at=reset_at)


class Window:
    """One client's count, inside its object."""

    def __init__(self, sql: Sql, clock: Clock) -> None:
        self._sql = sql
        self._clock = clock

    def take(self, max_requests: int, window_s: int) -> Verdict:
        """Count one request, if it may pass; without an await, so that no two requests see the same count."""
        verdict = decided(self._known(), self._clock.now(), max_requests, window_s)
        if verdict.allowed:
            self._sql.rows(
                "insert or replace into rate_window (id, count, reset_at) values (1, ?, ?)",
                verdict.count,
                verdict.reset_at,
            )
        return verdict

    def runs_until(self) -> float | None:
        """When the window ends that is open now; None when none is."""
        known = self._known()
        return known[1] if known and known[1] > self._clock.now() else None

    def _known(self) -> tuple[int, float] | None:
        # Each time, because forgetting takes the table along.
        self._sql.rows(
            "create table if not exists rate_window (id integer primary key check (id = 1), count integer, reset_at real)"
        )
        rows = self._sql.rows("select count, reset_at from rate_window")
        return (int(rows[0]["count"] or 0), float(rows[0]["reset_at"] or 0)) if rows else None


class ClientLimit:
    """What a client's object does: `take` when it is called, `forget` when its alarm rings."""

    def __init__(self, window: Window, alarm: Alarm, erase: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._window = window
        self._alarm = alarm
        self._erase = erase

    async def take(self, max_requests: int, window_s: int) -> dict[str, Any]:
        verdict = self._window.take(max_requests, window_s)
        if verdict.count == 1:
            # Nothing was awaited since the row was written, so both are kept or neither is.
            await self._alarm.set(verdict.reset_at + _LINGER_S)
        return asdict(verdict)

    async def forget(self) -> None:
        """Leave nothing behind: every address that ever called would else keep an object for ever."""
        ends_at = self._window.runs_until()
        if ends_at is None:
            await self._erase()
        else:
            await self._alarm.set(ends_at + _LINGER_S)


class SharedCount:
    """The count in KV, for as long as the objects cannot be reached; a failure of KV lets the request pass."""

    def __init__(self, counts: Kv, clock: Clock, background: Background, patience_s: float = KV_PATIENCE_S) -> None:
        self._counts = counts
        self._clock = clock
        self._background = background
        self._patience_s = patience_s

    async def take(self, client: str, max_requests: int, window_s: int) -> Verdict:
        key = KEY_PREFIX + client
        verdict = decided(await self._known(key), self._clock.now(), max_requests, window_s)
        if verdict.allowed:
            # Nobody waits for it: KV takes one write per second and key, so writes queue up.
            self._background(self._store(key, verdict, max(window_s + _TTL_MARGIN_S, _MIN_TTL_S)))
        return verdict

    async def _known(self, key: str) -> tuple[int, float] | None:
        try:
            async with asyncio.timeout(self._patience_s):
                found = await self._counts.get_json(key)
            return int(found["count"]), float(found["resetAt"]) / 1000
        except Exception:  # noqa: BLE001 - whatever is wrong with the count, the request is not to suffer from it
            return None

    async def _store(self, key: str, verdict: Verdict, ttl_s: int) -> None:
        value = {"count": verdict.count, "resetAt": round(verdict.reset_at * 1000)}
        try:
            async with asyncio.timeout(self._patience_s):
                await self._counts.put_json(key, value, ttl_s=ttl_s)
        except Exception:  # noqa: BLE001, S110 - the next request counts again
            pass


class RateLimiter:
    """Charges one request to a client, or raises TooManyRequests."""

    def __init__(
        self,
        *,
        object_of: Callable[[str], Remote],
        fallback: SharedCount,
        clock: Clock,
        log: Log,
        max_requests: int = MAX_REQUESTS,
        window_s: int = WINDOW_S,
        patience_s: float = OBJECT_PATIENCE_S,
    ) -> None:
        self._object_of = object_of
        self._fallback = fallback
        self._clock = clock
        self._log = log
        self._max_requests = max_requests
        self._window_s = window_s
        self._patience_s = patience_s

    async def charge(self, client: str) -> None:
        """Count one request of a client, as `client_of` names it."""
        verdict = await self._verdict(client)
        if not verdict.allowed:
            wait_s = max(1, math.ceil(verdict.reset_at - self._clock.now()))
            raise TooManyRequests(self._message(), retry_after_s=wait_s)

    async def _verdict(self, client: str) -> Verdict:
        try:
            async with asyncio.timeout(self._patience_s):
                return Verdict(**await self._object_of(client).take(self._max_requests, self._window_s))
        except Exception as error:  # noqa: BLE001 - a limiter that is out of order must not stop the service
            self._log.error("rate_limit.degraded", error)
            return await self._fallback.take(client, self._max_requests, self._window_s)

    def _message(self) -> str:
        span = "minute" if self._window_s == 60 else f"{self._window_s} seconds"
        return f"Rate limit exceeded. Maximum {self._max_requests} requests per {span}."


def client_of(address: str | None) -> str:
    """Who is charged: an IPv4 address, the /64 of an IPv6 address (one customer has that many), or `unknown`."""
    try:
        ip = ipaddress.ip_address((address or "").strip())
    except ValueError:
        return UNKNOWN
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped:
        return str(ip.ipv4_mapped)
    prefix = ipaddress.IPv6Address(int(ip) >> 64 << 64)
    return f"{prefix}/64"
