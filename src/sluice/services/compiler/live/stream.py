"""POST /compile/stream: what happens, told while it happens, and the list at the end."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.diagnostics import Diagnostic
from sluice.core.compiler.events import Event
from sluice.core.errors import SluiceError
from sluice.core.ports import Log
from sluice.services.compiler.cache.cache import SYNC_TTL_S
from sluice.services.compiler.cache.compilations import Compilations
from sluice.services.compiler.cache.results import Result, unpacked
from sluice.services.compiler.ports import Guarded
from sluice.services.compiler.requests import MAX_BODY_BYTES, CompileRequest
from sluice.web import Reply, Request, SseComment, SseEvent, encode_json, parse_model, stream_events

# Often enough that a client who left is noticed soon, and no proxy takes the silence for the end.
HEARTBEAT_S: Final = 5.0
_CATEGORIES: Final = {"download": "network"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamApi:
    guard: Guarded
    compilations: Compilations
    log: Log

    async def stream(self, request: Request) -> Reply:
        given = parse_model(CompileRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        return stream_events(self._events(given))

    async def _events(self, given: CompileRequest) -> AsyncGenerator[SseEvent | SseComment, None]:
        """Always compiles anew; the task stops as soon as nobody listens."""
        told: asyncio.Queue[SseEvent] = asyncio.Queue()
        yield _event("log", {"level": "info", "message": f"Compiling {given.configuration.name}"})
        work = asyncio.ensure_future(self._work(given, told))
        try:
            async for event in _until_done(work, told):
                yield event
        finally:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _work(self, given: CompileRequest, told: "asyncio.Queue[SseEvent]") -> None:
        diagnostics: list[Diagnostic] = []

        def emit(event: Event) -> None:
            told.put_nowait(_event(event.name, event.data))

        try:
            result = await self.compilations.produce(
                given.configuration,
                path="stream",
                content=given.pre_fetched_content,
                emit=emit,
                notify=diagnostics.append,
                detailed=given.report,
            )
            for diagnostic in diagnostics:
                told.put_nowait(_event(_CATEGORIES.get(diagnostic.category, "diagnostic"), diagnostic.as_json()))
            if not given.pre_fetched_content:
                told.put_nowait(await self._kept(result))
        except SluiceError as error:
            told.put_nowait(_event("error", {"error": str(error), "status": error.status}))
        except Exception as error:  # noqa: BLE001 - the reply has begun, so this is the boundary
            self.log.error("stream.failed", error)
            told.put_nowait(_event("error", {"error": "the request could not be handled", "status": 500}))
        else:
            told.put_nowait(SseEvent("{" + unpacked(result.members).decode(), name="result"))
            told.put_nowait(_event("done", {}))

    async def _kept(self, result: Result) -> SseEvent:
        """The list is here already: that it cannot be kept is a warning."""
        try:
            await self.compilations.keep(result, SYNC_TTL_S)
        except SluiceError as error:
            self.log.error("cache.unwritable", error)
            return _event("log", {"level": "warn", "message": f"The list is not cached: {error}"})
        return _event("cache", {"operation": "write", "key": result.compiled.cache_key, "size": result.members.size})


async def _until_done(
    work: "asyncio.Task[None]", told: "asyncio.Queue[SseEvent]"
) -> AsyncGenerator[SseEvent | SseComment, None]:
    """Events as they come, a heartbeat when none does, and after the end whatever is left."""
    while not work.done() or not told.empty():
        taking = asyncio.ensure_future(told.get())
        try:
            await asyncio.wait({taking, work}, timeout=HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED)
            if taking.done():
                yield taking.result()
            elif not work.done():
                yield SseComment("still at it")
        finally:
            taking.cancel()


def _event(name: str, data: Any) -> SseEvent:
    return SseEvent(encode_json(dict(data)), name=name)
