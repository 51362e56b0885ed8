"""Updater and processor at the same time, in every order of their operations."""

import types
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any

import pytest

from sluice.services.news.collect.updater import Updater
from sluice.services.news.process.processor import Processor
from sluice.services.news.storage.keys import PENDING
from unit.services.news.harness import NewsHarness, article


@types.coroutine
def pause() -> Generator[None]:
    yield


class Gate:
    """A store that pauses before each operation until the test resumes it."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **options: Any) -> Any:
            await pause()
            return await getattr(self._store, name)(*args, **options)

        return call


def run_gated(worker: Updater | Processor) -> Any:
    holders: list[Any] = (
        [worker.checkpoints, worker.articles, worker.articles.indexes] if isinstance(worker, Processor) else [worker]
    )
    for holder in holders:
        object.__setattr__(holder, "kv", Gate(holder.kv))
    return worker.run()


def orders(first: int, second: int) -> Iterator[list[int]]:
    """Yield every way to merge the steps of one with the steps of the other."""
    for places in combinations(range(first + second), first):
        yield [0 if place in places else 1 for place in range(first + second)]


async def prepare_news(minutes_before: int, stale_s: float) -> NewsHarness:
    news = NewsHarness(stale_s=stale_s)
    news.source.articles = [article("new"), article("b"), article("a")]
    await news.put_pending("b", "a")
    for _ in range(minutes_before):
        await news.run_minute()
    news.clock.advance(120)
    return news


@pytest.mark.parametrize("stale_s", [0, 60])
@pytest.mark.parametrize("minutes_before", [0, 3])
async def test_every_order(minutes_before: int, stale_s: float):
    """In every order of their steps no article is lost, none is processed twice, and the new one is listed."""
    for order in orders(3, 7):
        news = await prepare_news(minutes_before, stale_s)
        works = [run_gated(news.updater()), run_gated(news.processor())]
        # Both run up to their first operation; then one of them proceeds at a time.
        for which in (0, 1, *order):
            with suppress(StopIteration, RuntimeError):
                works[which].send(None)
        for work in works:
            _finish(work)
        news.clock.advance(180)
        await news.run_until_idle()
        assert sorted(news.checkpoint()["processedIds"]) == ["a", "b", "new"]
        assert sorted(news.index()) == ["a", "b", "new"]
        assert all(count == 1 for what, count in news.upstream.calls.items()), news.upstream.calls
        await news.updater().run()
        assert news.read(PENDING) == []


def _finish(work: Any) -> None:
    with suppress(StopIteration, RuntimeError):
        while True:
            work.send(None)
