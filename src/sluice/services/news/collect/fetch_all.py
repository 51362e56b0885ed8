"""Fetches from all sources, six at a time. Whatever happens to one does not touch the others."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.news.feeds.news_source import NewsSource, SourceResult
from sluice.core.ports import Clock

MAX_CONCURRENT: Final = (
    6  # connections that may wait for headers in a Worker; a seventh would queue behind a hanging one
)

# The result of each source with its name. A list, because two feeds may have the same name.
SourceResults = Sequence[tuple[str, SourceResult]]


async def fetch_all(
    sources: Sequence[NewsSource], known: Collection[str], incomplete: Collection[str], clock: Clock
) -> SourceResults:
    """Return the results in the order of the sources.

    After a source stopped early, a known article does not mean that all older ones are known too.
    """
    slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def fetch(source: NewsSource) -> tuple[str, SourceResult]:
        stop_at = frozenset[str]() if source.name in incomplete else known
        async with slots:
            return source.name, await _fetch_one(source, stop_at, int(clock.now() * 1000))

    # A single source needs no tasks.
    if len(sources) == 1:
        return [await fetch(sources[0])]
    return await asyncio.gather(*(fetch(source) for source in sources))


async def _fetch_one(source: NewsSource, known: Collection[str], now_ms: int) -> SourceResult:
    try:
        return await source.fetch_articles(known, now_ms)
    except SluiceError as error:
        return SourceResult((), 0, error)
    except Exception as error:  # noqa: BLE001 - a defect in the reader of one source must not stop the others
        return SourceResult((), 0, SluiceError(f"reading the source failed: {type(error).__name__}: {error}"))
