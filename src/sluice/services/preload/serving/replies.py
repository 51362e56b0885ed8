"""Replies to visitors: from a copy, with conditions and ranges, or from the origin's own response.

Visits are counted here, where they are served (`VisitTally`), and told to the zone's object once in five delays. The
object keeps them by hour and layer (`services/preload/traffic/visits.py`).
"""

from dataclasses import dataclass, field, replace
from math import floor
from typing import Final

from sluice.core.headers import header_value
from sluice.core.ports import Content, HeaderPairs, OriginResponse
from sluice.core.preload.caching.cache_keys import key_hash
from sluice.core.preload.caching.freshness import DECODED
from sluice.core.preload.caching.proxy_headers import (
    BROWSER_CHECKS_HTML,
    CACHE_NAME,
    VIA,
    accepts_encoding,
    add_status,
    hide_origin,
    is_html,
    select_visitor_headers,
)
from sluice.core.preload.zone_config import ZoneConfig
from sluice.core.waits import is_waiting
from sluice.services.preload.ports import Bodies
from sluice.services.preload.serving.copies import Copy
from sluice.web import Reply, Request, apply_conditions
from sluice.web.messages import Native
from sluice.web.ranges import Unsatisfiable, choose_range

CONDITIONS: Final = frozenset({"if-none-match", "if-modified-since"})
_OWN: Final = frozenset({"cache-status", "via", "x-cache", "x-cache-layer"})  # those of caches on the way are replaced
MAX_COUNTED: Final = 2000  # pages with visits that nobody has heard of
BODILESS: Final = frozenset({204, 205, 304})


@dataclass(frozen=True, slots=True)
class CacheOutcome:
    """How a reply came about: the layer it is from, the short result, and the Cache-Status of this cache."""

    layer: str
    result: str
    cache_status: str

    def add_to(self, headers: HeaderPairs) -> HeaderPairs:
        existing = header_value(headers, "cache-status")
        passed = header_value(headers, "via")
        return (
            *(pair for pair in headers if pair[0] not in _OWN),
            ("via", f"{passed}, {VIA}" if passed else VIA),
            ("cache-status", add_status(existing, self.cache_status)),
            ("x-cache", self.result),
            ("x-cache-layer", self.layer),
        )


@dataclass(slots=True)
class VisitTally:
    """Visits of one zone that its object has not heard of: visits, bytes and milliseconds by layer, and visits by page."""

    layers: dict[str, list[float]] = field(default_factory=dict)
    pages: dict[str, int] = field(default_factory=dict)
    reported_at: float = 0.0

    def count(self, reply: Reply, waited_s: float, url: str | None) -> None:
        """Count a visit; `url` is that of a page."""
        layer, size = find_layer(reply), reply.header("content-length") or ""
        sent = int(size) if reply.body is not None and size.isdecimal() else 0
        visits, sizes, waits = self.layers.get(layer, (0, 0, 0.0))
        self.layers[layer] = [visits + 1, sizes + sent, waits + max(0.0, waited_s * 1000)]
        if url is not None:
            self.pages[url] = self.pages.get(url, 0) + 1

    def is_due(self, interval_s: float, now: float) -> bool:
        """Return whether the object should hear of the visits: it last did so long ago, or they are of very many pages."""
        return not is_waiting(self.reported_at + interval_s, now, interval_s) or len(self.pages) >= MAX_COUNTED

    def take(self, now: float) -> "VisitTally":
        """Return the visits so far; counting begins again."""
        taken = VisitTally(self.layers, self.pages)
        self.layers, self.pages, self.reported_at = {}, {}, now
        return taken


def find_layer(reply: Reply) -> str:
    """Return what answered a visitor: a copy at the edge or in R2, another visitor's request, the origin, or nothing but it."""
    if reply.header("x-cache") == "BYPASS":
        return "pass"
    status = (reply.header("cache-status") or "").rpartition(CACHE_NAME)[2]
    if "fwd=" in status:
        return "shared" if "collapsed" in status else "origin"
    return {"EDGE": "edge", "R2": "r2"}.get(reply.header("x-cache-layer") or "", "origin")


