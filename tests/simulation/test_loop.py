"""The scheduler: time is virtual, chance chooses the order, and who is killed does nothing any more."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random

import pytest

from simulation.loop import OUTSIDE, Died, Process, SimulatedLoop, Stuck, forever


def run(work: Callable[[], Awaitable[None]], seed: int = 1) -> SimulatedLoop:
    outside = Process(OUTSIDE, OUTSIDE)
    loop = SimulatedLoop(Random(seed), outside)

    async def begin() -> None:
        await work()

    try:
        outside.run(lambda: loop.run_until_complete(begin()))
    finally:
        loop.bury()
    return loop


def test_a_day_takes_no_time():
    """A sleep moves the clock, and nothing else waits for it."""

    async def work() -> None:
        await asyncio.sleep(86_400)

    assert run(work).time() == 86_400


def test_order_is_chosen_by_the_seed():
    """Tasks that are ready at once run in an order that the seed decides; the same one each time."""

    def order(seed: int) -> list[int]:
        seen: list[int] = []

        async def note(number: int) -> None:
            seen.append(number)

        async def work() -> None:
            await asyncio.gather(*(note(number) for number in range(6)))

        run(work, seed)
        return seen

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(20)}) > 10


def test_who_is_killed_does_nothing():
    """No `finally` and no timer of a dead process runs, and its callers hear that it is gone."""
    done: list[str] = []

    async def live() -> None:
        try:
            await asyncio.sleep(1)
            done.append("slept")
        finally:
            done.append("finally")

    async def work() -> None:
        process = Process("isolate", "isolate")
        asking = asyncio.ensure_future(process.ask(live))
        await asyncio.sleep(0.5)
        process.kill()
        with pytest.raises(Died):
            await asking
        await asyncio.sleep(10)
        assert done == []

    run(work)


def test_what_waits_for_ever_is_found():
    """A wait that nothing can end is an error, and so are steps without end."""

    async def spin() -> None:
        while True:  # noqa: ASYNC110 - nothing ends it
            await asyncio.sleep(0)

    for work in (forever, spin):
        with pytest.raises(Stuck), suppress(asyncio.CancelledError):
            run(work)
