"""The edge cache of one data centre; it is not replicated, and silently drops responses with Set-Cookie."""

from dataclasses import dataclass

import js
from pyodide.ffi import to_js

from sluice.core.ports import Content, HeaderPairs
from sluice.platform.failures import translate_errors
from sluice.platform.http.bodies import to_content, to_js_body


@dataclass(frozen=True, slots=True)
class CachedResponse:
    """A response as it was stored, with the `age` and `cf-cache-status` headers of the cache; its body is unread."""

    status: int
    headers: HeaderPairs
    content: Content


class EdgeCache:
    """Responses to GET, by absolute URL."""

    async def match(self, url: str) -> CachedResponse | None:
        with translate_errors(f"edge cache match of {url!r}"):
            response = await js.caches.default.match(url)
            if not response:
                return None
            # In one call; no name is there twice, because what has Set-Cookie is never stored.
            headers = tuple(js.Object.fromEntries(response.headers).to_py().items())
            return CachedResponse(response.status, headers, to_content(response))

    async def put(self, url: str, *, status: int, headers: HeaderPairs, content: Content) -> None:
        """Store the response for as long as its Cache-Control says; a 206 or `Vary: *` raises Refused."""
        options = {"status": status, "headers": [list(pair) for pair in headers]}
        with translate_errors(f"edge cache put of {url!r}"):
            init = to_js(options, dict_converter=js.Object.fromEntries)
            await js.caches.default.put(url, js.Response.new(to_js_body(content), init))

    async def get_text(self, url: str) -> str | None:
        """Return the text that was stored under a URL."""
        with translate_errors(f"edge cache match of {url!r}"):
            response = await js.caches.default.match(url)
            return str(await response.text()) if response else None

    async def put_text(self, url: str, text: str, *, max_age_s: int) -> None:
        with translate_errors(f"edge cache put of {url!r}"):
            options = {"headers": [["cache-control", f"public, max-age={max_age_s}"]]}
            init = to_js(options, dict_converter=js.Object.fromEntries)
            await js.caches.default.put(url, js.Response.new(text, init))

    async def delete(self, url: str) -> bool:
        """Delete the response; return whether there was one."""
        with translate_errors(f"edge cache delete of {url!r}"):
            return bool(await js.caches.default.delete(url))
