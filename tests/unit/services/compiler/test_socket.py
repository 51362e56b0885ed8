"""A WebSocket connection, from both ends."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.compiler.events import Emit, Event
from sluice.core.errors import BadField, Invalid, TooManyRequests
from sluice.core.timestamps import iso
from sluice.services.compiler.cache.compiled_list import FilterList
from sluice.services.compiler.live import conversation
from sluice.services.compiler.live.conversation import MAX_BAD_MESSAGES, Conversation
from sluice.services.compiler.live.send_queue import MAX_WAITING
from sluice.services.compiler.live.socket_messages import (
    MAX_MESSAGE_BYTES,
    BadMessage,
    SocketCompileMessage,
    parse_message,
)
from unit.services.compiler.listeners import ListLog

CONFIGURATION = {"name": "T", "sources": [{"source": "https://lists.test/a"}]}
RESULT = {
    "rules": ["||a.test^"],
    "ruleCount": 1,
    "metrics": {"totalDurationMs": 1},
    "compiledAt": "2026-11-16T00:00:00Z",
}


class SteppedClock:
    """Time that passes when the test says so, for everyone who sleeps."""

    def __init__(self) -> None:
        self._now = 1_800_000_000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._now + seconds, woken))
        await woken

    async def advance(self, seconds: float) -> None:
        self._now += seconds
        due = [sleeper for sleeper in self._sleepers if sleeper[0] <= self._now]
        self._sleepers = [sleeper for sleeper in self._sleepers if sleeper[0] > self._now]
        for _, woken in due:
            if not woken.done():
                woken.set_result(None)
        await settle()


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class Client:
    """The other end: what it sends, and what it has received."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.closed: tuple[int, str] | None = None
        self.slow = asyncio.Event()
        self.slow.set()
        self.failure: Exception | None = None
        self._sent: asyncio.Queue[str | None] = asyncio.Queue()

    async def send(self, message: object) -> None:
        self._sent.put_nowait(message if isinstance(message, str) else json.dumps(message))
        await settle()

    async def leave(self) -> None:
        self._sent.put_nowait(None)
        await settle()

    def types(self) -> list[str]:
        return [message["type"] for message in self.received]

    def last(self) -> dict[str, Any]:
        return {name: value for name, value in self.received[-1].items() if name != "timestamp"}

    async def send_text(self, text: str) -> None:
        await self.slow.wait()
        if self.failure:
            raise self.failure
        self.received.append(json.loads(text))

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)
        self._sent.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (text := await self._sent.get()) is not None:
            yield text


class Compiler:
    """Compiles when the test says so; records what runs and what was stopped."""

    def __init__(self) -> None:
        self.running: dict[str, asyncio.Future[Any]] = {}
        self.stopped: list[str] = []
        self.emit: Emit = lambda _event: None
        self.requests: list[SocketCompileMessage] = []

    async def __call__(self, request: SocketCompileMessage, emit: Emit) -> FilterList:
        name = request.configuration.get("name", "")
        self.emit = emit
        self.requests.append(request)
        self.running[name] = asyncio.get_running_loop().create_future()
        try:
            result: FilterList = await self.running[name]
        except asyncio.CancelledError:
            self.stopped.append(name)
            raise
        return result


class Connection:
    """An open connection with all its parts at hand."""

    def __init__(self, admit: Callable[[Mapping[str, Any]], Coroutine[Any, Any, object]] | None = None) -> None:
        self.client, self.clock, self.compiler, self.log = Client(), SteppedClock(), Compiler(), ListLog()
        self.admitted: list[Mapping[str, Any]] = []
        conversation_run = Conversation(
            self.client,
            compile_list=self.compiler,
            admit=admit or self._admit,
            clock=self.clock,
            log=self.log,
            connection="ws-1",
            version="1.2.3",
        )
        self.task = asyncio.ensure_future(conversation_run.run())

    async def _admit(self, members: Mapping[str, Any]) -> None:
        self.admitted.append(members)

    async def compile(self, session: str, **more: object) -> None:
        configuration = CONFIGURATION | {"name": session}
        await self.client.send({"type": "compile", "sessionId": session, "configuration": configuration, **more})

    async def end(self) -> None:
        await self.client.leave()
        await asyncio.wait_for(self.task, 240)


