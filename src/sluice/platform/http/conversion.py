"""Converts requests and responses between the SDK and `sluice.web`."""

import asyncio
from collections.abc import AsyncIterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

import js
from pyodide.ffi import JsException, to_js
from workers import Response

from sluice.core.errors import TooLarge, TooSlowToSend
from sluice.core.headers import Headers
from sluice.core.ports import HeaderPairs
from sluice.platform.background import run_in_background
from sluice.platform.clock import TimeLimit
from sluice.platform.http.streams import open_chunks
from sluice.web.messages import Native, Passthrough, Reply, Request

MAX_DISCARDED_BYTES: Final = 8_000_000
DISCARD_TIMEOUT_S: Final = 10.0
MAX_WHOLE_BYTES: Final = 64 * 1024
PART_TIMEOUT_S: Final = 10.0  # for a whole body that is small, or for each 64 KB of another one
BODY_TIMEOUT_S: Final = 30.0


def to_request(request: Any) -> Request:
    """Return the request with its body unread; it reads the JS object, because the SDK knows only the standard methods."""
    incoming = request.js_object

    # All of them in one call: each step from Python into JavaScript costs as much as many steps in Python.
    headers = js.Object.fromEntries(incoming.headers).to_py()

    async def read_body(max_bytes: int) -> bytes:
        try:
            async with TimeLimit(PART_TIMEOUT_S) as limit:
                if is_small(headers, max_bytes):
                    content: bytes = (await incoming.bytes()).to_bytes()
                    return content
                return await _read_parts(incoming.body, max_bytes, limit)
        except TimeoutError:
            limits = f"{PART_TIMEOUT_S:g} s for each 64 KB, {BODY_TIMEOUT_S:g} s for all of it"
            raise TooSlowToSend(f"the body did not arrive in time ({limits}): send it again") from None

    return Request(incoming.method, incoming.url, Headers(_with_client_encoding(headers, incoming)), read_body)


async def _read_parts(stream: Any, max_bytes: int, limit: TimeLimit) -> bytes:
    """Return the whole body; each chunk that arrives puts the end off, up to a last one."""
    loop = asyncio.get_running_loop()
    latest = loop.time() + BODY_TIMEOUT_S
    body = bytearray()
    async with open_chunks(stream) as chunks:
        async for chunk in chunks:
            limit.restart(min(PART_TIMEOUT_S, latest - loop.time()))
            body += chunk
            if len(body) > max_bytes:
                raise TooLarge(f"the body is larger than the limit of {max_bytes} bytes")
    return bytes(body)


def _with_client_encoding(headers: dict[str, str], incoming: Any) -> dict[str, str]:
    """Return the headers with the Accept-Encoding of the client: the platform puts its own in its place."""
    cf = getattr(incoming, "cf", None)
    if not cf or "accept-encoding" not in headers:
        return headers
    others = {name: value for name, value in headers.items() if name != "accept-encoding"}
    sent = getattr(cf, "clientAcceptEncoding", None)
    return others | ({"accept-encoding": str(sent)} if sent else {})


def is_small(headers: Mapping[str, str], max_bytes: int) -> bool:
    """Return whether the whole body is to be read at once: the runtime holds a client to the length that it has declared."""
    declared = headers.get("content-length", "")
    return declared.isdecimal() and int(declared) <= min(MAX_WHOLE_BYTES, max_bytes)


async def discard_body(request: Any) -> None:
    """Read a body that nobody has read, before the reply: otherwise workerd resets the connection after it.

    A client that sends too much, or too slowly, is cut off.
    """
    incoming = request.js_object
    if incoming.bodyUsed or not (body := incoming.body) or body.locked:
        return
    with suppress(JsException, TimeoutError):
        async with TimeLimit(DISCARD_TIMEOUT_S):
            await _read_until(body, MAX_DISCARDED_BYTES)


async def _read_until(body: Any, max_bytes: int) -> None:
    async with open_chunks(body) as chunks:
        async for chunk in chunks:
            max_bytes -= len(chunk)
            if max_bytes < 0:
                return


def to_response(reply: Reply, ctx: Any) -> Any:
    """Return the reply as a response of the SDK; `ctx` keeps a stream alive after the handler has returned."""
    match reply.body:
        case Passthrough(response=response):
            return _pass_through(reply, getattr(response, "js_object", response))
        case bytes(content) if reply.header("content-encoding"):
            # It is compressed already; without this the runtime would compress it again.
            return _build_response(reply, to_js(content), encodeBody="manual")
        case bytes(content):
            return _build_response(reply, to_js(content))
        case Native(value=body, is_encoded=True):
            return _build_response(reply, body, encodeBody="manual")
        case Native(value=body) | (None as body):
            return _build_response(reply, body)
        case chunks:
            return _build_response(reply, _open_stream(chunks, ctx))


def _build_response(reply: Reply, body: Any, **options: str) -> Any:
    return Response(js.Response.new(body, status=reply.status, headers=_to_js_headers(reply.headers), **options))


@lru_cache(maxsize=64)
def _to_js_headers(headers: HeaderPairs) -> Any:
    """Return the headers for a new response, which copies them: most replies of an isolate have those of another one."""
    return js.Headers.new(to_js(headers))


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
    """Return whether the client is still connected."""
    try:
        await operation
    except JsException:
        return False
    return True
