"""Updater and processor at the same time: every order of their operations, explored one by one."""

import types
from collections.abc import Generator, Iterator
from contextlib import suppress
from itertools import combinations
from typing import Any

import pytest

from sluice.services.news.storage.keys import PENDING
from unit.services.news.world import World, article


@types.coroutine
def pause() -> Generator[None]:
    yield


class Gate:
    """A store that stops before each operation until the test lets it go on."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any, **options: Any) -> Any:
            await pause()
            return await getattr(self._store, name)(*args, **options)

        return call


def gated(worker: Any) -> Any:
    holder = getattr(worker, "ledger", worker)
    object.__setattr__(holder, "store", Gate(holder.store))
    return worker.run()


def orders(first: int, second: int) -> Iterator[list[int]]:
    """Every way to merge so many steps of one and of the other."""
    for places in combinations(range(first + second), first):
        yield [0 if place in places else 1 for place in range(first + second)]


async def made(minutes_before: int, stale_s: float) -> World:
    world = World(stale_s=stale_s)
    world.source.articles = [article("new"), article("b"), article("a")]
    await world.pending("b", "a")
    for _ in range(minutes_before):
        await world.minute()
    world.clock.advance(120)
    return world


@pytest.mark.parametrize("stale_s", [0, 60])
@pytest.mark.parametrize("minutes_before", [0, 3])
async def test_every_order(minutes_before: int, stale_s: float):
    """Whatever the order of their steps, no article is lost, none is done twice, and the list holds the new one."""
    for order in orders(3, 7):
        world = await made(minutes_before, stale_s)
        works = [gated(world.updater()), gated(world.processor())]
        # Both stand before their first operation; then one of them goes on at a time.
        for which in (0, 1, *order):
            with suppress(StopIteration, RuntimeError):
                works[which].send(None)
        for work in works:
            _finish(work)
        world.clock.advance(180)
        await world.until_idle()
        assert sorted(world.checkpoint()["processedIds"]) == ["a", "b", "new"]
        assert sorted(world.index()) == ["a", "b", "new"]
        assert all(count == 1 for what, count in world.outside.asked.items()), world.outside.asked
        await world.updater().run()
        assert world.read(PENDING) == []


def _finish(work: Any) -> None:
    with suppress(StopIteration, RuntimeError):
        while True:
            work.send(None)