async def test_welcome():
    """The first message has the version, the connection and the capabilities."""
    connection = Connection()
    await settle()
    assert connection.client.last() == {
        "type": "welcome",
        "version": "1.2.3",
        "connectionId": "ws-1",
        "capabilities": {"maxConcurrentCompilations": 3, "supportsPauseResume": False, "supportsStreaming": True},
    }
    assert connection.client.received[0]["timestamp"] == iso(connection.clock.now())
    await connection.end()


async def test_ping():
    """A ping is answered."""
    connection = Connection()
    await connection.client.send({"type": "ping", "timestamp": 5})
    assert connection.client.types() == ["welcome", "pong"]
    await connection.end()


async def test_compile():
    """A compilation is charged, started, reported in order, and completed with the list."""
    connection = Connection()
    await connection.compile("a", preFetchedContent={"k": "||a^"}, benchmark=True, turnstileToken="t")
    assert connection.client.last() == {"type": "compile:started", "sessionId": "a", "configurationName": "a"}
    assert connection.admitted[0]["turnstileToken"] == "t"
    assert connection.compiler.requests[0].pre_fetched_content == {"k": "||a^"}
    assert connection.compiler.requests[0].benchmark is True
    for number in range(3):
        connection.compiler.emit(Event("progress", {"current": number}))
    connection.compiler.running["a"].set_result(RESULT)
    await settle()
    events = [message["data"] for message in connection.client.received if message["type"] == "event"]
    assert events == [{"current": 0}, {"current": 1}, {"current": 2}]
    assert connection.client.received[2]["eventType"] == "progress"
    assert connection.client.last() == {"type": "compile:complete", "sessionId": "a", **RESULT}
    await connection.end()


async def test_large_result():
    """A list of many megabytes arrives whole."""
    connection = Connection()
    await connection.compile("a")
    rules = [f"||ads{number}.example.com^" for number in range(300_000)]
    connection.compiler.running["a"].set_result(RESULT | {"rules": rules})
    await settle()
    assert connection.client.received[-1]["rules"] == rules
    await connection.end()


async def test_result_beyond_one_message(monkeypatch: pytest.MonkeyPatch):
    """A list that is too long for one message is an error that names the alternative."""
    monkeypatch.setattr(conversation, "MAX_RESULT_CHARS", 1000)
    connection = Connection()
    await connection.compile("a")
    connection.compiler.running["a"].set_result(RESULT | {"rules": ["x" * 1000]})
    await settle()
    assert "POST /compile" in connection.client.last()["error"]
    await connection.end()


async def test_invalid_configuration():
    """An invalid configuration is reported with its fields."""
    connection = Connection()
    await connection.compile("a")
    connection.compiler.running["a"].set_exception(Invalid("name is required", [BadField("name", "is required")]))
    await settle()
    assert connection.client.last() == {
        "type": "compile:error",
        "sessionId": "a",
        "error": "name is required",
        "details": {
            "title": "Invalid request",
            "status": 400,
            "retryable": False,
            "errors": [{"path": "name", "reason": "is required"}],
        },
    }
    await connection.end()


async def test_defect():
    """A defect is logged, and the client sees no internal detail."""
    connection = Connection()
    await connection.compile("a")
    connection.compiler.running["a"].set_exception(RuntimeError("a secret detail"))
    await settle()
    assert connection.client.last()["type"] == "compile:error"
    assert "secret" not in json.dumps(connection.client.received)
    assert [name for name, _ in connection.log.errors] == ["socket.failed"]
    await connection.end()


async def test_charge():
    """A client over its limit gets the time to wait, and nothing is compiled."""

    async def full(_members: Mapping[str, Any]) -> None:
        raise TooManyRequests("Rate limit exceeded.", retry_after_s=9)

    connection = Connection(full)
    await connection.compile("a")
    assert connection.client.last()["type"] == "compile:error"
    assert connection.client.last()["details"]["retryAfter"] == 9
    assert connection.compiler.running == {}
    await connection.end()


async def test_cancel_stops_the_work():
    """Cancelling stops the compilation, frees its slot and is reported once."""
    connection = Connection()
    await connection.compile("a")
    await connection.client.send({"type": "cancel", "sessionId": "a"})
    assert connection.compiler.stopped == ["a"]
    assert connection.client.last() == {"type": "compile:cancelled", "sessionId": "a", "reason": "Cancelled by client"}
    await connection.compile("a")
    assert connection.client.last()["type"] == "compile:started"
    await connection.end()


