"""Both ways to run the parts of a compilation do the same."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from fakes.clock import ManualClock
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.sources.source_errors import SourceFailed, SourceMissing
from sluice.core.concurrency import Concurrency, Sequential, event_loop_concurrency, run_without_loop
from unit.core.compiler.scripted import body, configuration

Run = Callable[[Coroutine[Any, Any, Any]], Any]
ways = pytest.mark.parametrize(
    ("concurrency", "run"),
    [(event_loop_concurrency(), asyncio.run), (Sequential(), run_without_loop)],
    ids=["side by side", "one after another"],
)


class Files:
    """Files that are read at once, and the order in which they were."""

    def __init__(self, **files: str) -> None:
        self._files = files
        self.read: list[str] = []

    async def __call__(self, location: str) -> str:
        self.read.append(location)
        if location not in self._files:
            raise SourceMissing(f"there is no {location}")
        return self._files[location]


class SteadyClock(ManualClock):
    """Passes no time, and so never waits."""

    async def sleep(self, _seconds: float) -> None: ...


def compiler(files: Files, concurrency: Concurrency) -> FilterCompiler:
    return FilterCompiler(download=files, clock=SteadyClock(), draw=lambda: 0.0, concurrency=concurrency)


@ways
def test_a_list(concurrency: Concurrency, run: Run):
    """Sources stand in their order, and a file that is used three times is read once."""
    files = Files(a="!#include c\n||a^\n!#include c", b="!#include c", c="||c^", e="c")
    value = configuration("a", "b", "b", exclusions_sources=["e"])
    result = run(compiler(files, concurrency).compile(value))
    assert body(result) == ["||a^"]
    result = run(compiler(files, concurrency).compile(configuration("a", "b", "b")))
    assert body(result) == ["||c^", "||a^", "||c^", "||c^", "||c^"]
    assert sorted(files.read) == ["a", "a", "b", "b", "c", "c", "e"]


@ways
def test_a_failure(concurrency: Concurrency, run: Run):
    """The failure of a source, or of a file that it includes, is raised with its own reason, also the second time."""
    files = Files(a="||a^\n!#include d", b="||b^\n!#include d")
    for sources in (("a", "b"), ("b", "x")):
        with pytest.raises(SourceFailed, match=r"there is no [dx]"):
            run(compiler(files, concurrency).compile(configuration(*sources)))


@ways
def test_shared_work(concurrency: Concurrency, run: Run):
    """Shared work is done once; everybody who waits for it gets its result, or its failure."""
    calls: list[str] = []

    async def work(name: str) -> str:
        calls.append(name)
        if name == "bad":
            raise SourceMissing(name)
        return name

    async def wait_twice() -> list[str]:
        good, bad = concurrency.share(work("good")), concurrency.share(work("bad"))
        for _ in range(2):
            with pytest.raises(SourceMissing, match="bad"):
                await bad
        results = [await good, await good]
        await concurrency.cancel([good, bad])
        return results

    assert run(wait_twice()) == ["good", "good"]
    assert sorted(calls) == ["bad", "good"]


def test_work_that_waits():
    """Work that waits for an event loop is refused, and not left half done."""
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            ended.append("wait")

    with pytest.raises(RuntimeError, match="run it with asyncio"):
        run_without_loop(wait())
    assert ended == ["wait"]
