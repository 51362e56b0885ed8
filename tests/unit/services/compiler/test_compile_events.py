"""The events of a running compilation, stored while it runs."""

import asyncio

import pytest

from sluice.core.compiler.configuration import Source
from sluice.core.compiler.events import (
    compilation_complete,
    progress,
    source_complete,
    source_error,
    source_start,
    transformation_complete,
    transformation_start,
)
from sluice.core.errors import Unavailable
from sluice.services.compiler.workflows.compile_events import CompileEventWriter
from sluice.services.compiler.workflows.event_log import WorkflowEventLog
from sluice.services.compiler.workflows.run_events import WorkflowRun
from unit.services.compiler.workflow_bench import Bench

RUN = WorkflowRun("wf-1", "compilation")
SOURCE = Source(source="https://lists.example/a.txt?token=secret", name="A")


def watch_of(bench: Bench) -> CompileEventWriter:
    return CompileEventWriter(bench.event_log, RUN, bench.clock, bench.log)


async def test_stored_while_it_runs():
    """Events are stored before the compilation ends."""
    bench = Bench()
    async with watch_of(bench).open() as writer:
        writer.emit(source_start(SOURCE, 0, 2))
        await asyncio.sleep(0.01)
        assert await bench.types(RUN.id) == ["source:fetch:started"]
        writer.emit(source_start(SOURCE, 1, 2))
    assert await bench.types(RUN.id) == ["source:fetch:started"] * 2


async def test_events_share_a_write():
    """Events that are emitted without a pause are one transaction."""
    bench = Bench()
    async with watch_of(bench).open() as writer:
        for index in range(40):
            writer.emit(source_start(SOURCE, index, 40))
        await asyncio.sleep(0.01)
    assert [name for name, _ in bench.d1.operations] == ["batch"]


async def test_failed_compilation():
    """Events before an error are stored before the error is raised."""
    bench = Bench()

    async def compile_and_fail() -> None:
        async with watch_of(bench).open() as writer:
            writer.emit(source_error(SOURCE, 0, 1, Unavailable("down")))
            raise Unavailable("down")

    with pytest.raises(Unavailable):
        await compile_and_fail()
    [event] = await bench.events(RUN.id)
    assert (event["type"], event["message"]) == ("source:fetch:failed", "down")


async def test_members():
    """Sources have a name and an address without its query, transformations have their counts."""
    bench = Bench()
    async with watch_of(bench).open() as writer:
        writer.emit(source_complete(SOURCE, 0, 1, rule_count=5, duration_ms=20))
        writer.emit(transformation_start("Validate", 5))
        writer.emit(transformation_complete("Validate", 5, 4, 3))
        writer.emit(transformation_complete("Compress", 4, 4, 2))
        writer.emit(compilation_complete(rules=4, duration_ms=30, sources=1, transformations=1))
    first, _, third, _ = await bench.events(RUN.id)
    assert first["data"] == {
        "source": "https://lists.example/a.txt",
        "name": "A",
        "sourceIndex": 0,
        "totalSources": 1,
        "ruleCount": 5,
        "durationMs": 20,
    }
    assert third["data"] == {"name": "Validate", "inputCount": 5, "outputCount": 4, "durationMs": 3}
    counted = (writer.source_count, writer.fetch_ms, writer.transformation_count, writer.transformation_ms)
    assert counted == (1, 20, 2, 5)


async def test_progress_stays_within_the_step():
    """Progress goes from 10 towards 70 and never beyond."""
    bench = Bench()
    async with watch_of(bench).open() as writer:
        writer.emit(progress("sources", 0, 2, "Reading"))
        writer.emit(progress("sources", 2, 2, "Read"))
        writer.emit(progress("transformations", 0, 0, "Nothing to do"))
        writer.emit(progress("finalize", 1, 1, "Done"))
    assert [event["progress"] for event in await bench.events(RUN.id)] == [10, 45, 60, 68]


async def test_unstored_events_do_not_fail_the_list():
    """If events cannot be stored, the compilation goes on, and the log has the error."""

    class Broken(WorkflowEventLog):
        async def emit(self, run: WorkflowRun, *events: object) -> None:
            raise Unavailable(f"D1 is down: {run} {events}")

    bench = Bench()
    writer = CompileEventWriter(Broken(database=bench.database, clock=bench.clock), RUN, bench.clock, bench.log)
    async with writer.open():
        writer.emit(source_start(SOURCE, 0, 1))
    assert [name for name, _ in bench.log.errors] == ["workflow.events_lost"]
