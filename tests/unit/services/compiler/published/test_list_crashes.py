"""A crash at every operation on a published list: its readers have a whole list or none, and a repeated call ends what was begun."""

from collections.abc import Awaitable, Callable
from itertools import count

import pytest

from fakes.binding import Crash
from sluice.core.errors import NotFound
from unit.services.compiler.published.list_bench import ListBench, make_list, rules_of

SOURCE = "https://lists.example/a"
NAME = "ads"
LOST_S = 601  # then the cron starts a build that has no instance

Work = Callable[[ListBench], Awaitable[None]]


async def crash_everywhere(prepare: Work, act: Work, check: Work) -> None:
    """Crash at each operation of both stores, before it and after it, repeat the call, and check what readers have."""
    for fake in range(2):
        for before in (True, False):
            for at in count(1):
                bench = ListBench({SOURCE: make_list(30)})
                await prepare(bench)
                bench.fakes[fake].fail_at(at, before=before)
                has_crashed = False
                try:
                    await act(bench)
                except Crash:
                    has_crashed = True
                    bench.compose()
                    await act(bench)
                bench.fakes[fake].fail_at(10**9, before=True)
                await run_with_cron(bench)
                await check(bench)
                if not has_crashed:
                    break


async def run_with_cron(bench: ListBench) -> None:
    """Let the cron start what was stored and never began, and run all builds in their order."""
    bench.clock.advance(LOST_S)
    await bench.operator.run_due(round(bench.clock.now() * 1000))
    for build_id in sorted(bench.engine.instances):
        await bench.run_instance(build_id)


async def nothing(_bench: ListBench) -> None:
    pass


async def put(bench: ListBench) -> None:
    await bench.put(NAME, SOURCE, formats=["hosts"])


async def put_and_build(bench: ListBench) -> None:
    await put(bench)
    await bench.run_all()


async def check_first_version(bench: ListBench) -> None:
    known = await bench.lists.load(NAME)
    assert (known.version, known.state) == (1, "fresh")
    assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 30
    assert len((await bench.text(f"{NAME}.hosts")).split("0.0.0.0 ")) == 31


async def test_put():
    """A list that is put again after a crash is one list with one version."""
    await crash_everywhere(nothing, put, check_first_version)


async def test_roll_back():
    """A rollback that is repeated publishes the rules of the older version."""

    async def prepare(bench: ListBench) -> None:
        await put_and_build(bench)
        bench.sites.answers[SOURCE] = make_list(40)
        assert await bench.rebuild(NAME) == "published"
        bench.clock.advance(3600)

    async def roll_back(bench: ListBench) -> None:
        await bench.operator.roll_back(NAME, 1, bench.ticket())

    async def check(bench: ListBench) -> None:
        known = await bench.lists.load(NAME)
        assert known.version in {3, 4}
        assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 30

    await crash_everywhere(prepare, roll_back, check)


async def test_delete():
    """A list whose removal is repeated leaves no object and no row, and may be put again."""

    async def delete(bench: ListBench) -> None:
        try:
            await bench.operator.delete(NAME)
        except NotFound:
            assert await bench.lists.find(NAME) is None

    async def check(bench: ListBench) -> None:
        assert await bench.lists.find(NAME) is None
        left = [key for key, each in bench.r2._objects.items() if each.customMetadata.get("etag")]
        assert left == []
        await put_and_build(bench)
        await check_first_version(bench)

    await crash_everywhere(put_and_build, delete, check)


@pytest.mark.parametrize("cron", [True, False])
async def test_build_without_an_instance(cron: bool):
    """A build that was stored, but whose instance was never created, is started by the next cron."""
    bench = ListBench({SOURCE: make_list(30)})
    await put_and_build(bench)
    bench.sites.answers[SOURCE] = make_list(40)
    await bench.builds.add(NAME, "build-lost")
    bench.clock.advance(LOST_S)
    if cron:
        await bench.operator.run_due(round(bench.clock.now() * 1000))
        await bench.run_all()
    assert len(rules_of(await bench.text(f"{NAME}.txt"))) == (40 if cron else 30)
