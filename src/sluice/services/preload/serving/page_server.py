"""Serving visitors: from a copy where one may answer, else from the origin, as if there were no cache in between."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Defer, Log
from sluice.core.preload.caching.cache_control import Directives
from sluice.core.preload.caching.cache_keys import canonical_url, list_variants
from sluice.core.preload.caching.proxy_headers import (
    describe_forward,
    describe_hit,
    hide_origin,
    is_from_ourselves,
    list_changed_urls,
)
from sluice.core.preload.caching.request_rules import Lookup, Pass, decide_request, page_bypass_reason
from sluice.core.preload.request_signing import WARMING_HEADER
from sluice.core.preload.zone_config import ZoneConfig, netloc_of
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.ports import Bodies
from sluice.services.preload.serving.copies import Copy
from sluice.services.preload.serving.copy_refresh import Refresher
from sluice.services.preload.serving.copy_store import CopyStore
from sluice.services.preload.serving.failure_pages import build_failure_reply, status_of
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.serving.misses import Miss, MissServer
from sluice.services.preload.serving.observing import Observer
from sluice.services.preload.serving.origin_requests import OriginRequests
from sluice.services.preload.serving.replies import CacheOutcome, VisitTally, build_copy_reply, build_origin_reply
from sluice.services.preload.serving.warming_loopback import WarmingLoopback
from sluice.services.preload.zone.zone_object import ZoneCalls
from sluice.web import Reply, Request

# Visits are told once in so many times the zone's delay, because on a free plan its object has few requests.
VISIT_DELAYS: Final = 5
UNSAFE: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageServer:
    """Serves visitors. A hit needs none of the parts that are made when they are needed."""

    config: ZoneConfig
    copies: CopyStore
    clock: Clock
    bodies: Bodies
    make_origin: Callable[[], OriginRequests]
    make_refresher: Callable[[], Refresher]
    make_misses: Callable[[], MissServer]
    make_observer: Callable[[], Observer]
    make_zone: Callable[[], ZoneCalls]
    make_warming_loopback: Callable[[], WarmingLoopback]
    defer: Defer
    log: Log
    memory: IsolateMemory

    async def handle(self, request: Request) -> Reply:
        """Return the reply to a visitor of one of the zone's hosts, whatever happens."""
        host, began_at = netloc_of(request.url), self.clock.now()
        if WARMING_HEADER in request.headers and (reply := await self._answer_loopback(request)):
            return reply
        if is_from_ourselves(request.headers):
            return build_failure_reply(request, 508, host)
        try:
            decision = decide_request(request.method, request.url, request.headers, self.config)
            reply = await self._serve(request, host, decision)
            self._count_visit(decision, reply, began_at)
            return reply  # noqa: TRY300
        except SluiceError as error:
            return build_failure_reply(request, status_of(error), host)
        except Exception as error:  # noqa: BLE001 - this is the boundary: a defect must not show a visitor more than that
            self.log.error("serving.failed", error, url=request.url)
            return build_failure_reply(request, status_of(error), host)

    async def _answer_loopback(self, request: Request) -> Reply | None:
        """Return the origin's reply to a warming request of our own that came back; None for a visitor's request."""
        try:
            page_url = f"{self.config.scheme}://{request.url.partition('://')[2]}"
            return await self.make_warming_loopback().answer(request, page_url)
        except Exception as error:  # noqa: BLE001 - as in `handle`; a visitor's request goes on without the header
            self.log.error("warming.failed", error, url=request.url)
            return None

    def _count_visit(self, decision: Pass | Lookup, reply: Reply, began_at: float) -> None:
        url = decision.url if isinstance(decision, Lookup) and reply.status == 200 else None
        now, tally = self.clock.now(), self.memory.tallies.setdefault(self.copies.zone_id, VisitTally())
        tally.count(reply, now - began_at, url)
        if tally.is_due(VISIT_DELAYS * self.config.cache_purge_delay_s, now):
            self.defer(self._report_visits(tally.take(now)))

    async def _report_visits(self, tally: VisitTally) -> None:
        try:
            await self.make_zone().count_visits(tally.layers, tally.pages)
        except SluiceError as error:
            self.log.error("visits.failed", error)

    async def _serve(self, request: Request, host: str, decision: Pass | Lookup) -> Reply:
        if isinstance(decision, Pass):
            return await self._pass(request, decision, host)
        if self.config.cache_enabled == "observe":
            return await self.make_observer().serve(request, host, decision)
        page, now = Page(decision.url, decision.variant), self.clock.now()
        copy, layer = await self._try_load(self.copies.load_from_edge(page)), "EDGE"
        if copy is None or not copy.may_serve_while_revalidating(now):
            copy, layer = await self._try_load(self.copies.load_from_bucket(page)) or copy, "R2"
        if copy and copy.may_serve_while_revalidating(now):
            return await self._serve_copy(request, copy, layer)
        return await self._serve_miss(request, host, decision, copy)

    async def _pass(self, request: Request, decision: Pass, host: str) -> Reply:
        """Pass the request on as it is; one that changes something drops the copies of its page."""
        response = await self.make_origin().ask(request, host, is_passed=True)
        if request.method in UNSAFE and response.status < 400:
            shown = hide_origin(response.headers, self.config, host)
            self.defer(self._drop_copies(list_changed_urls(request.url, shown)))
        is_method = decision.detail == "method"
        status = describe_forward("method") if is_method else describe_forward("bypass", detail=decision.detail)
        return build_origin_reply(
            request, response, CacheOutcome("ORIGIN", "BYPASS", status), config=self.config, host=host
        )

    async def _serve_copy(self, request: Request, copy: Copy, layer: str) -> Reply:
        now = self.clock.now()
        status = describe_hit(copy.fresh_until - now, "unchecked" if copy.is_unchecked else "")
        if not copy.is_fresh(now):
            self.defer(self.make_refresher().refresh(copy))
            return await self._reply_from(request, copy, CacheOutcome(layer, "STALE", status))
        if layer == "R2" and request.method == "GET" and "range" not in request.headers:
            copy = self._fill_edge(copy)
        return await self._reply_from(request, copy, CacheOutcome(layer, "HIT", status))

    async def _reply_from(self, request: Request, copy: Copy, served: CacheOutcome) -> Reply:
        now = self.clock.now()
        return await build_copy_reply(request, copy, served, config=self.config, bodies=self.bodies, now=now)

    async def _serve_miss(self, request: Request, host: str, lookup: Lookup, stale: Copy | None) -> Reply:
        if "only-if-cached" in Directives.parse(request.headers.get("cache-control", "")):
            return build_failure_reply(request, 504, host)
        is_usable = stale is not None and stale.may_serve_on_error(self.clock.now())
        fallback = stale if is_usable else None
        return await self.make_misses().serve(
            Miss(request=request, host=host, lookup=lookup, stale=stale, fallback=fallback)
        )

    def _fill_edge(self, copy: Copy) -> Copy:
        """Store one half of a copy's stream at the edge; return the copy with the other."""
        shown, stored = self.bodies.split(copy.content)
        self.defer(self._put_at_edge(copy.with_content(stored)))
        return copy.with_content(shown)

    async def _put_at_edge(self, copy: Copy) -> None:
        try:
            await self.copies.put_at_edge(copy)
        except SluiceError as error:
            self.log.error("fill.failed", error, url=copy.page.url)

    async def _drop_copies(self, urls: list[str]) -> None:
        """Remove the copies of pages that a visitor's request may have changed."""
        try:
            stored = [each for each in urls if page_bypass_reason(each, self.config) is None]
            pages = list(dict.fromkeys(canonical_url(each, self.config) for each in stored))
            usual = [Page(url, variant) for url in pages for variant in list_variants(self.config)]
            if usual:
                indexed = await self.copies.pages.list_variants(pages)
                await self.copies.remove(list(dict.fromkeys([*usual, *indexed])))
        except SluiceError as error:
            self.log.error("drop.failed", error, url=urls[0])

    async def _try_load(self, loading: Awaitable[Copy | None]) -> Copy | None:
        """Return the copy that `load` finds; a store that fails counts as one that has nothing."""
        try:
            return await loading
        except SluiceError as error:
            self.log.error("lookup.failed", error)
            return None
