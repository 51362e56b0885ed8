"""The conversation over one WebSocket: compilations asked for, told about while they run, and cancelled."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from sluice.core.compiler.events import Emit, Event
from sluice.core.errors import SluiceError, TooLarge
from sluice.core.ports import Clock, Log
from sluice.core.timestamps import iso
from sluice.services.compiler.live.socket_messages import (
    CompileRequest,
    Message,
    Misuse,
    OfSession,
    parse_message,
    told,
)
from sluice.web import Handler, Reply, Request, build_problem, encode_json

MAX_COMPILATIONS: Final = 3
HEARTBEAT_S: Final = 30.0
IDLE_TIMEOUT_S: Final = 300.0
MAX_WAITING: Final = 1024  # messages on their way out; a guess, several times what three compilations tell at once
MAX_MISUSES: Final = 50  # of one connection: beyond that it is no mistake any more
MAX_REMEMBERED: Final = 100
# Cloudflare carries 32 MiB in one message; the rest is for the envelope.
MAX_RESULT_CHARS: Final = 31 * 1024 * 1024
NORMAL, POLICY, FAILED = 1000, 1008, 1011


class Socket(Protocol):
    """One end of an open connection; iteration ends when the other end has left."""

    async def send_text(self, text: str) -> None: ...
    def close(self, code: int, reason: str) -> None: ...
    def __aiter__(self) -> AsyncIterator[str]: ...


class Compile(Protocol):
    """Compiles and gives the members of the reply: rules, ruleCount, metrics, compiledAt."""

    async def __call__(
        self, configuration: object, *, content: Mapping[str, str], benchmark: bool, emit: Emit
    ) -> Mapping[str, Any]: ...


# Charges the members of a message and checks their proof; raises what keeps them out.
Admit = Callable[[Mapping[str, Any]], Awaitable[object]]
Talk = Callable[[Socket], Awaitable[None]]


@dataclass(slots=True)
class Session:
    """One compilation under way."""

    task: asyncio.Task[str]
    cancelling: bool = False
    events_left_out: int = 0


@dataclass(slots=True)
class Outbox:
    """Messages on their way out, in order, and few."""

    socket: Socket
    _waiting: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    _room: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, text: str) -> None:
        """For what must be told; those who ask for it wait for `room` first."""
        self._waiting.put_nowait(text)

    def offer(self, text: str) -> bool:
        """For what may be left out; whether it was taken."""
        if self._waiting.qsize() >= MAX_WAITING:
            return False
        self.put(text)
        return True

    async def room(self) -> None:
        while self._waiting.qsize() >= MAX_WAITING:
            self._room.clear()
            await self._room.wait()

    async def send(self) -> None:
        while True:
            await self.socket.send_text(await self._waiting.get())
            self._room.set()


class Conversation:
    """From the welcome until one side leaves; whoever leaves, every compilation is stopped."""

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
    ) -> None:
        self._socket = socket
        self._compile = compile_list
        self._admit = admit
        self._clock = clock
        self._log = log
        self._connection = connection
        self._version = version
        self._outbox = Outbox(socket)
        self._sessions: dict[str, Session] = {}
        self._finished: deque[str] = deque(maxlen=MAX_REMEMBERED)
        self._heard_at = clock.now()
        self._misuses = 0
        self._over = False

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
        parts = [asyncio.ensure_future(part) for part in (self._listen(), self._outbox.send(), self._watch())]
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._over = True
            await _stopped([*parts, *(session.task for session in self._sessions.values())])
        for part in parts:
            self._report(None if part.cancelled() else part.exception())

    def _report(self, error: BaseException | None) -> None:
        """That the other end has left is no failure."""
        if error and not isinstance(error, ConnectionError):
            self._log.error("socket.failed", error, connection=self._connection)
            self._socket.close(FAILED, "internal error")

    async def _listen(self) -> None:
        async for text in self._socket:
            self._heard_at = self._clock.now()
            try:
                self._follow(*parse_message(text))
            except Misuse as misuse:
                about = {} if misuse.session_id is None else {"sessionId": misuse.session_id}
                self._send("error", error=str(misuse), code=misuse.code, **about)
                self._misuses += 1
                if self._misuses >= MAX_MISUSES:
                    self._socket.close(POLICY, "too many messages that cannot be followed")
                    return
            await self._outbox.room()

    async def _watch(self) -> None:
        while True:
            await self._clock.sleep(HEARTBEAT_S)
            if not self._sessions and self._clock.now() - self._heard_at >= IDLE_TIMEOUT_S:
                self._socket.close(NORMAL, "Connection timeout")
                return
            self._outbox.offer(self._message("pong"))

    def _follow(self, message: Message, members: Mapping[str, Any]) -> None:
        match message:
            case CompileRequest():
                self._start(message, members)
            case OfSession(type="cancel"):
                self._cancel(message.session_id)
            case OfSession():
                raise Misuse("NOT_IMPLEMENTED", f"{message.type} is not supported; use cancel", message.session_id)
            case _:
                self._send("pong")

    def _start(self, request: CompileRequest, members: Mapping[str, Any]) -> None:
        session_id = request.session_id
        if session_id in self._sessions:
            raise Misuse("DUPLICATE_SESSION", "a compilation runs under this sessionId already", session_id)
        if len(self._sessions) >= MAX_COMPILATIONS:
            most = f"at most {MAX_COMPILATIONS} compilations run at once; wait for one to end or cancel it"
            raise Misuse("TOO_MANY_COMPILATIONS", most, session_id)
        task = asyncio.ensure_future(self._compiled(request, members))
        self._sessions[session_id] = Session(task)
        # A callback, because a task that is cancelled before its first step never runs its own code.
        task.add_done_callback(partial(self._ended, session_id))

    def _cancel(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is None and session_id not in self._finished:
            raise Misuse("SESSION_NOT_FOUND", "no compilation was started under this sessionId", session_id)
        if session is None or session.cancelling:
            raise Misuse("INVALID_SESSION_STATE", "the compilation is over or being cancelled already", session_id)
        session.cancelling = True
        session.task.cancel()

    async def _compiled(self, request: CompileRequest, members: Mapping[str, Any]) -> str:
        """The message that tells the result."""
        await self._admit(members)
        session_id = request.session_id
        self._send("compile:started", sessionId=session_id, configurationName=request.configuration.get("name"))
        result = await self._compile(
            request.configuration,
            content=request.content,
            benchmark=request.benchmark,
            emit=partial(self._tell, session_id),
        )
        text = self._message("compile:complete", sessionId=session_id, **result)
        if len(text) > MAX_RESULT_CHARS:
            raise TooLarge("the list is longer than one message may be; get it by POST /compile")
        return text

    def _tell(self, session_id: str, event: Event) -> None:
        message = self._message("event", sessionId=session_id, eventType=event.name, data=dict(event.data))
        session = self._sessions.get(session_id)
        if not self._outbox.offer(message) and session:
            session.events_left_out += 1

    def _ended(self, session_id: str, task: asyncio.Task[str]) -> None:
        session = self._sessions.pop(session_id)
        self._finished.append(session_id)
        error = None if task.cancelled() else task.exception()
        if self._over:
            return
        if session.events_left_out:
            left_out = f"{session.events_left_out} events were left out, because the connection is slow"
            data = {"level": "warn", "message": left_out}
            self._send("event", sessionId=session_id, eventType="log", data=data)
        if session.cancelling or task.cancelled():
            self._send("compile:cancelled", sessionId=session_id, reason="Cancelled by client")
        elif error:
            self._failed(session_id, error)
        else:
            self._outbox.put(task.result())

    def _failed(self, session_id: str, error: BaseException) -> None:
        if isinstance(error, SluiceError):
            self._send("compile:error", sessionId=session_id, error=str(error), details=told(error))
            return
        self._log.error("socket.failed", error, connection=self._connection)
        self._send(
            "compile:error", sessionId=session_id, error="the list could not be compiled", details={"status": 500}
        )

    def _send(self, kind: str, **members: object) -> None:
        self._outbox.put(self._message(kind, **members))

    def _message(self, kind: str, **members: object) -> str:
        return encode_json({"type": kind, **members, "timestamp": iso(self._clock.now())})


async def _stopped(tasks: list[asyncio.Future[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def socket_handler(
    open_socket: Callable[[Talk], Reply], converse: Callable[[Request, Socket], Awaitable[None]]
) -> Handler:
    """Answers a request for a WebSocket with one, and any other with how to ask."""

    async def handler(request: Request) -> Reply:
        if request.headers.get("upgrade", "").strip().lower() != "websocket":
            return build_problem(
                426,
                "Upgrade required",
                "this address speaks WebSocket only: send Upgrade: websocket",
                instance=request.path,
                headers={"Upgrade": "websocket"},
            )
        return open_socket(partial(converse, request))

    return handler
