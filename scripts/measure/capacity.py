"""load at which each shared part reaches a published limit, computed from the operations that `cost` counts"""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from cost import count_units

Units = Mapping[str, Mapping[str, float]]

ZONES: Final = 10_000
PAGES_OF_A_ZONE: Final = 5_000  # each warmed daily
SUBSCRIBERS: Final = 1_000_000
REFRESH_S: Final = 6 * 3600
FEEDS: Final = 5_000
JOBS_PER_S: Final = 100
DAY_S: Final = 86_400

# Published limits, all of the paid plan. D1 answers one query after the other, so a millisecond for each gives 1,000 a second.
D1_QUERIES_PER_S: Final = 1_000
D1_BYTES: Final = 10e9
OBJECT_REQUESTS_PER_S: Final = 1_000
SUBREQUESTS: Final = 10_000  # of one invocation
QUEUE_MESSAGES_PER_S: Final = 5_000
QUEUE_CONSUMERS: Final = 250
VARIABLE_BYTES: Final = 5_000
KV_WRITES_PER_S: Final = 1  # to one key
PURGES_PER_MINUTE: Final = 5  # of the cache in front, for an account

BYTES_OF_A_PAGE_ROW: Final = 300  # with its indexes
BYTES_OF_A_FEED: Final = 50  # its address
FEED_VARIABLES: Final = 10
UPDATE_PROCESSOR_S: Final = 300  # limits.cpu_ms of the updater, and the most that there is
STATS_INTERVAL_S: Final = 300  # between two copies of the queue's statistics by one isolate, at such a load
ARTICLES_A_DAY: Final = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A part that all shards share, what the load takes of it, and its limit, in the same measure."""

    service: str
    shard: str
    shared: str
    load: float
    unit: str
    used: float
    limit: float
    measure: str

    @property
    def full_at(self) -> float:
        """The load at which the limit is reached."""
        return self.load * self.limit / self.used if self.used else float("inf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--units", type=Path, metavar="FILE", help="figures that `cost --json FILE` wrote, not new ones"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table to this file")


def measure(options: argparse.Namespace) -> None:
    units = json.loads(options.units.read_text())["units"] if options.units else count_units()
    rows = sorted(build_rows(units), key=lambda row: row.full_at / row.load)
    names = f"{'service':9} {'sharded by':13} {'shared by all':30} {'load':>21}"
    print(f"{names} {'used':>10} {'limit':>8} {'':8} {'full at':>11}")
    for row in rows:
        load = f"{row.load:,.0f} {row.unit}"
        figures = f"{row.used:10,.1f} {row.limit:8,.0f} {row.measure:8} {row.full_at:11,.0f}"
        print(f"{row.service:9} {row.shard:13} {row.shared:30} {load:>21} {figures}")
    if options.json:
        options.json.write_text(
            json.dumps({"rows": [asdict(row) | {"full_at": row.full_at} for row in rows]}, indent=2)
        )


def build_rows(units: Units) -> Iterator[Row]:
    yield from preload_rows(units)
    yield from compiler_rows(units)
    yield from news_rows(units)


def preload_rows(units: Units) -> Iterator[Row]:
    """Yield the rows of edge-preload. The unit of sharding is the zone: its object holds its queue, limits and purges."""
    minute, page = units["idle preload minute"], units["page warmed"]
    pages_per_s = ZONES * PAGES_OF_A_ZONE / DAY_S
    calls = ZONES * minute.get("object_requests", 0)
    yield Row("preload", "zone", "calls of one minute's cron", ZONES, "zones", calls, SUBREQUESTS, "a minute")
    queries = pages_per_s * page.get("d1_queries", 0) + minute.get("d1_queries", 0) / 60
    yield Row("preload", "zone", "D1 queries for warmed pages", ZONES, "zones", queries, D1_QUERIES_PER_S, "a second")
    size = ZONES * PAGES_OF_A_ZONE * BYTES_OF_A_PAGE_ROW
    yield Row("preload", "zone", "D1 size, index of pages", ZONES, "zones", size / 1e6, D1_BYTES / 1e6, "MB")
    requests = PAGES_OF_A_ZONE / DAY_S * page.get("object_requests", 0)
    yield Row(
        "preload",
        "zone",
        "one zone's object",
        PAGES_OF_A_ZONE,
        "pages a day",
        requests,
        OBJECT_REQUESTS_PER_S,
        "a second",
    )


def compiler_rows(units: Units) -> Iterator[Row]:
    """Yield the rows of adblock-compiler. The units of sharding are the list (its single flight) and the client (its rate limit)."""
    hit, job = units["list hit"], units["job"]
    hits_per_s = SUBSCRIBERS / REFRESH_S
    queries = hits_per_s * hit.get("d1_queries", 0)
    yield Row(
        "compiler",
        "list, client",
        "D1 queries for list hits",
        SUBSCRIBERS,
        "subscribers",
        queries,
        D1_QUERIES_PER_S,
        "a second",
    )
    queries = JOBS_PER_S * job.get("d1_queries", 0)
    yield Row(
        "compiler",
        "list, client",
        "D1 queries for jobs",
        JOBS_PER_S,
        "jobs a second",
        queries,
        D1_QUERIES_PER_S,
        "a second",
    )
    # Each accepted job arms the one sweeper.
    yield Row(
        "compiler",
        "list, client",
        "the job sweeper",
        JOBS_PER_S,
        "jobs a second",
        JOBS_PER_S,
        OBJECT_REQUESTS_PER_S,
        "a second",
    )
    yield Row(
        "compiler",
        "list, client",
        "messages of one queue",
        JOBS_PER_S,
        "jobs a second",
        JOBS_PER_S,
        QUEUE_MESSAGES_PER_S,
        "a second",
    )
    # An isolate copies them at most every five minutes when there are that many jobs.
    at_once = JOBS_PER_S * job["processor_ms"] / 1000
    writes = at_once / STATS_INTERVAL_S
    yield Row(
        "compiler",
        "list, client",
        "KV key queue:stats",
        JOBS_PER_S,
        "jobs a second",
        writes,
        KV_WRITES_PER_S,
        "a second",
    )
    yield Row(
        "compiler",
        "list, client",
        "consumers of one queue, busy",
        JOBS_PER_S,
        "jobs a second",
        at_once,
        QUEUE_CONSUMERS,
        "at once",
    )


def news_rows(units: Units) -> Iterator[Row]:
    """Yield the rows of the news service. One pipeline, with its KV namespace and checkpoint, is one shard; more feeds need more pipelines."""
    update = units["hourly news update"]
    size, room = FEEDS * BYTES_OF_A_FEED, FEED_VARIABLES * VARIABLE_BYTES
    yield Row("news", "pipeline", "NEWS_FEEDS to NEWS_FEEDS_10", FEEDS, "feeds", size, room, "bytes")
    spent_s = FEEDS * update["processor_ms"] / 1000
    yield Row("news", "pipeline", "processor time of one update", FEEDS, "feeds", spent_s, UPDATE_PROCESSOR_S, "s")
    yield Row(
        "news",
        "pipeline",
        "requests of one update",
        FEEDS,
        "feeds",
        FEEDS * update.get("fetches", 1),
        SUBREQUESTS,
        "a run",
    )
    purges = 3 * ARTICLES_A_DAY / (24 * 60)
    yield Row(
        "news",
        "pipeline",
        "purges of the cache in front",
        ARTICLES_A_DAY,
        "articles a day",
        purges,
        PURGES_PER_MINUTE,
        "a minute",
    )
    writes = update.get("kv_writes", 1) / 3600
    yield Row("news", "pipeline", "writes to the pending list", FEEDS, "feeds", writes, KV_WRITES_PER_S, "a second")
