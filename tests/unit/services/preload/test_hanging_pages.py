"""Pages that hang among pages that do not, in the time of a clock that the test moves: what the others lose by them."""

import asyncio
import contextlib
import heapq
import itertools
import random
from collections.abc import AsyncIterator
from typing import Any, Literal

import pytest

from sluice.core.errors import TimedOut
from sluice.core.ports import HeaderPairs
from sluice.services.preload.warming.drain import PageInFlight, Wait
from sluice.services.preload.warming.origin import OriginWait
from unit.services.preload.world import SITE, OriginReply, PatientClock, Script, World

Order = Literal["first", "last", "mixed"]
IDLE_TURNS = 200  # of the event loop, after which everything waits for the clock


class TimerClock(PatientClock):
    """A clock with timers: when all tasks wait, it goes on to the first of them."""

    def __init__(self) -> None:
        super().__init__()
        self._timers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self._timers, (self.now() + seconds, next(self._numbers), future))
        await future

    async def run(self) -> None:
        while True:
            for _ in range(IDLE_TURNS):
                await asyncio.sleep(0)
            if self._timers:
                at, _, future = heapq.heappop(self._timers)
                if not future.done():
                    self.advance(max(0.0, at - self.now()))
                    future.set_result(None)


class TimedWorld(World):
    make_clock = TimerClock

    async def drain(self, most: int = 400) -> None:
        async with running(self):
            await super().drain(most)


@contextlib.asynccontextmanager
async def running(here: World) -> AsyncIterator[None]:
    """Let the clock go by itself."""
    assert isinstance(here.clock, TimerClock)
    runner = asyncio.ensure_future(here.clock.run())
    try:
        yield
    finally:
        runner.cancel()


def answer_after(here: World, seconds: float, *, timeout_s: float = 30.0) -> Script:
    """Return a page that takes so long; none of its requests outlives the timeout."""

    async def answer(_headers: HeaderPairs) -> OriginReply:
        await here.clock.sleep(min(seconds, timeout_s))
        if seconds > timeout_s:
            raise TimedOut(f"no answer within {timeout_s:g} s")
        return OriginReply()

    return answer


async def start(**config: Any) -> TimedWorld:
    """Return a zone whose pages take 50 ms."""
    here = TimedWorld(subrequests=1000, **config)
    await here.register()
    here.origin.default = answer_after(here, 0.05)
    return here


def hang(here: World, *paths: str) -> None:
    for path in paths:
        here.origin.scripts[SITE + path] = answer_after(here, 999)


def list_pages(good: int, hanging: int, order: Order) -> list[str]:
    paths = [f"/h{number}" for number in range(hanging)] + [f"/g{number}" for number in range(good)]
    if order == "last":
        paths.reverse()
    if order == "mixed":
        random.Random(good).shuffle(paths)
    return paths


async def fetch_good_pages(paths: list[str], *hanging: str) -> tuple[float, World]:
    """Drain the queue until every good page was asked for; return how long that took."""
    here = await start()
    hang(here, *hanging)
    began_at = here.clock.now()
    for at in range(0, len(paths), 100):
        await here.enqueue(*paths[at : at + 100])
    good = set(paths) - set(hanging)
    async with running(here):
        while good - here.origin.counts.keys():
            await here.ring_alarm()
    return max(at for at, url, _ in here.origin.requests if url.removeprefix(SITE) in good) - began_at, here


@pytest.mark.parametrize(("good", "hanging"), [(54, 6), (270, 30)])
@pytest.mark.parametrize("order", ["first", "last", "mixed"])
async def test_rate_is_kept(good: int, hanging: int, order: Order):
    """With a tenth of hanging pages the others keep nine tenths of the 120 requests a minute, wherever the hanging ones stand."""
    paths = list_pages(good, hanging, order)
    took_s, here = await fetch_good_pages(paths, *(path for path in paths if path.startswith("/h")))
    allowed_s = max(60.0, (good + hanging) / 2) if good + hanging > 120 else (good + hanging) / 2
    assert took_s <= allowed_s / 0.9
    assert here.origin.most_at_once <= 6
    # Once all others are done, those that hang fail in a row, as where nothing answers.
    assert order == "last" or here.services.state.breaker.state == "closed"


