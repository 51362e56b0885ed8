"""A client of the compiler's WebSocket, for tests."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

from runtime import PATIENCE_S


class SocketClient:
    """Says and hears JSON."""

    def __init__(self, line: ClientConnection) -> None:
        self.line = line

    def say(self, message: object) -> None:
        self.line.send(message if isinstance(message, str | bytes) else json.dumps(message))

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = json.loads(self.line.recv(timeout=PATIENCE_S))
        return heard

    def hear_until(self, *types: str) -> list[dict[str, Any]]:
        """Return all messages up to the first of these types; heartbeats are left out."""
        heard: list[dict[str, Any]] = []
        while not heard or heard[-1]["type"] not in types:
            message = self.hear()
            if message["type"] != "pong" or "pong" in types:
                heard.append(message)
        return heard

    def compile(self, session: str, configuration: object, **more: object) -> None:
        self.say({"type": "compile", "sessionId": session, "configuration": configuration, **more})


@contextmanager
def dialled(url: str, host: str, path: str, headers: dict[str, str] | None = None) -> Iterator[SocketClient]:
    """Yield a connection to a Worker of the runtime at `url`, by its host name."""
    with connected(url, host, path, headers) as opened:
        yield SocketClient(opened)


def connected(url: str, host: str, path: str, headers: dict[str, str] | None = None) -> ClientConnection:
    """Return the connection itself; no pings, since one that is answered late would end it."""
    address = urlsplit(url)
    line = socket.create_connection((address.hostname, address.port))
    return connect(
        f"ws://{host}:{address.port}{path}",
        sock=line,
        max_size=None,
        compression=None,
        additional_headers=headers,
        open_timeout=PATIENCE_S,
        ping_interval=None,
    )
