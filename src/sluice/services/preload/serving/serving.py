"""Serving what was warmed: from the edge, else from R2, else from the origin; stale while or because that is away."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from sluice.core.errors import Invalid, Oversized, SluiceError
from sluice.core.header_values import header_value
from sluice.core.ports import Clock, Defer, Fetch, FetchResponse, HeaderPairs
from sluice.core.preload.bypass import bypassed_page, bypassed_request
from sluice.core.preload.canonical import canonical_url, key_hash, variant_for
from sluice.core.preload.freshness import unshareable
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.ports import Tell
from sluice.services.preload.serving.copies import Copies, Copy, copy_of
from sluice.services.preload.warming.origin import TIMEOUT_S, origin_address, page_headers
from sluice.services.preload.warming.warming import MAX_PAGE_BYTES
from sluice.web import Reply, Request, apply_conditions
from sluice.web.problems import build_error_reply, build_internal_error_reply

_HOP_BY_HOP: Final = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_NOT_FOR_VISITORS: Final = frozenset(
    {"cache-tag", "cdn-cache-control", "surrogate-control", "surrogate-key", "x-powered-by"}
)

# Passes the visitor's own request on to this address, with these headers on top.
Forward = Callable[[str, HeaderPairs], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    zone: ZoneConfig
    copies: Copies
    clock: Clock
    fetch: Fetch
    forward: Forward
    defer: Defer
    tell: Tell
    # Pages that this isolate is fetching anew right now, so that a crowd of visitors does not ask for the same.
    refreshing: set[str]

    async def answer(self, request: Request) -> Reply:
        """The reply to a visitor of one of the zone's hosts; whatever fails is a problem, not an exception."""
        try:
            reply = await self._serve(request)
        except SluiceError as error:
            reply = build_error_reply(error, instance=request.path)
        except Exception as error:  # noqa: BLE001 - this is the boundary: a defect becomes a plain 500
            self.tell("serving.failed", error, url=request.url)
            reply = build_internal_error_reply(instance=request.path)
        if isinstance(reply.body, bytes):
            reply = reply.with_header("content-length", str(len(reply.body)))
            return replace(reply, body=None) if request.method == "HEAD" else reply
        return reply

    async def _serve(self, request: Request) -> Reply:
        reason = bypassed_request(request.method, request.headers)
        try:
            url = canonical_url(request.url, self.zone)
        except Invalid as error:
            return await self._passed_on(request, request.url, str(error))
        if reason := reason or bypassed_page(request.url):
            return await self._passed_on(request, url, reason)
        variant = variant_for(
            self.zone,
            user_agent=request.headers.get("user-agent", ""),
            accept_language=request.headers.get("accept-language", ""),
        )
        reply = await self._cached(Page(url, variant), request)
        return apply_conditions(request, reply)

    async def _cached(self, page: Page, request: Request) -> Reply:
        near = await self._tried(self.copies.at_edge(page))
        if near and near.is_usable(self.clock.now()):
            return self._reply(near, "EDGE")
        kept = await self._tried(self.copies.in_bucket(page))
        if kept and kept.is_usable(self.clock.now()):
            return self._reply(kept, "R2")
        return await self._from_origin(page, kept, request)

    def _reply(self, copy: Copy, layer: str) -> Reply:
        if copy.is_fresh(self.clock.now()):
            if layer == "R2":
                self.defer(self._brought_near(copy))
            return self._shown(copy, layer, "HIT")
        self.defer(self._refreshed(copy))
        return self._shown(copy, layer, "STALE")

    async def _from_origin(self, page: Page, kept: Copy | None, request: Request) -> Reply:
        asked_at = self.clock.now()
        try:
            answer = await self._asked(page, ())
        except Oversized:
            return await self._passed_on(request, page.url, "it is too large")
        except SluiceError as error:
            return self._instead(kept, error)
        if answer.status >= 500 and kept and kept.is_better_than_nothing(self.clock.now()):
            return self._shown(kept, "R2", "STALE")
        if reason := unshareable(answer.status, answer.headers, page.url, self.zone):
            if "cookie" in request.headers:
                return await self._passed_on(request, page.url, reason)
            return self._as_answered(answer, page, reason)
        copy = copy_of(page, answer.headers, answer.body, self.zone, self.clock.now())
        self.defer(self._stored(copy, asked_at))
        return self._shown(copy, "ORIGIN", "MISS")

    def _instead(self, kept: Copy | None, error: SluiceError) -> Reply:
        if kept and kept.is_better_than_nothing(self.clock.now()):
            return self._shown(kept, "R2", "STALE")
        raise error

    async def _refreshed(self, copy: Copy) -> None:
        """Bring a stale copy up to date, once at a time."""
        hashed = key_hash(copy.page.url, copy.page.variant)
        if hashed in self.refreshing:
            return
        self.refreshing.add(hashed)
        try:
            await self._refresh(copy)
        except SluiceError as error:
            self.tell("refresh.failed", error, url=copy.page.url)
        finally:
            self.refreshing.discard(hashed)

    async def _refresh(self, copy: Copy) -> None:
        asked_at, page = self.clock.now(), copy.page
        names = (("if-none-match", "etag"), ("if-modified-since", "last-modified"))
        validators = tuple((name, value) for name, key in names if (value := header_value(copy.headers, key)))
        answer = await self._asked(page, validators)
        if answer.status == 304 and await self.copies.renew(page, answer.headers, self.zone, asked_at):
            return
        if answer.status == 304:
            answer = await self._asked(page, ())
        if answer.status in {404, 410}:
            await self.copies.remove([page])
        elif unshareable(answer.status, answer.headers, page.url, self.zone) is None:
            await self.copies.store(copy_of(page, answer.headers, answer.body, self.zone, self.clock.now()), asked_at)
        elif answer.status == 200:
            await self.copies.remove([page])

    async def _brought_near(self, copy: Copy) -> None:
        try:
            await self.copies.fill_edge(copy)
        except SluiceError as error:
            self.tell("fill.failed", error, url=copy.page.url)

    async def _stored(self, copy: Copy, asked_at: float) -> None:
        try:
            await self.copies.store(copy, asked_at)
        except SluiceError as error:
            self.tell("store.failed", error, url=copy.page.url)

    async def _asked(self, page: Page, validators: HeaderPairs) -> FetchResponse:
        address, told = origin_address(page.url, self.zone)
        headers = (*page_headers(page.variant), *told, *validators)
        return await self.fetch(
            address, headers=headers, max_bytes=MAX_PAGE_BYTES, timeout_s=TIMEOUT_S, follow=False, fresh=True
        )

    async def _passed_on(self, request: Request, url: str, reason: str) -> Reply:
        # The address as the visitor wrote it, in the zone's scheme: what counts for a cache key may not be all that counts.
        address = self.zone.scheme + request.url.partition("#")[0][request.url.index("://") :]
        address, told = origin_address(address, self.zone)
        reply = await self.forward(address, told)
        self.tell("bypass", url=url, reason=reason)
        return reply.with_header("X-Cache-Layer", "ORIGIN").with_header("X-Cache", "BYPASS")

    def _shown(self, copy: Copy, layer: str, outcome: str) -> Reply:
        fresh, now = copy.freshness, self.clock.now()
        caching = [f"max-age={fresh.browser_s}", f"stale-while-revalidate={fresh.while_revalidate_s}"]
        if fresh.immutable:
            caching.append("immutable")
        age_s = max(0, int(now - copy.stored_at))
        headers: HeaderPairs = (
            *copy.headers,
            ("cache-control", f"public, {', '.join(caching)}"),
            ("x-cache", outcome),
            ("x-cache-layer", layer),
            ("x-cache-age", str(age_s)),
            ("x-cache-key-hash", key_hash(copy.page.url, copy.page.variant)),
        )
        reply = Reply(200, headers, copy.body)
        if self.zone.cache_device_variants:
            reply = reply.with_vary("User-Agent")
        return reply.with_vary("Accept-Language") if self.zone.cache_languages else reply

    def _as_answered(self, answer: FetchResponse, page: Page, reason: str) -> Reply:
        """The origin's own words, which no cache keeps."""
        self.tell("unshared", url=page.url, reason=reason)
        dropped = _HOP_BY_HOP | _NOT_FOR_VISITORS
        headers = tuple(pair for pair in answer.headers if pair[0] not in dropped)
        told = (("x-cache", "MISS"), ("x-cache-layer", "ORIGIN"))
        body = None if answer.status in {204, 205, 304} else answer.body
        return Reply(answer.status, (*headers, *told), body)

    async def _tried(self, looking: Awaitable[Copy | None]) -> Copy | None:
        """A store that fails counts as one that has nothing."""
        try:
            return await looking
        except SluiceError as error:
            self.tell("lookup.failed", error)
            return None
