"""Sends a visitor's request to an origin, and the origin's response back, without reading a body in Python.

This is what makes a proxy that nobody notices: what a copy may not answer is sent on once, as the visitor wrote it, and
the reply streams back. A request whose `Via` names us is a loop, and is refused before it comes here.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import js
from pyodide.ffi import to_js

from sluice.core.errors import Refused, TimedOut
from sluice.core.net.addresses import AllowedHosts, check_url
from sluice.core.ports import OriginResponse
from sluice.platform.failures import is_connection_lost, translate_errors
from sluice.platform.http.bodies import read_headers, to_content

# See `transport`: workerd reuses connections that the server has closed already.
_TRIES: Final = 3


class VisitorRequest:
    """One visitor's request as the platform has it; it can be sent once, because its body can."""

    def __init__(self, request: Any, read_allowed: Callable[[], AllowedHosts]) -> None:
        self._request = request
        self._read_allowed = read_allowed

    async def send(
        self, url: str, changes: Mapping[str, str | None], *, timeout_s: float, is_repeatable: bool = True
    ) -> OriginResponse:
        """Return the origin's response as soon as its headers are there; a redirect is a response."""
        check_url(url, self._read_allowed())
        if not url.startswith(f"{js.URL.new(url).origin}/"):
            raise Refused("the host of the origin is not in its canonical spelling")
        abort = js.AbortController.new()
        try:
            async with asyncio.timeout(timeout_s):
                with translate_errors("the request to the origin"):
                    response = await self._fetch(url, changes, abort.signal, _TRIES if is_repeatable else 1)
        except TimeoutError:
            abort.abort()
            raise TimedOut(f"the origin did not answer within {timeout_s:g} s") from None
        return OriginResponse(response.status, read_headers(response.headers), to_content(response), response)

    async def _fetch(self, url: str, changes: Mapping[str, str | None], signal: Any, tries: int) -> Any:
        tries = tries if self._request.method in {"GET", "HEAD"} else 1
        for _ in range(tries - 1):
            try:
                return await js.fetch(self._build(url, changes, signal))
            except Exception as error:
                if not is_connection_lost(error):
                    raise
        return await js.fetch(self._build(url, changes, signal))

    def _build(self, url: str, changes: Mapping[str, str | None], signal: Any) -> Any:
        options = to_js({"redirect": "manual"}, dict_converter=js.Object.fromEntries)
        options.signal = signal
        outgoing = js.Request.new(js.Request.new(url, self._request), options)
        outgoing.headers.delete("host")
        for name, value in changes.items():
            if value is None:
                outgoing.headers.delete(name)
            else:
                outgoing.headers.set(name, value)
        return outgoing
