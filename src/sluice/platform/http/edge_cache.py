"""The edge cache of one data centre; it is not replicated, and silently drops responses with Set-Cookie."""

from dataclasses import dataclass

import js
from pyodide.ffi import to_js

from sluice.core.ports import HeaderPairs
from sluice.platform.failures import translate_errors


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response as it was stored, with the `age` and `cf-cache-status` headers of the cache."""

    status: int
    headers: HeaderPairs
    body: bytes


class EdgeCache:
    """Responses to GET, by absolute URL."""

    async def match(self, url: str) -> CachedResponse | None:
        with translate_errors(f"edge cache match of {url!r}"):
            response = await js.caches.default.match(url)
            if not response:
                return None
            headers = tuple((name, value) for name, value in response.headers)
            return CachedResponse(response.status, headers, (await response.bytes()).to_bytes())

    async def put(self, url: str, *, status: int, headers: HeaderPairs, body: bytes) -> None:
        """Store the response for as long as its Cache-Control says; a 206 or `Vary: *` raises Refused."""
        options = {"status": status, "headers": [list(pair) for pair in headers]}
        with translate_errors(f"edge cache put of {url!r}"):
            response = js.Response.new(to_js(body), to_js(options, dict_converter=js.Object.fromEntries))
            await js.caches.default.put(url, response)

    async def delete(self, url: str) -> bool:
        """Delete the response; returns whether there was one."""
        with translate_errors(f"edge cache delete of {url!r}"):
            return bool(await js.caches.default.delete(url))
