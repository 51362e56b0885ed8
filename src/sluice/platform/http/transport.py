"""The platform's fetch, one hop at a time."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final

import js
from pyodide.ffi import JsException, to_js

from sluice.core.errors import Refused
from sluice.core.net.transport import TransportFailed, TransportRequest, TransportResponse
from sluice.platform.http.streams import read_chunks

# workerd keeps a connection for the next request although a server that speaks HTTP/1.0 has closed it, as Python's own
# does: 7 of 20 requests in a row failed so, measured. Each failure drops one such connection.
_LOST: Final = "Network connection lost."
_TRIES: Final = 3


def send_request(request: TransportRequest) -> AbstractAsyncContextManager[TransportResponse]:
    """One request without following redirects; leaving the context aborts what is still under way."""
    return _sent(request, _TRIES if request.method in {"GET", "HEAD"} else 1)


def send_request_once(request: TransportRequest) -> AbstractAsyncContextManager[TransportResponse]:
    """The same, sent once whatever happens, for whoever counts the requests of an origin."""
    return _sent(request, 1)


@asynccontextmanager
async def _sent(request: TransportRequest, tries: int) -> AsyncIterator[TransportResponse]:
    _check_reading(request.url)
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
        response = await _fetched(request, tries, to_js(options, dict_converter=js.Object.fromEntries))
        headers = tuple((name, value) for name, value in response.headers)
        yield TransportResponse(response.status, headers, read_chunks(response.body))
    except JsException as error:
        raise TransportFailed(error.message) from error
    finally:
        abort.abort()


def _check_reading(url: str) -> None:
    """The address was checked as Python reads it: refuse one the platform reads otherwise."""
    if not url.startswith(f"{js.URL.new(url).origin}/"):
        raise Refused("the URL is not in its canonical spelling")


async def _fetched(request: TransportRequest, tries: int, options: Any) -> Any:
    """Only what may safely be sent twice is."""
    for _ in range(tries - 1):
        try:
            return await js.fetch(request.url, options)
        except JsException as error:
            if error.message != _LOST:
                raise
    return await js.fetch(request.url, options)
