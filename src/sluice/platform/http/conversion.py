"""Where HTTP crosses between the SDK and `sluice.web`; used by the entry modules alone."""

from collections.abc import AsyncIterable
from typing import Any

import js
from pyodide.ffi import JsException, to_js
from workers import Response

from sluice.core.errors import TooLarge
from sluice.platform.background import run_in_background
from sluice.platform.http.streams import read_chunks
from sluice.web.headers import Headers
from sluice.web.messages import Native, Passthrough, Reply, Request


def to_request(request: Any) -> Request:
    """The request as a value, its body unread; from the JS object, since the SDK knows only the standard methods."""
    given = request.js_object

    async def read_body(max_bytes: int) -> bytes:
        body = bytearray()
        async for chunk in read_chunks(given.body):
            body += chunk
            if len(body) > max_bytes:
                raise TooLarge(f"the body is larger than the limit of {max_bytes} bytes")
        return bytes(body)

    headers = Headers([(name, value) for name, value in given.headers])
    return Request(given.method, given.url, headers, read_body)


def to_response(reply: Reply, ctx: Any) -> Any:
    """The reply as the SDK returns it; `ctx` keeps a stream alive after the handler is over."""
    match reply.body:
        case Passthrough(response=response):
            return _passed(reply, getattr(response, "js_object", response))
        case bytes(content) if reply.header("content-encoding"):
            return _encoded(reply, content)
        case Native(value=body) | (None | bytes() as body):
            return Response(body, status=reply.status, headers=_headers(reply))
        case chunks:
            return Response(_stream(chunks, ctx), status=reply.status, headers=_headers(reply))


def _encoded(reply: Reply, content: bytes) -> Any:
    """A body that is packed already; without "manual" the runtime would pack it once more."""
    options = {"status": reply.status, "headers": _headers(reply), "encodeBody": "manual"}
    return Response(js.Response.new(to_js(content), to_js(options, dict_converter=js.Object.fromEntries)))


def _headers(reply: Reply) -> Any:
    headers = js.Headers.new()
    for name, value in reply.headers:
        headers.append(name, value)
    return headers


def _passed(reply: Reply, response: Any) -> Any:
    if not reply.headers:
        return Response(response)
    # A copy, because the headers of a response that was fetched cannot be changed.
    copy = js.Response.new(response.body, response)
    for name, _ in reply.headers:
        copy.headers.delete(name)
    for name, value in reply.headers:
        copy.headers.append(name, value)
    return Response(copy)


def _stream(chunks: AsyncIterable[bytes], ctx: Any) -> Any:
    """A stream fed by a task. When the client leaves, only this kind of stream together with waitUntil lets the next
    write fail, so that the producer ends; with any other, workerd freezes it where it stands.
    """
    pipe = js.IdentityTransformStream.new()
    run_in_background(ctx, _feed(chunks, pipe.writable.getWriter()))
    return pipe.readable


async def _feed(chunks: AsyncIterable[bytes], writer: Any) -> None:
    try:
        async for chunk in chunks:
            if chunk and not await _accepted(writer.write(to_js(chunk))):
                return
        await _accepted(writer.close())
    except Exception as error:
        await _accepted(writer.abort(str(error)))
        raise
    finally:
        if hasattr(chunks, "aclose"):
            await chunks.aclose()


async def _accepted(written: Any) -> bool:
    """Whether the client was still there."""
    try:
        await written
    except JsException:
        return False
    return True
