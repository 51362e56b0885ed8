"""WebSockets that a Worker accepts: the client gets one end with the 101 reply, and the Worker uses the other."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import js
from pyodide.ffi import JsException, create_proxy, to_js

from sluice.web.messages import Reply

# Limits of unread messages: a sender that exceeds them is disconnected, because nothing else slows it down.
MAX_UNREAD: Final = 64
MAX_UNREAD_CHARS: Final = 4 * 1024 * 1024
# Close codes (RFC 6455), and the readyState of an open socket.
_NORMAL: Final = 1000
_POLICY_VIOLATION: Final = 1008
_INTERNAL_ERROR: Final = 1011
_OPEN: Final = 1
# A close frame has room for a reason of 123 bytes.
_MAX_REASON_CHARS: Final = 100

# The event loop holds only weak references to its tasks.
_CONVERSATIONS: Final[set[asyncio.Task[None]]] = set()


class ServerSocket:
    """The Worker's end of one connection."""

    def __init__(self, end: Any) -> None:
        self._end = end
        self._incoming: asyncio.Queue[str | None] = asyncio.Queue()
        self._unread_chars = 0
        self._listeners = {
            "message": create_proxy(self._on_message),
            "close": create_proxy(self._on_end),
            "error": create_proxy(self._on_end),
        }

    def open(self) -> None:
        self._end.binaryType = "arraybuffer"
        self._end.accept()
        for name, listener in self._listeners.items():
            self._end.addEventListener(name, listener)

    async def send_text(self, text: str) -> None:
        """Send a message; raise ConnectionError if the client has disconnected."""
        if self._end.readyState != _OPEN:
            raise ConnectionError("the socket is closed")
        try:
            self._end.send(text)
        except JsException as error:
            raise ConnectionError(str(error)) from error

    def close(self, code: int, reason: str) -> None:
        """Close the connection; do nothing if it is closed already."""
        with suppress(JsException):
            self._end.close(code, reason[:_MAX_REASON_CHARS])
        self._incoming.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (text := await self._incoming.get()) is not None:
            self._unread_chars -= len(text)
            yield text

    def release(self) -> None:
        """Answer the client's close and free the proxies that JavaScript holds."""
        self.close(_NORMAL, "")
        for name, listener in self._listeners.items():
            self._end.removeEventListener(name, listener)
            listener.destroy()

    def _on_message(self, event: Any) -> None:
        text = _to_text(event.data)
        unread = self._incoming.qsize()
        if unread >= MAX_UNREAD or (unread and self._unread_chars + len(text) > MAX_UNREAD_CHARS):
            self.close(_POLICY_VIOLATION, "messages arrive faster than they are read")
            return
        self._unread_chars += len(text)
        self._incoming.put_nowait(text)

    def _on_end(self, _event: Any) -> None:
        self._incoming.put_nowait(None)


def open_socket(talk: Callable[[ServerSocket], Awaitable[None]], ctx: Any) -> Reply:
    """Return the reply that opens a socket, and run `talk` on it until it ends."""
    client, server = js.Object.values(js.WebSocketPair.new())
    socket = ServerSocket(server)
    socket.open()
    task = asyncio.ensure_future(_run_conversation(talk, socket))
    proxy = create_proxy(task)
    _CONVERSATIONS.add(task)
    task.add_done_callback(_CONVERSATIONS.discard)
    task.add_done_callback(lambda _: proxy.destroy())
    ctx.waitUntil(proxy)
    options = to_js({"status": 101, "webSocket": client}, dict_converter=js.Object.fromEntries)
    return Reply.passthrough(js.Response.new(None, options), 101)


async def _run_conversation(talk: Callable[[ServerSocket], Awaitable[None]], socket: ServerSocket) -> None:
    try:
        await talk(socket)
    except Exception:
        socket.close(_INTERNAL_ERROR, "internal error")
        raise
    finally:
        socket.release()


def _to_text(data: Any) -> str:
    """Return a message as text; binary messages are read as UTF-8."""
    if isinstance(data, str):
        return data
    return bytes(data.to_bytes()).decode(errors="replace")