async def test_hanging_pages_get_four_requests():
    """A page that hangs gets four requests in all, the later ones with the whole 30 s; then it is a dead letter."""
    paths = list_pages(54, 6, "mixed")
    _, here = await fetch_good_pages(paths, *(f"/h{number}" for number in range(6)))
    await here.drain()
    assert {count for path, count in here.origin.counts.items() if path.startswith("/h")} == {4}
    assert {count for path, count in here.origin.counts.items() if path.startswith("/g")} == {1}
    assert (await here.zone.list_failed(10))["count"] == 6
    assert here.sql.rows("SELECT * FROM late") == []


async def test_new_page_does_not_wait():
    """While pages that timed out are tried again, a new one is fetched at once: they take half of the places."""
    paths = [f"/h{number}" for number in range(12)]
    here = await start(preload_circuit_breaker_threshold=100)
    hang(here, *paths)
    await here.enqueue(*paths)
    async with running(here):
        while max(here.origin.counts.values(), default=0) < 2:
            await here.ring_alarm()
    most = 0

    async def watch(_headers: HeaderPairs) -> OriginReply:
        nonlocal most
        most = here.origin.at_once
        return OriginReply()

    here.origin.scripts[f"{SITE}/new"] = watch
    await here.enqueue("/new")
    asked_at = here.clock.now()
    async with running(here):
        while not here.origin.counts["/new"]:
            await here.ring_alarm()
    assert most <= 1 + 3
    [fetched_at] = [at for at, url, _ in here.origin.requests if url.endswith("/new")]
    assert fetched_at - asked_at <= 30


async def test_origin_that_hangs_altogether():
    """Where nothing answers, the breaker opens after 30 s, and few requests were sent until then."""
    paths = [f"/h{number}" for number in range(60)]
    here = await start()
    hang(here, *paths)
    await here.enqueue(*paths)
    async with running(here):
        await here.ring_alarm()
    assert here.services.state.breaker.state == "open"
    assert len(here.origin.requests) <= 30


@pytest.mark.parametrize("seconds", [8.0, 20.0])
async def test_slow_origin(seconds: float):
    """Where every page takes long, at most three are interrupted, before that is known; all of them are warmed."""
    here = await start()
    here.origin.default = answer_after(here, seconds)
    paths = [f"/s{number}" for number in range(30)]
    batch = await here.enqueue(*paths)
    await here.drain()
    assert (await here.batch(batch))["done"] == 30
    wasted = len(here.origin.requests) - 30
    assert wasted <= (3 if seconds < 10 else 9)


async def test_slow_page_among_fast_ones():
    """A page that takes 20 s is warmed by its first request: it holds one place, and nobody needs that."""
    here = await start()
    here.origin.scripts[f"{SITE}/slow"] = answer_after(here, 20)
    batch = await here.enqueue("/slow", *(f"/g{number}" for number in range(80)))
    await here.drain()
    assert (await here.batch(batch))["done"] == 81
    assert here.origin.counts["/slow"] == 1


async def test_no_wait_without_end():
    """A request becomes slow at the very time that was waited for: the sum of two times may be a little less than it should be."""
    here = await World(preload_max_concurrency=1).register()
    began_at, now, slow_s = 1_800_000_138.924, 1_800_000_146.754, 7.83
    assert now - began_at < slow_s
    assert began_at + slow_s == now
    await here.enqueue("/a")
    entry = here.services.queue.lease(began_at, 90)
    assert entry is not None
    here.services.alerts.count_result(now, ok=True, latency_ms=783.0)
    drain = here.services.build_drain()
    under_way = asyncio.ensure_future(asyncio.sleep(0))
    drain._tasks[under_way] = PageInFlight(
        entry, began_at, OriginWait(), is_late=False, is_preemptible=True, is_probe=False
    )
    assert drain._find_slow_s(now) == slow_s
    assert drain._preempt_slow_request(now, 1) == Wait(None)
    await under_way
