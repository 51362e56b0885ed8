"""Converts requests and responses between the SDK and `sluice.web`."""

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
    """Return the request with its body unread; it reads the JS object, because the SDK knows only the standard methods."""
    incoming = request.js_object

    async def read_body(max_bytes: int) -> bytes:
        body = bytearray()
        async for chunk in read_chunks(incoming.body):
            body += chunk
            if len(body) > max_bytes:
                raise TooLarge(f"the body is larger than the limit of {max_bytes} bytes")
        return bytes(body)

    headers = Headers([(name, value) for name, value in incoming.headers])
    return Request(incoming.method, incoming.url, headers, read_body)


def to_response(reply: Reply, ctx: Any) -> Any:
    """Return the reply as a response of the SDK; `ctx` keeps a stream alive after the handler has returned."""
    match reply.body:
        case Passthrough(response=response):
            return _pass_through(reply, getattr(response, "js_object", response))
        case bytes(content) if reply.header("content-encoding"):
            return _compressed_response(reply, content)
        case Native(value=body) | (None | bytes() as body):
            return Response(body, status=reply.status, headers=_to_js_headers(reply))
        case chunks:
            return Response(_open_stream(chunks, ctx), status=reply.status, headers=_to_js_headers(reply))


def _compressed_response(reply: Reply, content: bytes) -> Any:
    """Return a response with a body that is already compressed; without "manual" the runtime compresses it again."""
    options = {"status": reply.status, "headers": _to_js_headers(reply), "encodeBody": "manual"}
    return Response(js.Response.new(to_js(content), to_js(options, dict_converter=js.Object.fromEntries)))


def _to_js_headers(reply: Reply) -> Any:
    headers = js.Headers.new()
    for name, value in reply.headers:
        headers.append(name, value)
    return headers


def _pass_through(reply: Reply, response: Any) -> Any:
    if not reply.headers:
        return Response(response)
    # The headers of a fetched response cannot be changed, so a copy gets the new ones.
    copy = js.Response.new(response.body, response)
    for name, _ in reply.headers:
        copy.headers.delete(name)
    for name, value in reply.headers:
        copy.headers.append(name, value)
    return Response(copy)


def _open_stream(chunks: AsyncIterable[bytes], ctx: Any) -> Any:
    """Return a stream that a background task feeds.

    When the client disconnects, only this kind of stream together with waitUntil makes the next write fail, so that the
    producer ends. With any other kind, workerd suspends the producer for good.
    """
    pipe = js.IdentityTransformStream.new()
    run_in_background(ctx, _feed_stream(chunks, pipe.writable.getWriter()))
    return pipe.readable


async def _feed_stream(chunks: AsyncIterable[bytes], writer: Any) -> None:
    try:
        async for chunk in chunks:
            if chunk and not await _is_accepted(writer.write(to_js(chunk))):
                return
        await _is_accepted(writer.close())
    except Exception as error:
        await _is_accepted(writer.abort(str(error)))
        raise
    finally:
        if hasattr(chunks, "aclose"):
            await chunks.aclose()


async def _is_accepted(operation: Any) -> bool:
    """Whether the client is still connected."""
    try:
        await operation
    except JsException:
        return False
    return True
