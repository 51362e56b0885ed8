"""Builds of published lists that crash, or stall, at any operation."""

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

import pytest

from fakes.binding import Crash
from fakes.d1 import FakeD1
from sluice.services.compiler.published.builds.build_queue import LEASE_MS
from unit.services.compiler.published.list_bench import ListBench, make_list, rules_of
from unit.services.compiler.published.test_builds import NAME, A, build, collect_state


def stall_at(database: FakeD1, operation: int, meanwhile: Callable[[], Awaitable[None]]) -> None:
    """Do something else before an operation of the database, once."""
    run_one, batch, left = database.run_one, database.batch, operation

    async def pause() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            await meanwhile()

    async def run_late(statement: Any) -> Any:
        await pause()
        return await run_one(statement)

    async def batch_late(statements: Any) -> Any:
        await pause()
        return await batch(statements)

    database.run_one, database.batch = run_late, batch_late  # type: ignore[method-assign]


@pytest.mark.parametrize("first", [1, 2, 3, 4])
async def test_late_build_changes_nothing(first: int):
    """A build stalls past its lease, at any operation of the database: it settles nothing of the build that took over."""
    for at in count(first, 4):
        bench = await build(formats=["hosts"])
        bench.sites.answers[A] = make_list(120)
        bench.clock.advance(3600)
        late = await bench.operator.rebuild(NAME, bench.ticket())
        left: list[Any] = []

        async def take_over(bench: ListBench = bench, late: str = late, left: list[Any] = left) -> None:
            row = await bench.builds.find(late)
            if row is None or row["started_ms"] is None or row["ended_ms"] is not None:
                return
            bench.clock.advance(LEASE_MS / 1000 + 1)
            bench.sites.answers[A] = make_list(90)
            other = await bench.operator.rebuild(NAME, bench.ticket())
            await bench.run_instance(other)
            left.extend(await collect_state(bench))

        stall_at(bench.d1, at, take_over)
        await bench.run_instance(late)
        if left:
            assert await collect_state(bench) == left
            assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 140
        elif at > 30:
            return


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("fake", ["d1", "engine"])
async def test_crash_while_starting(fake: str, before: bool):
    """After a crash at any operation, a build that was accepted exists; the cron starts one that has only its row."""
    for at in count(1):
        bench = await build()
        crashing = getattr(bench, fake)
        crashing.fail_at(at, before=before)
        try:
            accepted = await bench.operator.rebuild(NAME, bench.ticket())
        except Crash:
            bench.clock.advance(11 * 60)
            await bench.operator.run_due(0)
            waiting = [row["id"] for row in await bench.builds.load_waiting()]
            assert set(waiting) <= set(bench.engine.instances)
            continue
        assert accepted in bench.engine.instances
        assert at > 1
        return


@pytest.mark.parametrize("fake", [0, 1], ids=["d1", "r2"])
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_crash_at_every_operation(fake: int, before: bool):
    """Killed at any operation, readers have the old version or the new one; afterwards the build ends as if nothing was."""
    for at in count(1):
        bench = await build(formats=["hosts"])
        texts = {await bench.text(f"{NAME}.txt")}
        bench.sites.answers[A] = make_list(120)
        bench.clock.advance(3600)
        await bench.operator.rebuild(NAME, bench.ticket())
        bench.fakes[fake].fail_at(at, before=before)
        await bench.run_all()
        if not bench.crashes:
            assert at > 20
            break
        texts.add(await bench.text(f"{NAME}.txt"))
        known = await bench.lists.load(NAME)
        assert (known.version, known.state) == (2, "fresh")
        assert len(texts) == 2
        assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 170
        assert (await bench.text(f"{NAME}.hosts")).count("0.0.0.0 ") == 170
