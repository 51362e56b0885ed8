"""The rate limit: how many requests a client may make in a window of time.

The exact count lives in one Durable Object for each client. A hit in the memory of an isolate costs less than asking the
object, so the isolate counts hits itself and reports them a second later. The /48 around an IPv6 client has an object too, which is asked
only where an isolate has seen a second client of it: so somebody with one network pays for no second count. While the object cannot be reached, a count in KV
decides. It is visible late and takes one write per second, so it allows some requests too many, but it never stops the service.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sluice.core.errors import TooManyRequests
from sluice.core.ports import Clock, Kv, Log
from sluice.services.compiler.guard.rate_limit_window import RateLimitCalls, RateLimitDecision, decide
from sluice.web.clients import NETWORK_CLIENTS, Client

MAX_REQUESTS: Final = 10
WINDOW_S: Final = 60
KEY_PREFIX: Final = "ratelimit:"
# Guesses. An object answers within about 10 ms; on a busy machine it may take seconds, and its count is still exact.
OBJECT_PATIENCE_S: Final = 10.0
KV_PATIENCE_S: Final = 2.0
REPORT_AFTER_S: Final = 1.0
MAX_RECENT_CLIENTS: Final = 1000
_TTL_MARGIN_S: Final = 10
_MIN_TTL_S: Final = 60  # KV refuses a shorter one

Background = Callable[[Coroutine[Any, Any, None]], None]


class Bucket(NamedTuple):
    """A count with a limit: that of a client, or that of a network."""

    key: str
    max_requests: int
    whose: str = ""


@dataclass(slots=True)
class ClientCount:
    """What the object of a client answered last, and the hits since that it does not know of."""

    count: int = 0
    reset_at: float = 0.0
    owed: int = 0

    def has_room(self, now: float, max_requests: int) -> bool:
        """Return whether one more request is within the limit, as far as is known here."""
        count = self.count if now < self.reset_at else 0
        return count + self.owed < max_requests

    def take_owed(self) -> int:
        owed, self.owed = self.owed, 0
        return owed


@dataclass(slots=True)
class RecentCounts:
    """The counts of the clients and networks that an isolate has served lately; one for all its requests."""

    clients: dict[str, ClientCount] = field(default_factory=dict)
    # The first client of each network; "" once there was another.
    networks: dict[str, str] = field(default_factory=dict)

    def get(self, client: str) -> ClientCount:
        if client not in self.clients and len(self.clients) >= MAX_RECENT_CLIENTS:
            del self.clients[next(iter(self.clients))]
        return self.clients.setdefault(client, ClientCount())

    def is_among_others(self, client: Client) -> bool:
        """Return whether several clients of the client's network were seen, with this one."""
        if client.network not in self.networks and len(self.networks) >= MAX_RECENT_CLIENTS:
            del self.networks[next(iter(self.networks))]
        if self.networks.setdefault(client.network, client.key) == client.key:
            return False
        self.networks[client.network] = ""
        return True


class KvRateLimit:
    """The count in KV while objects cannot be reached; if KV fails too, the request is allowed."""

    def __init__(self, counts: Kv, clock: Clock, background: Background, patience_s: float = KV_PATIENCE_S) -> None:
        self._counts = counts
        self._clock = clock
        self._background = background
        self._patience_s = patience_s

    async def count_request(
        self, client: str, max_requests: int, window_s: int, *, cost: int = 1, owed: int = 0
    ) -> RateLimitDecision:
        key = KEY_PREFIX + client
        known = await self._read(key)
        decision = decide(known, self._clock.now(), max_requests, window_s, cost=cost, owed=owed)
        if decision.allowed:
            # In the background: KV takes one write per second and key, so writes queue up.
            self._background(self._store(key, decision, max(window_s + _TTL_MARGIN_S, _MIN_TTL_S)))
        return decision

    async def _read(self, key: str) -> tuple[int, float] | None:
        try:
            async with asyncio.timeout(self._patience_s):
                stored = await self._counts.get_json(key)
            return int(stored["count"]), float(stored["resetAt"]) / 1000
        except Exception:  # noqa: BLE001 - an unreadable count must not fail the request
            return None

    async def _store(self, key: str, decision: RateLimitDecision, ttl_s: int) -> None:
        value = {"count": decision.count, "resetAt": round(decision.reset_at * 1000)}
        try:
            async with asyncio.timeout(self._patience_s):
                await self._counts.put_json(key, value, ttl_s=ttl_s)
        except Exception:  # noqa: BLE001, S110 - the next request counts again
            pass


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRateLimiter:
    """Counts one request of a client, or raises TooManyRequests; `object_named` returns the object of a client or network."""

    object_named: Callable[[str], RateLimitCalls]
    open_fallback: Callable[[], KvRateLimit]
    clock: Clock
    log: Log
    background: Background
    recent: RecentCounts
    max_requests: int = MAX_REQUESTS
    window_s: int = WINDOW_S
    patience_s: float = OBJECT_PATIENCE_S

    async def charge(self, client: Client, cost: int = 1) -> None:
        """Count a request of a client, as `find_client` names it; one that costs more than a window holds takes all of it."""
        for bucket in self._list_buckets(client):
            decision = await self._decide(bucket, min(cost, bucket.max_requests))
            if not decision.allowed:
                wait_s = max(1, math.ceil(decision.reset_at - self.clock.now()))
                raise TooManyRequests(self._refusal(bucket), retry_after_s=wait_s)

    async def charge_hit(self, client: Client) -> None:
        """Count a request that is answered from memory. The object hears of it a second later: only then hits of other isolates count."""
        buckets = self._list_buckets(client)
        now = self.clock.now()
        if not all(self.recent.get(bucket.key).has_room(now, bucket.max_requests) for bucket in buckets):
            await self.charge(client)
            return
        for bucket in buckets:
            known = self.recent.get(bucket.key)
            known.owed += 1
            if known.owed == 1:
                self.background(self._report_later(bucket))

    def _list_buckets(self, client: Client) -> list[Bucket]:
        buckets = [Bucket(client.key, self.max_requests)]
        if client.network and self.recent.is_among_others(client):
            buckets.append(Bucket(client.network, self.max_requests * NETWORK_CLIENTS, " from one network"))
        return buckets

    async def _report_later(self, bucket: Bucket) -> None:
        await self.clock.sleep(REPORT_AFTER_S)
        if self.recent.get(bucket.key).owed:
            await self._decide(bucket, 0)

    async def _decide(self, bucket: Bucket, cost: int) -> RateLimitDecision:
        key, limit = bucket.key, bucket.max_requests
        known = self.recent.get(key)
        owed = known.take_owed()
        try:
            async with asyncio.timeout(self.patience_s):
                decision = await self.object_named(key).count_request(limit, self.window_s, cost=cost, owed=owed)
        except Exception as error:  # noqa: BLE001 - a broken limiter must not stop the service
            self.log.error("rate_limit.degraded", error)
            return await self.open_fallback().count_request(key, limit, self.window_s, cost=cost, owed=owed)
        known.count, known.reset_at = decision.count, decision.reset_at
        return decision

    def _refusal(self, bucket: Bucket) -> str:
        span = "minute" if self.window_s == 60 else f"{self.window_s} seconds"
        return f"Rate limit exceeded. Maximum {bucket.max_requests} requests per {span}{bucket.whose}."
