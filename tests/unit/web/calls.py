"""Builds requests for the tests, and reads the replies."""

import json
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

from sluice.web import Headers, HeadersLike, Reply, Request

T = TypeVar("T")


def call(method: str, path: str = "/", headers: HeadersLike = (), body: bytes = b"") -> Request:
    async def read_body(max_bytes: int) -> bytes:
        return body[: max_bytes + 1]

    return Request(method, f"https://sluice.test{path}", Headers(headers), read_body)


def get(path: str = "/", headers: HeadersLike = ()) -> Request:
    return call("GET", path, headers)


def post(body: bytes, headers: HeadersLike = ()) -> Request:
    return call("POST", "/", headers, body)


def content(reply: Reply) -> bytes:
    assert isinstance(reply.body, bytes)
    return reply.body


async def read_stream(reply: Reply) -> bytes:
    """Return the whole body of a reply that is sent in chunks."""
    assert isinstance(reply.body, AsyncIterator)
    return b"".join([chunk async for chunk in reply.body])


def parsed(reply: Reply) -> Any:
    return json.loads(content(reply))


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that never waits, without an event loop."""
    try:
        work.send(None)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    raise AssertionError("the coroutine waits for something")
