"""A running compilation, told as events of its workflow: noted at once, written down while it goes on."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from sluice.core.compiler.events import Event
from sluice.core.compiler.sources.locations import format_location
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Log
from sluice.services.compiler.workflows.events import Run, RunEvent, progressed, short
from sluice.services.compiler.workflows.log import RunLog

STEP: Final = "compile-sources"
# Between two writes, so that a list of many small sources does not become as many transactions.
_PAUSE_S: Final = 0.25
# What a phase adds to the 10 % before and the 70 % after the step.
_PHASES: Final = {"sources": (10, 45), "transformations": (45, 60), "finalize": (60, 68)}


class CompileWatch:
    """Takes the events of one compilation through `emit`, which never waits, and counts what they tell."""

    def __init__(self, run_log: RunLog, run: Run, clock: Clock, log: Log) -> None:
        self._run_log = run_log
        self._run = run
        self._clock = clock
        self._log = log
        self._noted: list[RunEvent] = []
        self._writing: asyncio.Task[None] | None = None
        self._over = False
        self.source_count = 0
        self.fetch_ms = 0  # of the slowest source: they are read at the same time
        self.transformation_count = 0
        self.transformation_ms = 0

    def emit(self, event: Event) -> None:
        told = _TOLD.get(event.name)
        if told is None:
            return
        self._count(event)
        self._noted.append(replace(told(event.data), at_ms=round(self._clock.now() * 1000)))
        if self._writing is None:
            self._writing = asyncio.ensure_future(self._write())

    @asynccontextmanager
    async def listening(self) -> AsyncIterator["CompileWatch"]:
        """Within it events are written as they come; when it is left, all of them are."""
        try:
            yield self
        finally:
            self._over = True
            if self._writing is not None:
                await self._writing
            await self._write_noted()

    def _count(self, event: Event) -> None:
        if event.name == "source:complete":
            self.source_count += 1
            self.fetch_ms = max(self.fetch_ms, event.data["durationMs"])
        elif event.name == "transformation:complete":
            self.transformation_count += 1
            self.transformation_ms += event.data["durationMs"]

    async def _write(self) -> None:
        while self._noted and not self._over:
            await self._write_noted()
            await self._clock.sleep(_PAUSE_S)
        self._writing = None

    async def _write_noted(self) -> None:
        """A list is worth more than the story of it: what cannot be written is logged and let go."""
        noted, self._noted = self._noted, []
        try:
            await self._run_log.emit(self._run, *noted)
        except SluiceError as error:
            self._log.error("workflow.events_lost", error, workflow=self._run.id, count=len(noted))


def _source(data: Mapping[str, Any]) -> dict[str, Any]:
    source = data["source"]
    told = {"source": format_location(source["source"]), "name": source.get("name")}
    place = {"sourceIndex": data["sourceIndex"], "totalSources": data["totalSources"]}
    return {name: value for name, value in told.items() if value} | place


def _source_started(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="source:fetch:started", step=STEP, data=_source(data))


def _source_completed(data: Mapping[str, Any]) -> RunEvent:
    numbers = {"ruleCount": data["ruleCount"], "durationMs": data["durationMs"]}
    return RunEvent(type="source:fetch:completed", step=STEP, data=_source(data) | numbers)


def _source_failed(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="source:fetch:failed", step=STEP, message=short(data["error"]), data=_source(data))


def _transformation_started(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="transformation:started", step=STEP, data=dict(data))


def _transformation_completed(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="transformation:completed", step=STEP, data=dict(data))


def _progress(data: Mapping[str, Any]) -> RunEvent:
    low, high = _PHASES[data["phase"]]
    share = data["current"] / data["total"] if data["total"] else 1.0
    return replace(progressed(None, round(low + (high - low) * share), data["message"]), step=STEP)


_TOLD: Final[Mapping[str, Callable[[Mapping[str, Any]], RunEvent]]] = {
    "source:start": _source_started,
    "source:complete": _source_completed,
    "source:error": _source_failed,
    "transformation:start": _transformation_started,
    "transformation:complete": _transformation_completed,
    "progress": _progress,
}
