"""Rate limits: windows for the requests that an origin gets, and token buckets for the requests that the API takes.

An origin never gets more requests at once, in a second or in a minute than the zone allows. A grant is the permission for
one request. It counts against a window from the time it is granted until the window's length after its response has ended.
The origin saw the request somewhere in between. So no window at the origin holds more requests than the limit, however long
they travel.

A request that timed out keeps its place for a while, because the origin may still be working on it. Such places and slow
requests together take at most half of all, but always one, so that pages which hang do not stop those that do not.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf
from typing import Final, Self

from sluice.core.errors import TooManyRequests
from sluice.core.preload.zone_config import ZoneConfig

# The origin may still be cleaning up when we have its last byte.
SETTLE_S: Final = 0.25
# The origin may go on working long after we have stopped waiting for it.
SETTLE_AFTER_TIMEOUT_S: Final = 15.0
# So long a request counts as under way at most whose end nobody will see.
MAX_HOLD_S: Final = 30.0
SLOW_S: Final = 2.0  # a request that takes so long may be slow
# Two clocks and their rounding.
MARGIN_S: Final = 0.02
SECOND_S: Final = 1.0
MINUTE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class OriginLimits:
    concurrency: int
    per_second: int
    per_minute: int

    @classmethod
    def from_config(cls, config: ZoneConfig) -> Self:
        return cls(config.preload_max_concurrency, config.preload_rps_limit, config.preload_rpm_limit)

    @property
    def slow_slots(self) -> int:
        """How many of the places slow requests may take while others wait."""
        return max(1, self.concurrency // 2)


@dataclass(frozen=True, slots=True)
class Grant:
    """One request to the origin; without an end it is under way. It occupies a concurrency slot until `slot_until`."""

    granted_at: float
    ended_at: float | None = None
    slot_until: float | None = None

    @property
    def has_timed_out(self) -> bool:
        return self.slot_until is not None and self.slot_until - self.end > SETTLE_S + MARGIN_S

    @property
    def end(self) -> float:
        return inf if self.ended_at is None else self.ended_at

    def is_in_flight(self, now: float) -> bool:
        return self.slot_until is None or self.slot_until > now

    def still_counts(self, now: float) -> bool:
        """Return whether any limit can still depend on it."""
        return self.end >= now - MINUTE_S - 1 or self.is_in_flight(now)


def next_grant_wait_s(grants: Sequence[Grant], limits: OriginLimits, now: float) -> float | None:
    """Return the seconds until one more request fits into all limits; None when that depends on a request that is under way.

    `grants` are ordered by their end, those under way last.
    """
    under_way = len(grants) - bisect_left(grants, inf, key=_end)
    finished = grants[: len(grants) - under_way]
    waits = [
        _slot_wait_s(finished, grants[len(finished) :], limits, now),
        _window_wait_s(finished, under_way, limits.per_second, SECOND_S + MARGIN_S, now),
        _window_wait_s(finished, under_way, limits.per_minute, MINUTE_S + MARGIN_S, now),
    ]
    known = [wait for wait in waits if wait is not None]
    return max(known) if len(known) == len(waits) else None


def count_in_flight(grants: Sequence[Grant], now: float) -> int:
    return sum(grant.is_in_flight(now) for grant in grants)


def _slot_wait_s(
    finished: Sequence[Grant], under_way: Sequence[Grant], limits: OriginLimits, now: float
) -> float | None:
    # No slot is occupied for longer than this after its end.
    recent = finished[bisect_left(finished, now - SETTLE_AFTER_TIMEOUT_S, key=_end) :]
    held = [grant for grant in recent if grant.slot_until is not None and grant.slot_until > now]
    timed_out = sorted(grant.slot_until or 0.0 for grant in held if grant.has_timed_out)
    slow = sum(now - grant.granted_at >= SLOW_S for grant in under_way)
    kept = timed_out[max(0, len(timed_out) - max(0, limits.slow_slots - slow)) :]
    slots = sorted([*(grant.slot_until or 0.0 for grant in held if not grant.has_timed_out), *kept])
    excess = len(under_way) + len(slots) - limits.concurrency
    if excess < 0:
        return 0.0
    return slots[excess] - now if excess < len(slots) else None


def _window_wait_s(finished: Sequence[Grant], under_way: int, limit: int, window_s: float, now: float) -> float | None:
    """Return the seconds until so many grants have left the window that one more fits; one that is under way never leaves it."""
    first = bisect_right(finished, now - window_s, key=_end)
    excess = under_way + len(finished) - first - limit
    if excess < 0:
        return 0.0
    if first + excess >= len(finished):
        return None
    return max(0.0, finished[first + excess].end + window_s - now)


def _end(grant: Grant) -> float:
    return grant.end


@dataclass(frozen=True, slots=True)
class Rate:
    """A token bucket: full at first, one token for each request, refilled evenly with `count` tokens in `period_s`."""

    name: str
    count: int
    period_s: int


@dataclass(frozen=True, slots=True)
class TokenBucket:
    """The tokens left at a time."""

    tokens: float
    at: float


ANY: Final = Rate("any", 10_000, 3600)
PRELOAD: Final = Rate("preload", 500, 60)
PURGE: Final = Rate("purge", 1000, 60)
GLOBAL_PURGE: Final = Rate("global purge", 60, 3600)
SITEMAP: Final = Rate("sitemap", 60, 3600)


def take_token(rate: Rate, bucket: TokenBucket | None, now: float) -> TokenBucket:
    """Return the bucket with one token less; raise TooManyRequests with the seconds until there is one. None is a full bucket."""
    per_second = rate.count / rate.period_s
    full = float(rate.count)
    tokens = full if bucket is None else min(full, bucket.tokens + max(0.0, now - bucket.at) * per_second)
    if tokens < 1:
        wait_s = ceil((1 - tokens) / per_second)
        raise TooManyRequests(f"more than {rate.count} {rate.name} requests in {rate.period_s} s", wait_s)
    return TokenBucket(tokens - 1, now)
