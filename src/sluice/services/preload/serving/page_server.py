"""Serving visitors: from the edge, else from R2, else from the origin; stale while revalidating, and stale on errors."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final

from sluice.core.errors import Invalid, Oversized, SluiceError
from sluice.core.header_values import header_value
from sluice.core.ports import Clock, Defer, Fetch, FetchResponse, HeaderPairs, Log
from sluice.core.preload.cache_bypass import page_bypass_reason, request_bypass_reason
from sluice.core.preload.cache_keys import canonical_url, choose_variant, key_hash
from sluice.core.preload.freshness import unshareable_reason
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.serving.copies import Copy, CopyStore, build_copy
from sluice.services.preload.warming.origin import MAX_PAGE_BYTES, TIMEOUT_S, origin_address, page_headers
from sluice.web import Reply, Request, apply_conditions
from sluice.web.problems import build_error_reply, build_internal_error_reply

_HOP_BY_HOP: Final = frozenset(
    {"connection", "content-encoding", "content-length", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_NOT_FOR_VISITORS: Final = frozenset(
    {"cache-tag", "cdn-cache-control", "surrogate-control", "surrogate-key", "x-powered-by"}
)

# Sends the visitor's own request to this URL, with these headers added.
Forward = Callable[[str, HeaderPairs], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageServer:
    config: ZoneConfig
    copies: CopyStore
    clock: Clock
    fetch: Fetch
    forward: Forward
    defer: Defer
    log: Log
    # Key hashes of the pages that this isolate is revalidating, so that many visitors cause one request.
    revalidating: set[str]

    async def handle(self, request: Request) -> Reply:
        """The reply to a visitor of one of the zone's hosts; a failure becomes a problem reply."""
        try:
            reply = await self._serve(request)
        except SluiceError as error:
            reply = build_error_reply(error, instance=request.path)
        except Exception as error:  # noqa: BLE001 - this is the boundary: a defect becomes a plain 500
            self.log.error("serving.failed", error, url=request.url)
            reply = build_internal_error_reply(instance=request.path)
        if isinstance(reply.body, bytes):
            reply = reply.with_header("content-length", str(len(reply.body)))
            return replace(reply, body=None) if request.method == "HEAD" else reply
        return reply

    async def _serve(self, request: Request) -> Reply:
        try:
            url = canonical_url(request.url, self.config)
        except Invalid as error:
            return await self._bypass(request, request.url, str(error))
        reason = request_bypass_reason(request.method, request.headers) or page_bypass_reason(request.url)
        if reason:
            return await self._bypass(request, url, reason)
        variant = choose_variant(
            self.config,
            user_agent=request.headers.get("user-agent", ""),
            accept_language=request.headers.get("accept-language", ""),
        )
        return apply_conditions(request, await self._serve_page(Page(url, variant), request))

    async def _serve_page(self, page: Page, request: Request) -> Reply:
        edge_copy = await self._try_load(self.copies.load_from_edge(page))
        if edge_copy and edge_copy.may_serve_while_revalidating(self.clock.now()):
            return self._serve_copy(edge_copy, "EDGE")
        bucket_copy = await self._try_load(self.copies.load_from_bucket(page))
        if bucket_copy and bucket_copy.may_serve_while_revalidating(self.clock.now()):
            return self._serve_copy(bucket_copy, "R2")
        return await self._serve_from_origin(page, bucket_copy, request)

    def _serve_copy(self, copy: Copy, layer: str) -> Reply:
        if copy.is_fresh(self.clock.now()):
            if layer == "R2":
                self.defer(self._fill_edge(copy))
            return self._build_reply(copy, layer, "HIT")
        self.defer(self._revalidate_once(copy))
        return self._build_reply(copy, layer, "STALE")

    async def _serve_from_origin(self, page: Page, stale: Copy | None, request: Request) -> Reply:
        fetched_at = self.clock.now()
        try:
            response = await self._fetch_page(page, ())
        except Oversized:
            return await self._bypass(request, page.url, "it is too large")
        except SluiceError:
            if stale and stale.may_serve_on_error(self.clock.now()):
                return self._build_reply(stale, "R2", "STALE")
            raise
        if response.status >= 500 and stale and stale.may_serve_on_error(self.clock.now()):
            return self._build_reply(stale, "R2", "STALE")
        if reason := unshareable_reason(response.status, response.headers, page.url, self.config):
            if "cookie" in request.headers:
                return await self._bypass(request, page.url, reason)
            return self._build_unshared_reply(response, page, reason)
        copy = build_copy(page, response.headers, response.body, self.config, self.clock.now())
        self.defer(self._store(copy, fetched_at))
        return self._build_reply(copy, "ORIGIN", "MISS")

    async def _revalidate_once(self, copy: Copy) -> None:
        """Brings a stale copy up to date, unless that is under way already."""
        key = key_hash(copy.page.url, copy.page.variant)
        if key in self.revalidating:
            return
        self.revalidating.add(key)
        try:
            await self._revalidate(copy)
        except SluiceError as error:
            self.log.error("refresh.failed", error, url=copy.page.url)
        finally:
            self.revalidating.discard(key)

    async def _revalidate(self, copy: Copy) -> None:
        fetched_at, page = self.clock.now(), copy.page
        names = (("if-none-match", "etag"), ("if-modified-since", "last-modified"))
        validators = tuple((name, value) for name, key in names if (value := header_value(copy.headers, key)))
        response = await self._fetch_page(page, validators)
        if response.status == 304:
            if await self.copies.renew(page, response.headers, self.config, fetched_at):
                return
            response = await self._fetch_page(page, ())
        if response.status in {404, 410}:
            await self.copies.remove([page])
        elif unshareable_reason(response.status, response.headers, page.url, self.config) is None:
            new = build_copy(page, response.headers, response.body, self.config, self.clock.now())
            await self.copies.store(new, fetched_at)
        elif response.status == 200:
            await self.copies.remove([page])

    async def _fill_edge(self, copy: Copy) -> None:
        try:
            await self.copies.put_at_edge(copy)
        except SluiceError as error:
            self.log.error("fill.failed", error, url=copy.page.url)

    async def _store(self, copy: Copy, fetched_at: float) -> None:
        try:
            await self.copies.store(copy, fetched_at)
        except SluiceError as error:
            self.log.error("store.failed", error, url=copy.page.url)

    async def _fetch_page(self, page: Page, validators: HeaderPairs) -> FetchResponse:
        address, forwarded = origin_address(page.url, self.config)
        headers = (*page_headers(page.variant), *forwarded, *validators)
        return await self.fetch(
            address, headers=headers, max_bytes=MAX_PAGE_BYTES, timeout_s=TIMEOUT_S, follow=False, fresh=True
        )

    async def _bypass(self, request: Request, url: str, reason: str) -> Reply:
        """Forwards the visitor's request to the origin."""
        # The URL as the visitor wrote it, in the zone's scheme: the origin may care about more than the cache key has.
        address = self.config.scheme + request.url.partition("#")[0][request.url.index("://") :]
        address, forwarded = origin_address(address, self.config)
        reply = await self.forward(address, forwarded)
        self.log.event("bypass", url=url, reason=reason)
        return reply.with_header("X-Cache-Layer", "ORIGIN").with_header("X-Cache", "BYPASS")

    def _build_reply(self, copy: Copy, layer: str, result: str) -> Reply:
        fresh, now = copy.freshness, self.clock.now()
        directives = [f"max-age={fresh.browser_s}", f"stale-while-revalidate={fresh.while_revalidate_s}"]
        if fresh.immutable:
            directives.append("immutable")
        headers: HeaderPairs = (
            *copy.headers,
            ("cache-control", f"public, {', '.join(directives)}"),
            ("x-cache", result),
            ("x-cache-layer", layer),
            ("x-cache-age", str(max(0, int(now - copy.stored_at)))),
            ("x-cache-key-hash", key_hash(copy.page.url, copy.page.variant)),
        )
        reply = Reply(200, headers, copy.body)
        if self.config.cache_device_variants:
            reply = reply.with_vary("User-Agent")
        return reply.with_vary("Accept-Language") if self.config.cache_languages else reply

    def _build_unshared_reply(self, response: FetchResponse, page: Page, reason: str) -> Reply:
        """The origin's own response, which is not stored."""
        self.log.event("unshared", url=page.url, reason=reason)
        dropped = _HOP_BY_HOP | _NOT_FOR_VISITORS
        headers = tuple(pair for pair in response.headers if pair[0] not in dropped)
        layer = (("x-cache", "MISS"), ("x-cache-layer", "ORIGIN"))
        body = None if response.status in {204, 205, 304} else response.body
        return Reply(response.status, (*headers, *layer), body)

    async def _try_load(self, loading: Awaitable[Copy | None]) -> Copy | None:
        """A store that fails counts as one that has nothing."""
        try:
            return await loading
        except SluiceError as error:
            self.log.error("lookup.failed", error)
            return None
