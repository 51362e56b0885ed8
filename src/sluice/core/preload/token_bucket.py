"""Rate limits of the API as token buckets: full at first, refilled evenly, one token for each request."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from sluice.core.errors import TooManyRequests


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `count` requests in a burst, refilled over `period_s`."""

    name: str
    count: int
    period_s: int


@dataclass(frozen=True, slots=True)
class Bucket:
    """The tokens left at a time."""

    tokens: float
    at: float


ANY: Final = Rate("any", 10_000, 3600)
PRELOAD: Final = Rate("preload", 500, 60)
PURGE: Final = Rate("purge", 1000, 60)
GLOBAL_PURGE: Final = Rate("global purge", 5, 3600)


def take_token(rate: Rate, bucket: Bucket | None, now: float) -> Bucket:
    """The bucket with one token less; raises TooManyRequests with the seconds until there is one. None is a full bucket."""
    per_second = rate.count / rate.period_s
    full = float(rate.count)
    tokens = full if bucket is None else min(full, bucket.tokens + max(0.0, now - bucket.at) * per_second)
    if tokens < 1:
        wait_s = ceil((1 - tokens) / per_second)
        raise TooManyRequests(f"more than {rate.count} {rate.name} requests in {rate.period_s} s", wait_s)
    return Bucket(tokens - 1, now)
