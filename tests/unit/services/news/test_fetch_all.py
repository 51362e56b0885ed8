"""Sources are independent: each has its own time and its own failure."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field

from fakes.clock import ManualClock
from sluice.core.errors import Unavailable
from sluice.core.news.feeds.news_source import SourceResult
from sluice.services.news.collect.fetch_all import MAX_CONCURRENT, fetch_all


@dataclass
class Gate:
    """Counts who is inside at the same time."""

    inside: int = 0
    most: int = 0
    full: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class WaitingSource:
    name: str
    gate: Gate
    failure: Exception | None = None

    async def fetch_articles(self, known: Collection[str], _now_ms: int) -> SourceResult:
        self.gate.inside += 1
        self.gate.most = max(self.gate.most, self.gate.inside)
        if self.gate.inside == MAX_CONCURRENT:
            self.gate.full.set()
        await self.gate.opened.wait()
        self.gate.inside -= 1
        if self.failure:
            raise self.failure
        return SourceResult((), len(known))


async def test_six_at_a_time():
    """Six sources are read at the same time, and not more; the results keep the order of the sources."""
    gate = Gate()
    sources = [WaitingSource(f"s{number}", gate) for number in range(15)]
    run = asyncio.create_task(fetch_all(sources, {"a", "b"}, {"s3"}, ManualClock()))
    await gate.full.wait()
    gate.opened.set()
    results = await run
    assert gate.most == MAX_CONCURRENT
    assert [name for name, _ in results] == [source.name for source in sources]
    # A source that stopped early last time does not stop at known articles.
    assert [result.pages for _, result in results] == [0 if number == 3 else 2 for number in range(15)]


async def test_any_failure_stays_with_its_source():
    """An error of the tree, and one that nobody expected, are the result of their source alone."""
    gate = Gate()
    gate.opened.set()
    failures = [None, Unavailable("down"), ValueError("multi-byte encodings are not supported"), None]
    sources = [WaitingSource(f"s{number}", gate, failure) for number, failure in enumerate(failures)]
    results = await fetch_all(sources, (), (), ManualClock())
    assert [str(result.error or "") for _, result in results] == [
        "",
        "down",
        "reading the source failed: ValueError: multi-byte encodings are not supported",
        "",
    ]
