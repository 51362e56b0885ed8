"""WebSockets that a Worker accepts: one end goes to the client as a 101 reply, the other is read and written here."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import js
from pyodide.ffi import JsException, create_proxy, to_js

from sluice.web.messages import Reply

# Messages that nobody has read yet: beyond them the sender is cut off, since nothing else would stop it.
MAX_UNREAD: Final = 64
MAX_UNREAD_CHARS: Final = 4 * 1024 * 1024
_TOO_FAST: Final = 1008
_NORMAL: Final = 1000
_FAILED: Final = 1011
_OPEN: Final = 1
# A close frame takes 123 bytes of reason.
_MAX_REASON_CHARS: Final = 100

# The event loop holds its tasks weakly.
_TALKING: Final[set[asyncio.Task[None]]] = set()


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
        """ConnectionError when the client has left."""
        if self._end.readyState != _OPEN:
            raise ConnectionError("the socket is closed")
        try:
            self._end.send(text)
        except JsException as error:
            raise ConnectionError(str(error)) from error

    def close(self, code: int, reason: str) -> None:
        """Say goodbye; one that was said already stands."""
        with suppress(JsException):
            self._end.close(code, reason[:_MAX_REASON_CHARS])
        self._incoming.put_nowait(None)

    async def __aiter__(self) -> AsyncIterator[str]:
        while (text := await self._incoming.get()) is not None:
            self._unread_chars -= len(text)
            yield text

    def release(self) -> None:
        """After the last word: the client's close is answered, and what Python lent to JavaScript is taken back."""
        self.close(_NORMAL, "")
        for name, listener in self._listeners.items():
            self._end.removeEventListener(name, listener)
            listener.destroy()

    def _on_message(self, event: Any) -> None:
        text = _text(event.data)
        unread = self._incoming.qsize()
        if unread >= MAX_UNREAD or (unread and self._unread_chars + len(text) > MAX_UNREAD_CHARS):
            self.close(_TOO_FAST, "messages arrive faster than they are read")
            return
        self._unread_chars += len(text)
        self._incoming.put_nowait(text)

    def _on_end(self, _event: Any) -> None:
        self._incoming.put_nowait(None)


def open_socket(talk: Callable[[ServerSocket], Awaitable[None]], ctx: Any) -> Reply:
    """The reply that opens a socket, on which `talk` goes on for as long as it lasts."""
    client, server = js.Object.values(js.WebSocketPair.new())
    socket = ServerSocket(server)
    socket.open()
    task = asyncio.ensure_future(_talked(talk, socket))
    proxy = create_proxy(task)
    _TALKING.add(task)
    task.add_done_callback(_TALKING.discard)
    task.add_done_callback(lambda _: proxy.destroy())
    ctx.waitUntil(proxy)
    options = to_js({"status": 101, "webSocket": client}, dict_converter=js.Object.fromEntries)
    return Reply.passthrough(js.Response.new(None, options), 101)


async def _talked(talk: Callable[[ServerSocket], Awaitable[None]], socket: ServerSocket) -> None:
    try:
        await talk(socket)
    except Exception:
        socket.close(_FAILED, "internal error")
        raise
    finally:
        socket.release()


def _text(data: Any) -> str:
    """What is sent as bytes is read as the text it holds."""
    if isinstance(data, str):
        return data
    return bytes(data.to_bytes()).decode(errors="replace")