async def test_cancel_before_the_first_step():
    """A compilation that is cancelled before its first step is cancelled too."""
    connection = Connection()
    configuration = CONFIGURATION | {"name": "a"}
    connection.client._sent.put_nowait(
        json.dumps({"type": "compile", "sessionId": "a", "configuration": configuration})
    )
    await connection.client.send({"type": "cancel", "sessionId": "a"})
    assert connection.client.types() == ["welcome", "compile:cancelled"]
    await connection.end()


async def test_cancel_without_a_compilation():
    """Cancelling is refused for a session that never ran, is over, or is being cancelled."""
    connection = Connection()
    await connection.client.send({"type": "cancel", "sessionId": "nothing"})
    assert connection.client.last()["code"] == "SESSION_NOT_FOUND"
    await connection.compile("a")
    connection.compiler.running["a"].set_result(RESULT)
    await settle()
    await connection.client.send({"type": "cancel", "sessionId": "a"})
    assert connection.client.last()["code"] == "INVALID_SESSION_STATE"
    await connection.end()


async def test_three_at_once():
    """A fourth compilation is refused until one of three is over; a running session id is taken."""
    connection = Connection()
    for session in ("a", "b", "c"):
        await connection.compile(session)
    await connection.compile("a")
    assert (connection.client.last()["code"], connection.client.last()["sessionId"]) == ("DUPLICATE_SESSION", "a")
    await connection.compile("d")
    assert connection.client.last()["code"] == "TOO_MANY_COMPILATIONS"
    connection.compiler.running["b"].set_result(RESULT)
    await settle()
    await connection.compile("d")
    assert connection.client.last() == {"type": "compile:started", "sessionId": "d", "configurationName": "d"}
    assert len(connection.admitted) == 4
    await connection.end()


@pytest.mark.parametrize("kind", ["pause", "resume"])
async def test_not_implemented(kind: str):
    """Pausing is refused as unsupported."""
    connection = Connection()
    await connection.client.send({"type": kind, "sessionId": "a"})
    assert (connection.client.last()["code"], connection.client.last()["sessionId"]) == ("NOT_IMPLEMENTED", "a")
    await connection.end()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "INVALID_MESSAGE"),
        ("{", "INVALID_MESSAGE"),
        ("[]", "INVALID_MESSAGE"),
        ("null", "INVALID_MESSAGE"),
        ("{}", "INVALID_MESSAGE"),
        ('{"type":5}', "INVALID_MESSAGE"),
        ('{"type":"ping","type":"ping"}', "INVALID_MESSAGE"),
        ("[" * 1000, "INVALID_MESSAGE"),
        ('{"type":"hello"}', "UNKNOWN_MESSAGE_TYPE"),
        ('{"type":"ping","more":1}', "INVALID_MESSAGE"),
        ('{"type":"cancel"}', "INVALID_MESSAGE"),
        ('{"type":"cancel","sessionId":""}', "INVALID_MESSAGE"),
        ('{"type":"cancel","sessionId":"' + "x" * 129 + '"}', "INVALID_MESSAGE"),
        ('{"type":"compile","sessionId":"a"}', "INVALID_MESSAGE"),
        ('{"type":"compile","sessionId":1,"configuration":{}}', "INVALID_MESSAGE"),
        ('{"type":"compile","sessionId":"a","configuration":[]}', "INVALID_MESSAGE"),
        ('{"type":"compile","sessionId":"a","configuration":{},"benchmark":"yes"}', "INVALID_MESSAGE"),
        ('{"type":"compile","sessionId":"a","configuration":{},"preFetchedContent":{"k":1}}', "INVALID_MESSAGE"),
        ('"' + "x" * MAX_MESSAGE_BYTES + '"', "MESSAGE_TOO_LARGE"),
        ('"' + "é" * (MAX_MESSAGE_BYTES // 2) + '"', "MESSAGE_TOO_LARGE"),
    ],
)
async def test_bad_message(text: str, code: str):
    """A bad message gets its code, is not charged, and the connection stays open."""
    connection = Connection()
    await connection.client.send(text)
    assert (connection.client.last()["type"], connection.client.last()["code"]) == ("error", code)
    assert connection.admitted == []
    await connection.client.send({"type": "ping"})
    assert connection.client.last()["type"] == "pong"
    await connection.end()


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text_is_a_message_or_bad(text: str):
    """Any text is parsed or raises BadMessage."""
    with suppress(BadMessage):
        message, members = parse_message(text)
        assert message.type == members["type"]


