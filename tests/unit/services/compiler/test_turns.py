"""How many compilations an isolate runs at once."""

import asyncio

import pytest

from fakes.clock import ManualClock
from sluice.core.compiler.sources.source_errors import SourceFailed, to_plain_error
from sluice.core.errors import Unavailable
from sluice.services.compiler.limits import turns as turns_module
from sluice.services.compiler.limits.allowance import MAX_FETCHES, count_charges, share_fetches
from sluice.services.compiler.limits.turns import (
    MAX_AT_ONCE,
    MAX_DOWNLOAD_S,
    PREEMPT_AFTER_S,
    SMALL_BYTES,
    TURN_S,
    CompilationTurns,
    NeedsTurn,
    TooSlow,
)


class RealClock(ManualClock):
    """Lets other tasks run while one sleeps."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        await asyncio.sleep(0)


async def test_one_large_at_a_time():
    """Thirty lists are compiled at once, but only one of them is large; nobody waits forever."""
    turns, clock = CompilationTurns(), RealClock()
    running, large, most, most_large = 0, 0, 0, 0

    async def compile_large() -> None:
        nonlocal running, large, most, most_large
        async with turns.take(clock) as turn:
            running += 1
            most = max(most, running)
            try:
                turn.count(SMALL_BYTES + 1)
            except NeedsTurn:
                await turn.wait()
                turn.count(SMALL_BYTES + 1)
            large += 1
            most_large = max(most_large, large)
            await clock.sleep(1)
            large -= 1
            running -= 1

    await asyncio.gather(*(compile_large() for _ in range(MAX_AT_ONCE + 10)))
    assert (most, most_large) == (MAX_AT_ONCE, 1)


async def test_small_lists_do_not_wait():
    """While a large list is compiled, small ones go on."""
    turns, clock = CompilationTurns(), ManualClock()
    async with turns.take(clock) as large, turns.take(clock) as small:
        large.count(SMALL_BYTES + 1)
        small.count(SMALL_BYTES)
        with pytest.raises(NeedsTurn):
            small.count(1)


async def test_small_lists_share_their_memory():
    """Many small lists together are no more than a few: the next one waits for the turn of the large list."""
    turns, clock = CompilationTurns(), ManualClock()
    places = [turns.take(clock) for _ in range(8)]
    small = [await place.__aenter__() for place in places]
    for turn in small[:6]:
        turn.count(SMALL_BYTES)
    small[6].count(1)  # becomes the large one
    with pytest.raises(NeedsTurn):
        small[7].count(1)


async def stuck() -> None:
    """A download that never ends."""
    await asyncio.Event().wait()


@pytest.mark.parametrize("is_large", [True, False], ids=["large", "place"])
async def test_slow_sources_give_way(monkeypatch, is_large: bool):
    """Who waits for slow sources loses its turn when others wait for it, and keeps it otherwise."""
    monkeypatch.setattr(turns_module, "_WATCH_S", 0)
    turns, clock = CompilationTurns(), ManualClock()
    places = [turns.take(clock) for _ in range(2 if is_large else MAX_AT_ONCE)]
    slow, other, *_ = [await place.__aenter__() for place in places]
    if is_large:
        slow.count(SMALL_BYTES + 1)
    watched = asyncio.ensure_future(slow.watch(stuck()))
    clock.advance(PREEMPT_AFTER_S + 1)
    for _ in range(10):
        await asyncio.sleep(0)
    assert not watched.done()
    turns.note_waiting(clock)
    with pytest.raises(TooSlow, match="other lists wait"):
        await watched
    if not is_large:
        assert other.abort_reason() == ""  # one is enough


async def test_compilation_ends():
    """Sources that never end hold a compilation for minutes at most, even if nobody waits."""
    turns, clock = CompilationTurns(), ManualClock()
    async with turns.take(clock) as turn:
        clock.advance(MAX_DOWNLOAD_S + 1)
        assert "took more than" in turn.abort_reason()


async def test_slow_list_may_try_again_later():
    """The compilation itself does not download again, but a job may be retried."""
    failure = to_plain_error(SourceFailed("a", TooSlow("slow")))
    assert (TooSlow("slow").retryable, type(failure), failure.retryable) == (False, Unavailable, True)


async def test_busy():
    """Who cannot get a turn within two minutes is told to try again."""
    turns, clock = CompilationTurns(), ManualClock()
    async with turns.take(clock) as large, turns.take(clock) as other:
        large.count(SMALL_BYTES + 1)
        with pytest.raises(Unavailable, match="try again in a minute"):
            await other.wait()


async def test_lost_turn_ends():
    """A request that the platform has ended does not block the isolate."""
    turns, clock = CompilationTurns(), ManualClock()
    lost = [turns.take(clock) for _ in range(MAX_AT_ONCE)]
    for place in lost:
        await place.__aenter__()
    began_at = clock.now()
    clock.advance(TURN_S)
    async with turns.take(clock) as turn:
        turn.count(SMALL_BYTES + 1)
        await turn.wait()  # for the place of the large one
    assert clock.now() == began_at + TURN_S, "nobody was waited for"


def test_fetches_of_a_batch():
    """The lists of one request share its fetches: one for each file, and the rest in equal parts."""
    assert share_fetches([1]) == [MAX_FETCHES]
    assert share_fetches([28, 1, 1]) == [51, 24, 24]
    assert sum(share_fetches([3] * 33)) <= MAX_FETCHES
    with pytest.raises(Exception, match="name 101 files together; one request may cause 100 fetches"):
        share_fetches([50, 51])


@pytest.mark.parametrize(("sources", "requests"), [(0, 1), (1, 1), (10, 1), (11, 2), (100, 10)])
def test_charges_of_a_batch(sources: int, requests: int):
    """A batch counts as one request for each ten sources begun."""
    assert count_charges(sources) == requests
