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
    MAX_OF_CLIENT,
    PREEMPT_AFTER_S,
    SMALL_BYTES,
    TURN_S,
    CompilationTurns,
    NeedsTurn,
    TooSlow,
    Turn,
    Waiting,
)


class RealClock(ManualClock):
    """Lets other tasks run while one sleeps."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        await asyncio.sleep(0)


class HeldClock(ManualClock):
    """Time passes only by `advance`, however long others sleep."""

    async def sleep(self, _seconds: float) -> None:
        await asyncio.sleep(0)


async def let_others_look() -> None:
    """Let every waiting task look a few times."""
    for _ in range(10):
        await asyncio.sleep(0)


class Holder:
    """A compilation that holds its place until the test ends it."""

    def __init__(self, turns: CompilationTurns, clock: ManualClock, client: str) -> None:
        self.turn: Turn | None = None
        self._end = asyncio.Event()
        self.task = asyncio.ensure_future(self._hold(turns, clock, client))

    async def _hold(self, turns: CompilationTurns, clock: ManualClock, client: str) -> None:
        async with turns.take(clock, client) as self.turn:
            await self._end.wait()

    async def end(self) -> None:
        self._end.set()
        await self.task


async def hold(turns: CompilationTurns, clock: ManualClock, *clients: str) -> list[Holder]:
    """Start a compilation for each client, in this order."""
    holders = [Holder(turns, clock, client) for client in clients]
    await let_others_look()
    return holders


def list_holding(holders: list[Holder]) -> list[bool]:
    return [holder.turn is not None for holder in holders]


async def test_one_large_at_a_time():
    """Thirty lists are compiled at once, but only one of them is large; nobody waits forever."""
    turns, clock = CompilationTurns(), RealClock()
    running, large, most, most_large = 0, 0, 0, 0

    async def compile_large(number: int) -> None:
        nonlocal running, large, most, most_large
        async with turns.take(clock, f"client {number % 2}") as turn:
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

    await asyncio.gather(*map(compile_large, range(MAX_AT_ONCE + 10)))
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
    turns, clock = CompilationTurns(), HeldClock()
    holders = await hold(turns, clock, *(f"client {at % 2}" for at in range(2 if is_large else MAX_AT_ONCE)))
    slow, other = holders[0].turn, holders[1].turn
    assert slow
    assert other
    if is_large:
        slow.count(SMALL_BYTES + 1)
    watched = asyncio.ensure_future(slow.watch(stuck()))
    clock.advance(PREEMPT_AFTER_S + 1)
    await let_others_look()
    assert not watched.done()
    waiting = asyncio.ensure_future(other.wait()) if is_large else Holder(turns, clock, "other").task
    with pytest.raises(TooSlow, match="other lists wait"):
        await watched
    if not is_large:
        assert other.abort_reason() == ""  # one is enough
    waiting.cancel()


async def test_no_client_holds_all_places():
    """Beyond its share a client waits, although there are places; another client gets one at once."""
    turns, clock = CompilationTurns(), HeldClock()
    greedy = await hold(turns, clock, *["greedy"] * MAX_AT_ONCE)
    assert list_holding(greedy).count(True) == MAX_OF_CLIENT
    [other] = await hold(turns, clock, "other")
    assert other.turn
    await greedy[0].end()
    await let_others_look()
    assert list_holding(greedy).count(True) == MAX_OF_CLIENT + 1, "its own place goes to its next one"


async def test_other_client_gets_the_next_place():
    """Of those who wait, the client with the fewest places is next, then the one who came first."""
    turns, clock = CompilationTurns(), HeldClock()
    running = await hold(turns, clock, *(f"greedy {at % 2}" for at in range(MAX_AT_ONCE)))
    waiting = await hold(turns, clock, "greedy 0", "greedy 1", "one", "two", "one")
    for expected in ([2], [2, 3], [2, 3, 4], [0, 2, 3, 4]):
        await running.pop().end()
        await let_others_look()
        assert [at for at, holds in enumerate(list_holding(waiting)) if holds] == expected


async def test_first_come_first_served():
    """Those who came first are served first, however often the others look."""
    turns, clock = CompilationTurns(), HeldClock()
    running = await hold(turns, clock, *map(str, range(MAX_AT_ONCE)))
    waiting = await hold(turns, clock, "a", "b", "c")
    for number in (1, 2, 3):
        await running.pop().end()
        await let_others_look()
        assert list_holding(waiting) == [True] * number + [False] * (3 - number)


async def test_as_many_give_way_as_wait():
    """Of the compilations over their time, those of the client with the most places give way, as many as others wait for."""
    turns, clock = CompilationTurns(), HeldClock()
    first = await hold(turns, clock, *["small"] * 10)
    slow = await hold(turns, clock, *["greedy"] * MAX_OF_CLIENT)
    clock.advance(PREEMPT_AFTER_S + 1)
    await hold(turns, clock, "a", "b", "c")
    ending = [holder.turn.abort_reason() != "" for holder in slow if holder.turn]
    assert ending == [True] * 3 + [False] * (MAX_OF_CLIENT - 3)
    assert not any(holder.turn.abort_reason() for holder in first if holder.turn)


async def test_slow_lists_of_a_client_give_way_to_its_own():
    """A client that has its share of places, and slow sources in all of them, waits no longer than others."""
    turns, clock = CompilationTurns(), HeldClock()
    slow = await hold(turns, clock, *["greedy"] * MAX_OF_CLIENT)
    clock.advance(PREEMPT_AFTER_S + 1)
    assert not any(holder.turn.abort_reason() for holder in slow if holder.turn)
    await hold(turns, clock, "greedy")
    assert [holder.turn.abort_reason() != "" for holder in slow if holder.turn].count(True) == 1


async def test_large_place_goes_round():
    """The place of the large one goes to the client with the fewest compilations; nobody else takes it meanwhile."""
    turns, clock = CompilationTurns(), HeldClock()
    holders = await hold(turns, clock, "greedy", "greedy", "greedy", "other", "late")
    large, second, _, other, late = [holder.turn for holder in holders if holder.turn]
    large.count(SMALL_BYTES + 1)
    waiting = [asyncio.ensure_future(turn.wait()) for turn in (second, other)]
    await let_others_look()
    await holders[0].end()
    with pytest.raises(NeedsTurn):
        late.count(SMALL_BYTES + 1)
    await waiting[1]
    assert not waiting[0].done()
    waiting[0].cancel()


async def test_lost_waiter_holds_up_nobody():
    """A request that the platform ended while it waited never looks again, and is passed over after a few seconds."""
    turns, clock = CompilationTurns(), HeldClock()
    running = await hold(turns, clock, *map(str, range(MAX_AT_ONCE)))
    turns._line.append(Waiting("lost", clock.now()))
    [waiting] = await hold(turns, clock, "a")
    await running.pop().end()
    await let_others_look()
    assert waiting.turn is None
    clock.advance(6)
    await let_others_look()
    assert waiting.turn


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
    lost = [turns.take(clock, f"client {at % 2}") for at in range(MAX_AT_ONCE)]
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