async def test_too_many_bad_messages():
    """A client that sends only bad messages is disconnected."""
    connection = Connection()
    for _ in range(MAX_BAD_MESSAGES):
        await connection.client.send("junk")
    await asyncio.wait_for(connection.task, 240)
    assert connection.client.closed == (1008, "too many bad messages")


async def test_client_leaves():
    """When the client leaves, its compilations stop and nothing is left."""
    connection = Connection()
    await connection.compile("a")
    await connection.compile("b")
    await connection.end()
    assert sorted(connection.compiler.stopped) == ["a", "b"]
    assert connection.log.errors == []


async def test_client_is_gone_while_sending():
    """A client that is gone when a message is sent is treated like one that closed the connection."""
    connection = Connection()
    await connection.compile("a")
    connection.client.failure = ConnectionError("gone")
    connection.compiler.emit(Event("progress", {}))
    await asyncio.wait_for(connection.task, 240)
    assert connection.compiler.stopped == ["a"]
    assert connection.log.errors == []


async def test_defect_in_the_conversation():
    """A failing connection is logged, and the socket is closed as failed."""
    connection = Connection()
    await settle()
    connection.client.failure = RuntimeError("broken")
    await connection.client.send({"type": "ping"})
    await asyncio.wait_for(connection.task, 240)
    assert [name for name, _ in connection.log.errors] == ["socket.failed"]
    assert connection.client.closed == (1011, "internal error")


async def test_heartbeat():
    """A heartbeat is sent every 30 s."""
    connection = Connection()
    await settle()
    for _ in range(3):
        await connection.clock.advance(30)
    assert connection.client.types() == ["welcome", "pong", "pong", "pong"]
    await connection.end()


async def test_idle():
    """After five minutes without a message the connection is closed; each message starts them again."""
    connection = Connection()
    await settle()
    for _ in range(9):
        await connection.clock.advance(30)
    await connection.client.send({"type": "ping"})
    for _ in range(9):
        await connection.clock.advance(30)
    assert connection.client.closed is None
    await connection.clock.advance(30)
    await asyncio.wait_for(connection.task, 240)
    assert connection.client.closed == (1000, "Connection timeout")
    assert connection.client.types() == ["welcome", *["pong"] * 19], "a heartbeat each time, and none after the end"


async def test_pings_alone_do_not_keep_it_open():
    """A connection that compiles nothing is closed after a quarter of an hour."""
    connection = Connection()
    await settle()
    for _ in range(29):
        await connection.clock.advance(30)
        await connection.client.send({"type": "ping"})
    assert connection.client.closed is None
    await connection.clock.advance(30)
    await asyncio.wait_for(connection.task, 240)
    assert connection.client.closed == (1000, "Connection timeout")


async def test_busy_is_not_idle():
    """While a compilation runs, a silent client is only waiting."""
    connection = Connection()
    await connection.compile("a")
    for _ in range(20):
        await connection.clock.advance(30)
    assert connection.client.closed is None
    connection.compiler.running["a"].set_result(RESULT)
    await settle()
    await connection.clock.advance(30)
    assert connection.client.closed == (1000, "Connection timeout")
    await asyncio.wait_for(connection.task, 240)


async def test_slow_client():
    """For a client that does not read, events are dropped, never the result, and its messages are not read either."""
    connection = Connection()
    await connection.compile("a")
    connection.client.slow.clear()
    for number in range(MAX_WAITING + 50):
        connection.compiler.emit(Event("progress", {"current": number}))
    for _ in range(5):
        await connection.client.send({"type": "ping"})
    assert connection.client._sent.qsize() >= 4
    connection.compiler.running["a"].set_result(RESULT)
    await settle()
    connection.client.slow.set()
    for _ in range(MAX_WAITING):
        await asyncio.sleep(0)
    await settle()
    events = [message for message in connection.client.received if message["type"] == "event"]
    assert len(events) == MAX_WAITING + 1
    assert "50 events were left out" in events[-1]["data"]["message"]
    assert connection.client.types()[-5:].count("pong") >= 4
    assert "compile:complete" in connection.client.types()
    await connection.end()