async def build_copy_reply(
    request: Request, copy: Copy, served: CacheOutcome, *, config: ZoneConfig, bodies: Bodies, now: float
) -> Reply:
    """Return the reply from a copy, as far as the request asks for it."""
    age, size = str(floor(copy.age_s(now))), copy.content.size
    is_head = request.method == "HEAD"
    headers = (
        *served.add_to(_for_browsers(copy.headers, copy.status)),
        ("age", age),
        ("x-cache-age", age),
        ("x-cache-key-hash", key_hash(copy.page.url, copy.page.variant)),
        *(() if size is None else (("content-length", str(size)),)),
    )
    reply = _with_variants(Reply(copy.status, headers, None if is_head else Native(copy.content.data)), config)
    if CONDITIONS & request.headers.keys():
        reply = apply_conditions(request, reply)
        if reply.status == 304:
            reply = replace(reply, headers=(*served.add_to(reply.headers), ("age", age)))
    if reply.status == 200 and "range" in request.headers and size is not None and not is_head:
        return await _cut_range(request, reply, copy.content, size, bodies)
    return reply


def build_origin_reply(
    request: Request,
    response: OriginResponse,
    served: CacheOutcome,
    *,
    config: ZoneConfig,
    host: str,
    is_stored: bool = False,
) -> Reply:
    """Return the origin's own reply, changed by nothing but what a proxy must change."""
    if response.status == 101:
        return Reply.passthrough(response.raw, 101)
    headers = hide_origin(select_visitor_headers(response.headers), config, host)
    if is_stored:
        headers = _for_browsers(headers, response.status)
    return build_passed_reply(request, response, served.add_to(headers))


def build_passed_reply(request: Request, response: OriginResponse, headers: HeaderPairs) -> Reply:
    """Return the response with these headers; its body is passed on unread."""
    is_empty = response.status in BODILESS or request.method == "HEAD" or response.content.data is None
    encoding = header_value(headers, "content-encoding")
    if not is_empty and encoding.lower() in DECODED:
        # The runtime may encode the body anew, in another length; without the header it decodes it.
        unfit = {"content-length"} | (set() if accepts_encoding(request.headers, encoding) else {"content-encoding"})
        headers = tuple(pair for pair in headers if pair[0] not in unfit)
    return Reply(response.status, headers, None if is_empty else Native(response.content.data))


def _for_browsers(headers: HeaderPairs, status: int) -> HeaderPairs:
    """Change the headers for browsers: they check a stored page of HTML each time, so that a purge reaches them."""
    if status != 200 or not is_html(headers):
        return headers
    others = tuple(pair for pair in headers if pair[0] not in {"cache-control", "expires", "pragma"})
    return (*others, ("cache-control", BROWSER_CHECKS_HTML))


def _with_variants(reply: Reply, config: ZoneConfig) -> Reply:
    if config.cache_device_variants:
        reply = reply.with_vary("User-Agent")
    if config.cache_languages:
        reply = reply.with_vary("Accept-Language")
    for name in config.cache_vary_headers:
        reply = reply.with_vary(name)
    return reply


async def _cut_range(request: Request, reply: Reply, content: Content, size: int, bodies: Bodies) -> Reply:
    chosen = choose_range(request.headers, reply, size)
    if chosen is None:
        return reply
    if isinstance(chosen, Unsatisfiable):
        empty = replace(reply, status=416, body=None).with_header("content-length", "0")
        return empty.with_header("content-range", f"bytes */{size}")
    part = await bodies.cut(content, chosen.first, chosen.end)
    ranged = replace(reply, status=206, body=Native(part.data)).with_header("content-range", chosen.describe(size))
    return ranged.with_header("content-length", str(chosen.end - chosen.first))
