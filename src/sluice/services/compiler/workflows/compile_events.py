"""The events of a running compilation as workflow events: collected at once, stored while it runs."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from sluice.core.compiler.events import Event
from sluice.core.compiler.sources.locations import format_location
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Log
from sluice.services.compiler.workflows.event_log import WorkflowEventLog
from sluice.services.compiler.workflows.run_events import RunEvent, WorkflowRun, shorten, workflow_progress

STEP: Final = "compile-sources"
# Between two writes, so that a list of many small sources does not become as many transactions.
_PAUSE_S: Final = 0.25
# The progress of each phase, between the 10 % before and the 70 % after the step.
_PROGRESS_RANGES: Final = {"sources": (10, 45), "transformations": (45, 60), "finalize": (60, 68)}


class CompileEventWriter:
    """Receives the events of one compilation through `emit`, which never waits; counts sources and transformations."""

    def __init__(self, event_log: WorkflowEventLog, run: WorkflowRun, clock: Clock, log: Log) -> None:
        self._event_log = event_log
        self._run = run
        self._clock = clock
        self._log = log
        self._pending: list[RunEvent] = []
        self._writer: asyncio.Task[None] | None = None
        self._is_closed = False
        self.source_count = 0
        self.fetch_ms = 0  # of the slowest source: they are downloaded in parallel
        self.transformation_count = 0
        self.transformation_ms = 0

    def emit(self, event: Event) -> None:
        convert = _CONVERTERS.get(event.name)
        if convert is None:
            return
        self._count(event)
        self._pending.append(replace(convert(event.data), at_ms=round(self._clock.now() * 1000)))
        if self._writer is None:
            self._writer = asyncio.ensure_future(self._write())

    @asynccontextmanager
    async def open(self) -> AsyncIterator["CompileEventWriter"]:
        """Store events while the block runs; when it ends, all of them are stored."""
        try:
            yield self
        finally:
            self._is_closed = True
            if self._writer is not None:
                await self._writer
            await self._write_pending()

    def _count(self, event: Event) -> None:
        if event.name == "source:complete":
            self.source_count += 1
            self.fetch_ms = max(self.fetch_ms, event.data["durationMs"])
        elif event.name == "transformation:complete":
            self.transformation_count += 1
            self.transformation_ms += event.data["durationMs"]

    async def _write(self) -> None:
        while self._pending and not self._is_closed:
            await self._write_pending()
            await self._clock.sleep(_PAUSE_S)
        self._writer = None

    async def _write_pending(self) -> None:
        """Write the collected events. Those that cannot be stored are logged and dropped: they must not fail the compilation."""
        events, self._pending = self._pending, []
        try:
            await self._event_log.emit(self._run, *events)
        except SluiceError as error:
            self._log.error("workflow.events_lost", error, workflow=self._run.id, count=len(events))


def _source(data: Mapping[str, Any]) -> dict[str, Any]:
    source = data["source"]
    names = {"source": format_location(source["source"]), "name": source.get("name")}
    place = {"sourceIndex": data["sourceIndex"], "totalSources": data["totalSources"]}
    return {name: value for name, value in names.items() if value} | place


def _source_started(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="source:fetch:started", step=STEP, data=_source(data))


def _source_completed(data: Mapping[str, Any]) -> RunEvent:
    numbers = {"ruleCount": data["ruleCount"], "durationMs": data["durationMs"]}
    return RunEvent(type="source:fetch:completed", step=STEP, data=_source(data) | numbers)


def _source_failed(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="source:fetch:failed", step=STEP, message=shorten(data["error"]), data=_source(data))


def _transformation_started(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="transformation:started", step=STEP, data=dict(data))


def _transformation_completed(data: Mapping[str, Any]) -> RunEvent:
    return RunEvent(type="transformation:completed", step=STEP, data=dict(data))


def _progress(data: Mapping[str, Any]) -> RunEvent:
    low, high = _PROGRESS_RANGES[data["phase"]]
    share = data["current"] / data["total"] if data["total"] else 1.0
    return replace(workflow_progress(None, round(low + (high - low) * share), data["message"]), step=STEP)


_CONVERTERS: Final[Mapping[str, Callable[[Mapping[str, Any]], RunEvent]]] = {
    "source:start": _source_started,
    "source:complete": _source_completed,
    "source:error": _source_failed,
    "transformation:start": _transformation_started,
    "transformation:complete": _transformation_completed,
    "progress": _progress,
}
