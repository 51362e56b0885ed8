"""Headers and bodies of JavaScript messages; the bytes stay on the JavaScript side."""

from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import to_js

from sluice.core.ports import NO_CONTENT, Content, HeaderPairs
from sluice.platform.failures import translate_errors
from sluice.platform.http.streams import CHUNK_BYTES


def read_headers(headers: Any) -> HeaderPairs:
    """Return all fields, converted at once: each crossing into JavaScript costs time."""
    pairs = getattr(js.Array, "from")(headers).to_py()
    return tuple((name, value) for name, value in pairs)


def to_content(response: Any) -> Content:
    """Return the unread body of a response; its size is known if it is neither encoded nor chunked."""
    if not response.body:
        return NO_CONTENT
    size = None if response.headers.get("content-encoding") else response.headers.get("content-length")
    return Content(response.body, int(size) if size and size.isdigit() else None)


def to_js_body(content: Content) -> Any:
    """Return the body as JavaScript takes it."""
    return to_js(content.data) if isinstance(content.data, bytes) else content.data


class JsBodies:
    """Operations on bodies, none of which brings a byte into Python."""

    def split(self, content: Content) -> tuple[Content, Content]:
        if not hasattr(content.data, "tee"):
            return content, content
        first, second = content.data.tee()
        return Content(first, content.size), Content(second, content.size)

    async def collect(self, content: Content, reserve: Callable[[int], bool]) -> Content | None:
        if not hasattr(content.data, "getReader"):
            return content
        with translate_errors("reading a page"):
            chunks = await _collect_chunks(content.data, reserve)
            if chunks is None:
                return None
            buffer = await js.Blob.new(chunks).arrayBuffer()
        return Content(buffer, int(buffer.byteLength))

    async def cut(self, content: Content, first: int, end: int) -> Content:
        with translate_errors("reading a part of a page"):
            buffer = await js.Response.new(to_js_body(content)).arrayBuffer()
        return Content(buffer.slice(first, end), end - first)

    async def digest(self, content: Content) -> str:
        with translate_errors("the digest of a page"):
            buffer = await js.Response.new(to_js_body(content)).arrayBuffer()
            hashed = await js.crypto.subtle.digest("SHA-256", buffer)
        return bytes(hashed.to_bytes())[:16].hex()


async def _collect_chunks(stream: Any, reserve: Callable[[int], bool]) -> Any:
    reader = stream.getReader(mode="byob")
    chunks = js.Array.new()
    finished = False
    try:
        while not finished:
            chunk = await reader.readAtLeast(CHUNK_BYTES, js.Uint8Array.new(CHUNK_BYTES))
            if chunk.value and chunk.value.byteLength:
                if not reserve(int(chunk.value.byteLength)):
                    return None
                chunks.push(chunk.value)
            finished = chunk.done
    finally:
        if not finished:
            await reader.cancel("the page is not stored")
    return chunks
