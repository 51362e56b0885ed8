"""What Cloudflare charges for each counted operation, and the monthly bill of three kinds of use."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

PRICES_READ: Final = "August 2026"
BASE_USD: Final = 5.0  # the paid plan, for a month

# Operations of a month, by unit of work.
Counts = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Price:
    """The price of an operation: so many a month are included, and each further million costs so many dollars."""

    included: float
    usd_per_million: float
    page: str


_KV: Final = "kv/platform/pricing"
_D1: Final = "d1/platform/pricing"
_OBJECTS: Final = "durable-objects/platform/pricing"
_R2: Final = "r2/pricing"
_WORKERS: Final = "workers/platform/pricing"
PRICES: Final[Mapping[str, Price]] = {
    "requests": Price(10e6, 0.30, _WORKERS),
    "processor_ms": Price(30e6, 0.02, _WORKERS),
    "log_lines": Price(20e6, 0.60, _WORKERS),
    "kv_reads": Price(10e6, 0.50, _KV),
    "kv_writes": Price(1e6, 5.00, _KV),
    "kv_deletes": Price(1e6, 5.00, _KV),
    "kv_lists": Price(1e6, 5.00, _KV),
    "d1_rows_read": Price(25e9, 0.001, _D1),
    "d1_rows_written": Price(50e6, 1.00, _D1),
    "object_requests": Price(1e6, 0.15, _OBJECTS),
    "object_rows_read": Price(25e9, 0.001, _OBJECTS),
    "object_rows_written": Price(50e6, 1.00, _OBJECTS),
    "r2_class_a": Price(1e6, 4.50, _R2),
    "r2_class_b": Price(10e6, 0.36, _R2),
    "queue_operations": Price(1e6, 0.40, "queues/platform/pricing"),
}

_MINUTES: Final = 30 * 24 * 60
_HOURS: Final = 30 * 24
# How often each unit of work is done in a month.
PROFILES: Final[Mapping[str, Counts]] = {
    # Ten devices refresh one list every 6 h; the list is compiled for each refresh that finds it older than an hour.
    "lists for a household": {
        "list hit": 10 * 4 * 30 - 4 * 30,
        "list miss": 4 * 30,
        "job": 30,
        "hourly cron": _HOURS,
        "six-hourly warming": 4 * 30,
    },
    # 5,000 pages warmed daily, and 10,000 visits a day.
    "a shop with 5,000 pages": {
        "page warmed": 5_000 * 30,
        "page served by edge": 0.70 * 10_000 * 30,
        "page served by R2": 0.25 * 10_000 * 30,
        "page served by origin": 0.05 * 10_000 * 30,
        "idle preload minute": _MINUTES,
    },
    # 200 articles a day; every API request reaches the Worker, which the cache in front prevents for most.
    "a news site": {
        "article": 200 * 30,
        "idle news minute": _MINUTES - 3 * 200 * 30,
        "hourly news update": _HOURS,
        "API request": 1e6,
    },
}


def add_up(profile: Counts, units: Mapping[str, Counts]) -> dict[str, float]:
    """Return the operations of a month."""
    total: dict[str, float] = {}
    for unit, times in profile.items():
        for operation, count in units[unit].items():
            total[operation] = total.get(operation, 0) + times * count
    return total


def charge(operations: Counts) -> dict[str, float]:
    """Return the dollars for each operation beyond what is included; operations without a price are free."""
    beyond = {name: max(0.0, count - PRICES[name].included) for name, count in operations.items() if name in PRICES}
    return {name: count / 1e6 * PRICES[name].usd_per_million for name, count in beyond.items() if count}


def list_price(operations: Counts) -> float:
    """Return the dollars as if nothing were included: what the operations are worth, to compare two versions."""
    return sum(count / 1e6 * PRICES[name].usd_per_million for name, count in operations.items() if name in PRICES)
