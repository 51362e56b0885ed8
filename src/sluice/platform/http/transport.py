"""The platform's fetch, one request at a time, without redirects."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import js
from pyodide.ffi import JsException, to_js

from sluice.core.errors import LimitReached, Refused
from sluice.core.net.transport import TransportFailed, TransportLost, TransportRequest, TransportResponse
from sluice.platform.failures import is_connection_lost, is_limit_reached
from sluice.platform.http.streams import open_chunks

# workerd reuses a connection that an HTTP/1.0 server, such as Python's own, has already closed: 7 of 20 requests in a row
# failed this way (measured). Each failure drops one such connection.
_TRIES: Final = 3


def send_request(request: TransportRequest) -> AbstractAsyncContextManager[TransportResponse]:
    """Send one request without following redirects; leaving the context aborts it. A lost GET or HEAD is sent again."""
    return _open_exchange(request, _TRIES if request.method in {"GET", "HEAD"} else 1)


def send_request_once(request: TransportRequest) -> AbstractAsyncContextManager[TransportResponse]:
    """Send a request as `send_request` does, but never twice: for callers that count the requests to an origin."""
    return _open_exchange(request, 1)


@asynccontextmanager
async def _open_exchange(request: TransportRequest, tries: int) -> AsyncIterator[TransportResponse]:
    _check_spelling(request.url)
    abort = js.AbortController.new()
    options: dict[str, Any] = {
        "method": request.method,
        "headers": [list(pair) for pair in request.headers],
        "redirect": "manual",
        "signal": abort.signal,
    }
    if request.body is not None:
        options["body"] = request.body
    if request.fresh:
        options["cache"] = "no-store"
    try:
        response = await _fetch(request, tries, to_js(options, dict_converter=js.Object.fromEntries))
        headers = tuple((name, value) for name, value in response.headers)
        async with open_chunks(response.body) as chunks:
            yield TransportResponse(response.status, headers, chunks)
    except JsException as error:
        if is_limit_reached(error):
            raise LimitReached(f"request to {js.URL.new(request.url).host}: {error.message}") from error
        kind = TransportLost if is_connection_lost(error) else TransportFailed
        raise kind(error.message) from error
    finally:
        abort.abort()


def _check_spelling(url: str) -> None:
    """Raise Refused for a URL that the platform reads differently than Python, which has checked it."""
    if not url.startswith(f"{js.URL.new(url).origin}/"):
        raise Refused("the URL is not in its canonical spelling: write its host as a browser shows it")


async def _fetch(request: TransportRequest, tries: int, options: Any) -> Any:
    """Send the request, up to `tries` times if the connection is lost."""
    for _ in range(tries - 1):
        try:
            return await js.fetch(request.url, options)
        except JsException as error:
            if not is_connection_lost(error):
                raise
    return await js.fetch(request.url, options)
