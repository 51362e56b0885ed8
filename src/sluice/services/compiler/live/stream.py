"""POST /compile/stream: events while a list is compiled, and the list at the end."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from sluice.core.compiler.diagnostics import Diagnostic
from sluice.core.compiler.events import Event
from sluice.core.errors import SluiceError
from sluice.core.json_text import JsonObject
from sluice.core.models import parse_model
from sluice.core.ports import Log
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.guard.guard import REFUSED, TOKEN
from sluice.services.compiler.metrics.request_metrics import RecordRequest, describe_error
from sluice.services.compiler.ports import ReadGuardedBody
from sluice.services.compiler.requests import COMPILE_EXAMPLE, MAX_BODY_BYTES, CompileRequest
from sluice.web import Reply, Request, encode_json
from sluice.web.clients import find_client
from sluice.web.operations import Media, Operation, ReplyDoc, describe
from sluice.web.sse import SseComment, SseEvent, SseLongEvent, StreamItem, stream_events

# Often enough that a client who left is noticed soon, and that no proxy takes the silence for the end.
HEARTBEAT_S: Final = 5.0
PATH: Final = "/compile/stream"
_EVENTS: Final = (
    "Server-Sent Events, each with a JSON object: `log`, `source:start`, `source:complete`, `source:error`, "
    "`transformation:start`, `transformation:complete`, `progress`, `compilation:complete`, `diagnostic`, `network`, "
    "`cache`, `result` (what /compile answers, from `rules` on), and last `done` or `error`."
)
STREAM: Final = Operation(
    "streamCompilation",
    "Compile a list and report its progress",
    {200: ReplyDoc("Events, and the list at the end.", Media("text/event-stream", _EVENTS))},
    "Always compiles anew.",
    tag="Compile",
    body=CompileRequest,
    body_extras=TOKEN,
    example=COMPILE_EXAMPLE,
    problems=REFUSED,
)
_EVENT_NAMES: Final = {"download": "network"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamApi:
    guard: ReadGuardedBody
    compiler: ListCompiler
    log: Log
    record: RecordRequest

    @describe(STREAM)
    async def stream(self, request: Request) -> Reply:
        """Count the request when its stream ends: a failure inside the stream is a failure."""
        began_s = self.compiler.clock.now()
        try:
            body = parse_model(CompileRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        except SluiceError as error:
            self.record(PATH, began_s, error.status, describe_error(error))
            raise
        return stream_events(self._run(body, began_s, find_client(request.client_ip).key))

    async def _run(self, body: CompileRequest, began_s: float, client: str) -> AsyncGenerator[StreamItem, None]:
        """Compile anew, always; the task stops when the client leaves.

        A list from the caller's own content, with a report or with a benchmark is for this caller alone, and not stored.
        """
        queue: asyncio.Queue[SseEvent | SseLongEvent] = asyncio.Queue()
        yield _build_event("log", {"level": "info", "message": f"Compiling {body.configuration.name}"})
        task = asyncio.ensure_future(self._compile(body, queue, began_s, client))
        try:
            async for event in _drain(queue, task):
                yield event
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _compile(
        self, body: CompileRequest, queue: "asyncio.Queue[SseEvent | SseLongEvent]", began_s: float, client: str
    ) -> None:
        diagnostics: list[Diagnostic] = []
        order = CompileOrder.of(body, body.configuration, trigger="stream")
        order = replace(order, detailed=body.report, client=client)

        def emit(event: Event) -> None:
            queue.put_nowait(_build_event(event.name, event.data))

        try:
            compiled = await self.compiler.compile(order, emit=emit, notify=diagnostics.append)
            for diagnostic in diagnostics:
                name = _EVENT_NAMES.get(diagnostic.category, "diagnostic")
                queue.put_nowait(_build_event(name, diagnostic.as_json()))
            if not order.is_for_caller_alone:
                queue.put_nowait(await self._store(compiled, order.ttl_s))
        except SluiceError as error:
            self.record(PATH, began_s, error.status, describe_error(error))
            queue.put_nowait(_build_event("error", {"error": str(error), "status": error.status}))
        except Exception as error:  # noqa: BLE001 - the reply has begun, so this is the boundary
            self.log.error("stream.failed", error)
            self.record(PATH, began_s, 500, "internal error")
            queue.put_nowait(_build_event("error", {"error": "the request could not be handled", "status": 500}))
        else:
            self.record(PATH, began_s, 200, "")
            queue.put_nowait(SseLongEvent(chain([b"{"], compiled.members.inflate_chunks()), name="result"))
            queue.put_nowait(_build_event("done", {}))

    async def _store(self, compiled: CompressedList, ttl_s: int) -> SseEvent:
        """Store the list; if that fails, the client still gets the list and a warning."""
        if error := await self.compiler.try_store(compiled, ttl_s):
            return _build_event("log", {"level": "warn", "message": f"The list is not cached: {error}"})
        key, size = compiled.summary.cache_key, compiled.members.size
        return _build_event("cache", {"operation": "write", "key": key, "size": size})


async def _drain(
    queue: "asyncio.Queue[SseEvent | SseLongEvent]", task: "asyncio.Task[None]"
) -> AsyncGenerator[StreamItem, None]:
    """Yield events as they come, a heartbeat if there is none for a while, and the rest after the task has ended."""
    while not task.done() or not queue.empty():
        next_event = asyncio.ensure_future(queue.get())
        try:
            await asyncio.wait({next_event, task}, timeout=HEARTBEAT_S, return_when=asyncio.FIRST_COMPLETED)
            if next_event.done():
                yield next_event.result()
            elif not task.done():
                yield SseComment("still compiling")
        finally:
            next_event.cancel()


def _build_event(name: str, data: JsonObject) -> SseEvent:
    return SseEvent(encode_json(dict(data)), name=name)
