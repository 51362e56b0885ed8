"""GET /ws/compile: opens a WebSocket, and compiles for it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakes.clock import ManualClock
from sluice.core.compiler.events import Event
from sluice.core.errors import Invalid, TooManyRequests
from sluice.core.json_text import JsonObject
from sluice.services.compiler.guard.guard import Guard
from sluice.services.compiler.live import open_sockets
from sluice.services.compiler.live.conversation import HEARTBEAT_S
from sluice.services.compiler.live.open_sockets import KEPT_S, MAX_OPEN, OpenSockets
from sluice.services.compiler.live.socket_api import SocketApi, Talk, compile_for_socket
from sluice.services.compiler.live.socket_messages import SocketCompileMessage
from sluice.web import Reply
from unit.services.compiler.listeners import ListAnalytics
from unit.services.compiler.test_guard import Gates
from unit.services.compiler.world import URL, World, configuration, order
from unit.web.calls import get, parsed

CONFIGURATION = configuration().model_dump(mode="json", exclude_unset=True)


def socket_api(world: World, opened: list[Talk], connections: Gates | None = None) -> SocketApi:
    def open_socket(talk: Talk) -> Reply:
        opened.append(talk)
        return Reply.passthrough("the 101 response", 101)

    gates = Gates()
    return SocketApi(
        open_socket=open_socket,
        open_sockets=OpenSockets(),
        guard=Guard(limiter=gates, turnstile=gates, analytics=ListAnalytics()),
        connections=Guard(limiter=connections or gates, turnstile=gates, analytics=ListAnalytics()),
        compiler=world.compiler,
        clock=world.clock,
        log=world.log,
        new_id=lambda: "0123456789abcdef" * 2,
        version="1.2.3",
    )


async def compile_configuration(world: World, value: JsonObject, **content: str) -> Any:
    events: list[Event] = []
    return await compile_for_socket(
        world.compiler,
        "192.0.2.1",
        SocketCompileMessage.model_validate(
            {"type": "compile", "sessionId": "a", "configuration": value, "preFetchedContent": content}
        ),
        events.append,
    )


async def test_upgrade():
    """A request for a WebSocket gets one, in any case of the header."""
    opened: list[Talk] = []
    reply = await socket_api(World(), opened).connect(get("/ws/compile", {"Upgrade": "WebSocket"}))
    assert (reply.status, len(opened)) == (101, 1)


async def test_connections_are_limited():
    """A client cannot open sockets without end."""
    opened: list[Talk] = []
    with pytest.raises(TooManyRequests):
        await socket_api(World(), opened, Gates(full=True)).connect(get("/ws/compile", {"Upgrade": "websocket"}))
    assert opened == []


class Line:
    """A socket whose client says nothing, and leaves when the test says so."""

    def __init__(self) -> None:
        self.left = asyncio.Event()

    async def send_text(self, _text: str) -> None:
        """Take every message."""

    def close(self, _code: int, _reason: str) -> None:
        self.left.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        await self.left.wait()
        for text in list[str]():
            yield text


async def test_open_sockets_are_limited():
    """A client has so many sockets open, and others theirs; a socket that is closed, or lost, does not count."""
    world, opened = World(), list[Talk]()
    api = socket_api(world, opened)

    async def connect(client: str = "192.0.2.1") -> None:
        await api.connect(get("/ws/compile", {"Upgrade": "websocket", "CF-Connecting-IP": client}))

    for _ in range(MAX_OPEN):
        await connect()
    with pytest.raises(TooManyRequests, match="30 WebSockets of this client are open"):
        await connect()
    await connect("192.0.2.2")
    line = Line()
    line.left.set()
    await opened[0](line)
    await connect()
    with pytest.raises(TooManyRequests):
        await connect()
    world.clock.advance(KEPT_S)
    await connect()


async def test_socket_that_stays_open_counts(monkeypatch: pytest.MonkeyPatch):
    """Each heartbeat of a quiet socket keeps it counted."""
    monkeypatch.setattr(open_sockets, "MAX_OPEN", 1)
    clock = HeartbeatClock()
    world, opened = World(clock=clock), list[Talk]()
    api, request = socket_api(world, opened), get("/ws/compile", {"Upgrade": "websocket"})
    await api.connect(request)
    line = Line()
    talk = asyncio.ensure_future(opened[0](line))
    for _ in range(5):
        await clock.beat()
        with pytest.raises(TooManyRequests):
            await api.connect(request)
    line.left.set()
    await talk
    await api.connect(request)


class HeartbeatClock(ManualClock):
    """Whoever sleeps wakes when the test lets the time pass."""

    def __init__(self) -> None:
        super().__init__()
        self._beats = asyncio.Event()

    async def sleep(self, _seconds: float) -> None:
        await self._beats.wait()

    async def beat(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        self.advance(HEARTBEAT_S)
        beats, self._beats = self._beats, asyncio.Event()
        beats.set()
        for _ in range(5):
            await asyncio.sleep(0)


async def test_no_upgrade():
    """Any other request gets an error that says what to send."""
    opened: list[Talk] = []
    reply = await socket_api(World(), opened).connect(get("/ws/compile"))
    assert (reply.status, reply.header("Upgrade"), opened) == (426, "websocket", [])
    assert "WebSocket" in parsed(reply)["error"]


async def test_list_is_compiled_anew_and_stored():
    """A list for a socket is compiled even if it is cached, and stored for later requests."""
    world = World()
    await compile_configuration(world, CONFIGURATION)
    world.clock.advance(2)
    members = await compile_configuration(world, CONFIGURATION)
    assert world.download.requests == [URL, URL]
    assert members["rules"][-1] == "||track.example^"
    assert (await world.lists.serve(order())).origin == "cached"


async def test_private_list_is_not_stored():
    """A list made from the client's own content is not stored."""
    world = World()
    sent = configuration("own").model_dump(mode="json", exclude_unset=True)
    members = await compile_configuration(world, sent, own="||own.example^")
    assert members["rules"][-1] == "||own.example^"
    assert [name for name, _ in world.kv_fake.operations if name == "put"] == []


async def test_bad_configuration():
    """An invalid configuration raises Invalid with its fields."""
    with pytest.raises(Invalid) as refusal:
        await compile_configuration(World(), {"name": "T"})
    assert [field.field for field in refusal.value.fields] == ["sources"]
