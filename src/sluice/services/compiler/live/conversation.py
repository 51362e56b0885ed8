"""One WebSocket connection: compilations that are requested, reported while they run, and cancelled."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from sluice.core.compiler.events import Emit, Event
from sluice.core.errors import SluiceError, TooLarge
from sluice.core.json_text import JsonObject
from sluice.core.ports import Clock, Log
from sluice.core.timestamps import iso
from sluice.core.waits import clamp_wait
from sluice.services.compiler.cache.compiled_list import FilterList
from sluice.services.compiler.live.send_queue import SendQueue
from sluice.services.compiler.live.socket_messages import (
    BadMessage,
    CancelMessage,
    SocketCompileMessage,
    SocketMessage,
    UnsupportedMessage,
    error_details,
    parse_message,
)
from sluice.web import encode_json

MAX_COMPILATIONS: Final = 3
HEARTBEAT_S: Final = 30.0
IDLE_TIMEOUT_S: Final = 300.0
UNUSED_TIMEOUT_S: Final = 900.0  # without a compilation, however many pings
MAX_BAD_MESSAGES: Final = 50  # of one connection, then it is closed
MAX_REMEMBERED: Final = 100
# Cloudflare carries 32 MiB in one message; the rest is for the envelope.
MAX_RESULT_CHARS: Final = 31 * 1024 * 1024
NORMAL, POLICY, FAILED = 1000, 1008, 1011


class Socket(Protocol):
    """One end of an open connection; iteration ends when the other end has left."""

    async def send_text(self, text: str) -> None: ...
    def close(self, code: int, reason: str) -> None: ...
    def __aiter__(self) -> AsyncIterator[str]: ...


# Compiles a list and returns the members of the reply: rules, ruleCount, metrics, compiledAt.
Compile = Callable[[SocketCompileMessage, Emit], Awaitable[FilterList]]
# Charges the members of a message and checks their Turnstile token; raises if the message is not allowed.
Admit = Callable[[JsonObject], Awaitable[object]]


@dataclass(slots=True)
class Session:
    """One running compilation."""

    task: asyncio.Task[str]
    is_cancelled: bool = False
    dropped_events: int = 0


class Conversation:
    """Runs from the welcome until one side leaves, and stops every compilation then."""

    def __init__(
        self,
        socket: Socket,
        *,
        compile_list: Compile,
        admit: Admit,
        clock: Clock,
        log: Log,
        connection: str,
        version: str,
        on_heartbeat: Callable[[], None] = lambda: None,
    ) -> None:
        self._socket = socket
        self._compile = compile_list
        self._admit = admit
        self._clock = clock
        self._log = log
        self._connection = connection
        self._version = version
        self._on_heartbeat = on_heartbeat
        self._outbox = SendQueue(socket)
        self._sessions: dict[str, Session] = {}
        self._finished: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._received_at = self._used_at = clock.now()
        self._bad_messages = 0
        self._is_over = False

    async def run(self) -> None:
        self._send(
            "welcome",
            version=self._version,
            connectionId=self._connection,
            capabilities={
                "maxConcurrentCompilations": MAX_COMPILATIONS,
                "supportsPauseResume": False,
                "supportsStreaming": True,
            },
        )
        tasks = [asyncio.ensure_future(work) for work in (self._listen(), self._outbox.send(), self._send_heartbeats())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._is_over = True
            await _stop_tasks([*tasks, *(session.task for session in self._sessions.values())])
        for task in tasks:
            self._log_failure(None if task.cancelled() else task.exception())

    def _log_failure(self, error: BaseException | None) -> None:
        """Log the error of a task, unless it is that the client has left."""
        if error and not isinstance(error, ConnectionError):
            self._log.error("socket.failed", error, connection=self._connection)
            self._socket.close(FAILED, "internal error")

    async def _listen(self) -> None:
        async for text in self._socket:
            self._received_at = self._clock.now()
            try:
                self._handle_message(*parse_message(text))
            except BadMessage as bad:
                session = {} if bad.session_id is None else {"sessionId": bad.session_id}
                self._send("error", error=str(bad), code=bad.code, **session)
                self._bad_messages += 1
                if self._bad_messages >= MAX_BAD_MESSAGES:
                    self._socket.close(POLICY, "too many bad messages")
                    return
            await self._outbox.wait_for_room()

    async def _send_heartbeats(self) -> None:
        while True:
            await self._clock.sleep(HEARTBEAT_S)
            self._on_heartbeat()
            if not self._sessions and self._is_idle(self._clock.now()):
                self._socket.close(NORMAL, "Connection timeout")
                return
            self._outbox.offer(self._message("pong"))

    def _is_idle(self, now: float) -> bool:
        self._received_at, self._used_at = (clamp_wait(at, now, 0) for at in (self._received_at, self._used_at))
        return now - self._received_at >= IDLE_TIMEOUT_S or now - self._used_at >= UNUSED_TIMEOUT_S

    def _handle_message(self, message: SocketMessage, members: JsonObject) -> None:
        match message:
            case SocketCompileMessage():
                self._start(message, members)
            case CancelMessage(session_id=session_id):
                self._cancel(session_id)
            case UnsupportedMessage(type=kind, session_id=session_id):
                raise BadMessage("NOT_IMPLEMENTED", f"{kind} is not supported; use cancel", session_id)
            case _:
                self._send("pong")

    def _start(self, request: SocketCompileMessage, members: JsonObject) -> None:
        session_id = request.session_id
        if session_id in self._sessions:
            raise BadMessage("DUPLICATE_SESSION", "a compilation runs under this sessionId already", session_id)
        if len(self._sessions) >= MAX_COMPILATIONS:
            reason = f"at most {MAX_COMPILATIONS} compilations run at once; wait for one to end or cancel it"
            raise BadMessage("TOO_MANY_COMPILATIONS", reason, session_id)
        task = asyncio.ensure_future(self._compile_session(request, members))
        self._sessions[session_id] = Session(task)
        # A callback, because a task that is cancelled before its first step never runs its own code.
        task.add_done_callback(partial(self._finish_session, session_id))

    def _cancel(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is None and session_id not in self._finished:
            raise BadMessage("SESSION_NOT_FOUND", "no compilation was started under this sessionId", session_id)
        if session is None or session.is_cancelled:
            raise BadMessage("INVALID_SESSION_STATE", "the compilation is over or being cancelled already", session_id)
        session.is_cancelled = True
        session.task.cancel()

    async def _compile_session(self, request: SocketCompileMessage, members: JsonObject) -> str:
        """Return the message with the result."""
        await self._admit(members)
        session_id = request.session_id
        self._send("compile:started", sessionId=session_id, configurationName=request.configuration.get("name"))
        result = await self._compile(request, partial(self._send_event, session_id))
        text = self._message("compile:complete", sessionId=session_id, **result)
        if len(text) > MAX_RESULT_CHARS:
            raise TooLarge("the list is too long for one message; get it with POST /compile")
        return text

    def _send_event(self, session_id: str, event: Event) -> None:
        message = self._message("event", sessionId=session_id, eventType=event.name, data=dict(event.data))
        session = self._sessions.get(session_id)
        if not self._outbox.offer(message) and session:
            session.dropped_events += 1

    def _finish_session(self, session_id: str, task: asyncio.Task[str]) -> None:
        session = self._sessions.pop(session_id)
        self._finished.append(session_id)
        self._used_at = self._clock.now()
        error = None if task.cancelled() else task.exception()
        if self._is_over:
            return
        if session.dropped_events:
            warning = f"{session.dropped_events} events were left out, because the connection is slow"
            data = {"level": "warn", "message": warning}
            self._send("event", sessionId=session_id, eventType="log", data=data)
        if session.is_cancelled or task.cancelled():
            self._send("compile:cancelled", sessionId=session_id, reason="Cancelled by client")
        elif error:
            self._send_failure(session_id, error)
        else:
            self._outbox.put(task.result())

    def _send_failure(self, session_id: str, error: BaseException) -> None:
        if isinstance(error, SluiceError):
            self._send("compile:error", sessionId=session_id, error=str(error), details=error_details(error))
            return
        self._log.error("socket.failed", error, connection=self._connection)
        self._send(
            "compile:error", sessionId=session_id, error="the list could not be compiled", details={"status": 500}
        )

    def _send(self, kind: str, **members: object) -> None:
        self._outbox.put(self._message(kind, **members))

    def _message(self, kind: str, **members: object) -> str:
        return encode_json({"type": kind, **members, "timestamp": iso(self._clock.now())})


async def _stop_tasks(tasks: "list[asyncio.Future[None] | asyncio.Future[str]]") -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
