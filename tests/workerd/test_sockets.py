"""WebSockets and data points, from Python inside workerd."""

import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from runtime import PATIENCE_S, Runtime, until
from workerd.socket_client import connected

Dial = Callable[..., ClientConnection]


@pytest.fixture(name="dial")
def _dial(runtime: Runtime, name: str) -> Dial:
    def dial(**query: Any) -> ClientConnection:
        path = str(httpx.URL("/api/socket", params={"key": name, **query}))
        return connected(runtime.url, "probe.localhost", path)

    return dial


def test_echo(dial: Dial):
    """Text goes both ways in order, the reply's own headers arrive, and two sockets do not mix."""
    with dial() as one, dial() as other:
        assert (one.recv(), other.recv()) == ("welcome", "welcome")
        assert one.response is not None
        assert one.response.headers["X-Probe"] == "socket"
        for text in ("a", "é\U0001f600", ""):
            one.send(text)
            other.send(f"other {text}")
        assert [one.recv() for _ in range(3)] == ["a", "é\U0001f600", ""]
        assert [other.recv() for _ in range(3)] == ["other a", "other é\U0001f600", "other "]


def test_bytes_are_read_as_text(dial: Dial):
    """A binary message is read as text; invalid text does no harm."""
    with dial() as line:
        line.recv()
        line.send("é".encode())
        line.send(b"\xff")
        assert [line.recv(), line.recv()] == ["é", "\ufffd"]


def test_large_messages(dial: Dial):
    """A message of 20 MB arrives whole, there and back."""
    text = "0123456789" * 2_000_000
    with dial() as line:
        line.recv()
        line.send(text)
        assert line.recv() == text


def test_client_leaves(dial: Dial, probe: httpx.Client, name: str):
    """The Worker notices that the client closed the connection, and continues."""
    with dial() as line:
        line.recv()
    until(lambda: probe.get("/api/kv", params={"key": name}).json() == "left")


def test_client_is_cut_off(dial: Dial, probe: httpx.Client, name: str):
    """The Worker notices a client that vanished without closing."""
    with dial() as line:
        line.recv()
        line.socket.shutdown(socket.SHUT_RDWR)
    until(lambda: probe.get("/api/kv", params={"key": name}).json() == "left")


def test_worker_closes(dial: Dial, probe: httpx.Client, name: str):
    """The Worker's close code and reason reach the client."""
    with dial() as line:
        line.recv()
        line.send("close")
        with pytest.raises(ConnectionClosed) as closed:
            line.recv(timeout=PATIENCE_S)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "as you wish")
    until(lambda: probe.get("/api/kv", params={"key": name}).json() == "left")


def exhaust(line: ClientConnection) -> None:
    while True:
        line.recv(timeout=PATIENCE_S)


def test_flood_is_cut_off(dial: Dial, probe: httpx.Client, name: str):
    """A client that sends faster than the Worker reads is disconnected; the Worker holds few messages."""
    gate = f"{name}/gate"
    with dial(gate=gate) as line:
        line.recv()
        with suppress(ConnectionClosed):
            for number in range(200):
                line.send(str(number))
        with pytest.raises(ConnectionClosed) as closed:
            exhaust(line)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008
    probe.get("/api/kv", params={"key": gate, "value": "open"})
    until(lambda: probe.get("/api/kv", params={"key": name}).json() == "left")


def test_failing_conversation_closes(dial: Dial, probe: httpx.Client):
    """A conversation that raises ends the connection, and the Worker keeps serving."""
    with dial() as line:
        line.recv()
        line.send("fail")
        with pytest.raises(ConnectionClosed) as closed:
            line.recv(timeout=PATIENCE_S)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1011, "internal error")
    assert probe.get("/api/greet").json() == "hello"


@pytest.mark.parametrize("text", ["short", "é" * 10_000])
def test_data_point(probe: httpx.Client, text: str):
    """The dataset accepts a point of the largest size."""
    assert probe.get("/api/analytics", params={"text": text}).json() == []
