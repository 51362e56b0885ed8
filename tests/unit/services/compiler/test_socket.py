"""The conversation over a WebSocket, from both ends."""

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
from sluice.services.compiler.live import conversation
from sluice.services.compiler.live.conversation import MAX_BAD_MESSAGES, Conversation
from sluice.services.compiler.live.outbox import MAX_WAITING
from sluice.services.compiler.live.socket_messages import MAX_MESSAGE_BYTES, BadMessage, parse_message
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
        await settled()


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


class Client:
    """The other end: what it says, and what it has heard."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.closed: tuple[int, str] | None = None
        self.slow = asyncio.Event()
        self.slow.set()
        self.failure: Exception | None = None
        self._said: asyncio.Queue[str | None] = asyncio.Queue()

    async def say(self, message: object) -> None:
        self._said.put_nowait(message if isinstance(message, str) else json.dumps(message))
        await settled()

    async def leave(self) -> None:
        self._said.put_nowait(None)
        await settled()

    def types(self) -> list[str]:
        return [message["type"] for message in self.heard]

    def last(self) -> dict[str, Any]:
        return {name: value for name, value in self.heard[-1].items() if name != "timestamp"}

    async def send_text(self, text: str) -> None:
        await self.slow.wait()
        if self.failure:
            raise self.failure
        self.heard.append(json.loads(text))

    def close(self, code: int, reason: str) -> None:
        self.closed = (code, reason)
        self._said.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (text := await self._said.get()) is not None:
            yield text


class Compiler:
    """Compiles when told to; counts what runs and what was stopped."""

    def __init__(self) -> None:
        self.running: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self.stopped: list[str] = []
        self.emit: Emit = lambda _event: None
        self.given: dict[str, Any] = {}

    async def __call__(
        self, configuration: Any, *, content: Mapping[str, str], benchmark: bool, emit: Emit
    ) -> Mapping[str, Any]:
        name = configuration.get("name", "")
        self.emit = emit
        self.given = {"configuration": configuration, "content": content, "benchmark": benchmark}
        self.running[name] = asyncio.get_running_loop().create_future()
        try:
            return await self.running[name]
        except asyncio.CancelledError:
            self.stopped.append(name)
            raise


class Line:
    """A conversation under way with all its parts at hand."""

    def __init__(self, admit: Callable[[Mapping[str, Any]], Coroutine[Any, Any, object]] | None = None) -> None:
        self.client, self.clock, self.compiler, self.log = Client(), SteppedClock(), Compiler(), ListLog()
        self.admitted: list[Mapping[str, Any]] = []
        talk = Conversation(
            self.client,
            compile_list=self.compiler,
            admit=admit or self._admit,
            clock=self.clock,
            log=self.log,
            connection="ws-1",
            version="1.2.3",
        )
        self.task = asyncio.ensure_future(talk.run())

    async def _admit(self, members: Mapping[str, Any]) -> None:
        self.admitted.append(members)

    async def compile(self, session: str, **more: object) -> None:
        configuration = CONFIGURATION | {"name": session}
        await self.client.say({"type": "compile", "sessionId": session, "configuration": configuration, **more})

    async def end(self) -> None:
        await self.client.leave()
        await asyncio.wait_for(self.task, 5)


async def test_welcome():
    """The first message tells version, connection and what is possible."""
    line = Line()
    await settled()
    assert line.client.last() == {
        "type": "welcome",
        "version": "1.2.3",
        "connectionId": "ws-1",
        "capabilities": {"maxConcurrentCompilations": 3, "supportsPauseResume": False, "supportsStreaming": True},
    }
    assert line.client.heard[0]["timestamp"] == iso(line.clock.now())
    await line.end()


async def test_ping():
    """A ping is answered."""
    line = Line()
    await line.client.say({"type": "ping", "timestamp": 5})
    assert line.client.types() == ["welcome", "pong"]
    await line.end()


async def test_compile():
    """A compilation is charged, started, told about in order, and completed with the list."""
    line = Line()
    await line.compile("a", preFetchedContent={"k": "||a^"}, benchmark=True, turnstileToken="t")
    assert line.client.last() == {"type": "compile:started", "sessionId": "a", "configurationName": "a"}
    assert line.admitted[0]["turnstileToken"] == "t"
    assert line.compiler.given["content"] == {"k": "||a^"}
    assert line.compiler.given["benchmark"] is True
    for number in range(3):
        line.compiler.emit(Event("progress", {"current": number}))
    line.compiler.running["a"].set_result(RESULT)
    await settled()
    events = [message["data"] for message in line.client.heard if message["type"] == "event"]
    assert events == [{"current": 0}, {"current": 1}, {"current": 2}]
    assert line.client.heard[2]["eventType"] == "progress"
    assert line.client.last() == {"type": "compile:complete", "sessionId": "a", **RESULT}
    await line.end()


async def test_large_result():
    """A list of many megabytes arrives whole."""
    line = Line()
    await line.compile("a")
    rules = [f"||ads{number}.example.com^" for number in range(300_000)]
    line.compiler.running["a"].set_result(RESULT | {"rules": rules})
    await settled()
    assert line.client.heard[-1]["rules"] == rules
    await line.end()


async def test_result_beyond_one_message(monkeypatch: pytest.MonkeyPatch):
    """A list that no message can carry is an error that names the way out."""
    monkeypatch.setattr(conversation, "MAX_RESULT_CHARS", 1000)
    line = Line()
    await line.compile("a")
    line.compiler.running["a"].set_result(RESULT | {"rules": ["x" * 1000]})
    await settled()
    assert "POST /compile" in line.client.last()["error"]
    await line.end()


async def test_failure_of_the_caller():
    """What is wrong with a configuration is told with its fields."""
    line = Line()
    await line.compile("a")
    line.compiler.running["a"].set_exception(Invalid("name is required", [BadField("name", "is required")]))
    await settled()
    assert line.client.last() == {
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
    await line.end()


async def test_failure_of_ours():
    """A defect is logged, and tells the client nothing of the inside."""
    line = Line()
    await line.compile("a")
    line.compiler.running["a"].set_exception(RuntimeError("a secret detail"))
    await settled()
    assert line.client.last()["type"] == "compile:error"
    assert "secret" not in json.dumps(line.client.heard)
    assert [name for name, _ in line.log.errors] == ["socket.failed"]
    await line.end()


async def test_charge():
    """A client over its limit is told when to come back, and nothing is compiled."""

    async def full(_members: Mapping[str, Any]) -> None:
        raise TooManyRequests("Rate limit exceeded.", retry_after_s=9)

    line = Line(full)
    await line.compile("a")
    assert line.client.last()["type"] == "compile:error"
    assert line.client.last()["details"]["retryAfter"] == 9
    assert line.compiler.running == {}
    await line.end()


async def test_cancel_stops_the_work():
    """Cancelling stops the compilation itself, frees its place and says so once."""
    line = Line()
    await line.compile("a")
    await line.client.say({"type": "cancel", "sessionId": "a"})
    assert line.compiler.stopped == ["a"]
    assert line.client.last() == {"type": "compile:cancelled", "sessionId": "a", "reason": "Cancelled by client"}
    await line.compile("a")
    assert line.client.last()["type"] == "compile:started"
    await line.end()


async def test_cancel_before_the_first_step():
    """A compilation cancelled in the same breath is cancelled too."""
    line = Line()
    configuration = CONFIGURATION | {"name": "a"}
    line.client._said.put_nowait(json.dumps({"type": "compile", "sessionId": "a", "configuration": configuration}))
    await line.client.say({"type": "cancel", "sessionId": "a"})
    assert line.client.types() == ["welcome", "compile:cancelled"]
    await line.end()


async def test_cancel_of_what_is_not_running():
    """Cancelling is refused by name for what never ran, and for what is over or being cancelled."""
    line = Line()
    await line.client.say({"type": "cancel", "sessionId": "nothing"})
    assert line.client.last()["code"] == "SESSION_NOT_FOUND"
    await line.compile("a")
    line.compiler.running["a"].set_result(RESULT)
    await settled()
    await line.client.say({"type": "cancel", "sessionId": "a"})
    assert line.client.last()["code"] == "INVALID_SESSION_STATE"
    await line.end()


async def test_three_at_once():
    """A fourth compilation is refused until one of three is over; a running name is taken."""
    line = Line()
    for session in ("a", "b", "c"):
        await line.compile(session)
    await line.compile("a")
    assert (line.client.last()["code"], line.client.last()["sessionId"]) == ("DUPLICATE_SESSION", "a")
    await line.compile("d")
    assert line.client.last()["code"] == "TOO_MANY_COMPILATIONS"
    line.compiler.running["b"].set_result(RESULT)
    await settled()
    await line.compile("d")
    assert line.client.last() == {"type": "compile:started", "sessionId": "d", "configurationName": "d"}
    assert len(line.admitted) == 4
    await line.end()


@pytest.mark.parametrize("kind", ["pause", "resume"])
async def test_not_implemented(kind: str):
    """Pausing is told not to be possible."""
    line = Line()
    await line.client.say({"type": kind, "sessionId": "a"})
    assert (line.client.last()["code"], line.client.last()["sessionId"]) == ("NOT_IMPLEMENTED", "a")
    await line.end()


@pytest.mark.parametrize(
    ("said", "code"),
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
async def test_misuse(said: str, code: str):
    """What cannot be followed is answered with its code, is not charged, and the conversation goes on."""
    line = Line()
    await line.client.say(said)
    assert (line.client.last()["type"], line.client.last()["code"]) == ("error", code)
    assert line.admitted == []
    await line.client.say({"type": "ping"})
    assert line.client.last()["type"] == "pong"
    await line.end()


@given(st.text() | st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text_is_a_message_or_a_misuse(text: str):
    """No text does anything else."""
    with suppress(BadMessage):
        message, members = parse_message(text)
        assert message.type == members["type"]


async def test_misuse_ends():
    """Somebody who only ever sends junk is cut off."""
    line = Line()
    for _ in range(MAX_BAD_MESSAGES):
        await line.client.say("junk")
    await asyncio.wait_for(line.task, 5)
    assert line.client.closed == (1008, "too many bad messages")


async def test_client_leaves():
    """When the client leaves, its compilations stop and nothing stays behind."""
    line = Line()
    await line.compile("a")
    await line.compile("b")
    await line.end()
    assert sorted(line.compiler.stopped) == ["a", "b"]
    assert line.log.errors == []


async def test_client_is_gone_while_told():
    """A client that is found gone when it is told something is left like one that said goodbye."""
    line = Line()
    await line.compile("a")
    line.client.failure = ConnectionError("gone")
    line.compiler.emit(Event("progress", {}))
    await asyncio.wait_for(line.task, 5)
    assert line.compiler.stopped == ["a"]
    assert line.log.errors == []


async def test_defect_in_the_conversation():
    """A conversation that breaks is logged, and the socket closed as failed."""
    line = Line()
    await settled()
    line.client.failure = RuntimeError("broken")
    await line.client.say({"type": "ping"})
    await asyncio.wait_for(line.task, 5)
    assert [name for name, _ in line.log.errors] == ["socket.failed"]
    assert line.client.closed == (1011, "internal error")


async def test_heartbeat():
    """Every 30 s a sign of life goes out."""
    line = Line()
    await settled()
    for _ in range(3):
        await line.clock.advance(30)
    assert line.client.types() == ["welcome", "pong", "pong", "pong"]
    await line.end()


async def test_idle():
    """After five minutes without a word the connection is closed; each message begins them anew."""
    line = Line()
    await settled()
    for _ in range(9):
        await line.clock.advance(30)
    await line.client.say({"type": "ping"})
    for _ in range(9):
        await line.clock.advance(30)
    assert line.client.closed is None
    await line.clock.advance(30)
    await asyncio.wait_for(line.task, 5)
    assert line.client.closed == (1000, "Connection timeout")


async def test_busy_is_not_idle():
    """While something is compiled, a ignore_event client is only waiting."""
    line = Line()
    await line.compile("a")
    for _ in range(20):
        await line.clock.advance(30)
    assert line.client.closed is None
    line.compiler.running["a"].set_result(RESULT)
    await settled()
    await line.clock.advance(30)
    assert line.client.closed == (1000, "Connection timeout")
    await asyncio.wait_for(line.task, 5)


async def test_slow_client():
    """For a client that does not read, events are left out, never the result, and no message of its own is read on."""
    line = Line()
    await line.compile("a")
    line.client.slow.clear()
    for number in range(MAX_WAITING + 50):
        line.compiler.emit(Event("progress", {"current": number}))
    for _ in range(5):
        await line.client.say({"type": "ping"})
    assert line.client._said.qsize() >= 4
    line.compiler.running["a"].set_result(RESULT)
    await settled()
    line.client.slow.set()
    for _ in range(MAX_WAITING):
        await asyncio.sleep(0)
    await settled()
    events = [message for message in line.client.heard if message["type"] == "event"]
    assert len(events) == MAX_WAITING + 1
    assert "50 events were left out" in events[-1]["data"]["message"]
    assert line.client.types()[-5:].count("pong") >= 4
    assert "compile:complete" in line.client.types()
    await line.end()
