"""Stored copies of pages: R2 holds the copy that every data centre reads, the edge cache holds one near the visitor."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.header_values import header_value
from sluice.core.json_text import encode_json
from sluice.core.ports import Bucket, Clock, HeaderPairs
from sluice.core.preload.cache_keys import bucket_key, edge_url, key_hash
from sluice.core.preload.freshness import Freshness, compute_freshness, parse_tags
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import Page, PageIndex
from sluice.services.preload.ports import Edge

# How long one data centre keeps its own copy before it reads R2 again. A purge cannot delete the copies of other data
# centres, so they live this long.
EDGE_MAX_S: Final = 300
R2_RETRY_WAITS_S: Final = (0.2, 1.0)
MAX_PURGES_COMPARED: Final = 100  # with more purges during one fetch, the page counts as purged
MAX_HEADER_CHARS: Final = 6000  # of R2's 8,192 bytes of metadata
ZONE: Final = "x-sluice-zone"
STORED_AT: Final = "x-sluice-stored-at"
FRESHNESS: Final = "x-sluice-freshness"
_NOT_STORED: Final = frozenset(
    {"age", "cdn-cache-control", "cf-cache-status", "cf-ray", "cache-control", "cache-tag", "connection"}
    | {"content-encoding", "content-length", "date", "expires", "keep-alive", "nel", "pragma", "proxy-authenticate"}
    | {"report-to", "server", "set-cookie", "surrogate-control", "surrogate-key", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "x-powered-by", ZONE, STORED_AT, FRESHNESS}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One variant of a page as it is stored; `headers` are those for a visitor, without any about caching."""

    page: Page
    headers: HeaderPairs
    body: bytes
    stored_at: float
    freshness: Freshness
    tags: Sequence[str] = ()

    @property
    def fresh_until(self) -> float:
        return self.stored_at + self.freshness.edge_s

    def is_fresh(self, now: float) -> bool:
        return self.freshness.is_fresh(now - self.stored_at)

    def may_serve_while_revalidating(self, now: float) -> bool:
        """Whether it may be served while a newer one is fetched."""
        return self.freshness.may_serve_while_revalidating(now - self.stored_at)

    def may_serve_on_error(self, now: float) -> bool:
        """Whether it may be served because the origin fails."""
        return self.freshness.may_serve_on_error(now - self.stored_at)


class StoreResult(Enum):
    STORED = "stored"
    EDGE_ONLY = "edge only"  # R2 refused the copy
    PURGED = "purged"  # a purge came while the page was fetched, so the copy was removed again


def build_copy(page: Page, headers: HeaderPairs, body: bytes, config: ZoneConfig, now: float) -> Copy:
    """The copy of a response."""
    return Copy(
        page=page,
        headers=select_stored_headers(headers),
        body=body,
        stored_at=now,
        freshness=compute_freshness(headers, page.url, config),
        tags=parse_tags(headers),
    )


def select_stored_headers(headers: HeaderPairs) -> HeaderPairs:
    return tuple((name.lower(), value) for name, value in headers if name.lower() not in _NOT_STORED)


@dataclass(frozen=True, slots=True)
class CopyStore:
    """The copies of one zone's pages."""

    zone_id: str
    bucket: Bucket
    edge: Edge
    pages: PageIndex
    clock: Clock

    async def store(self, copy: Copy, fetched_at: float) -> StoreResult:
        """Indexes the copy, then puts it into R2 and the edge. A purge since its fetch began removes it again."""
        await self._index(copy)
        in_bucket = await self._put_into_bucket(copy)
        try:
            await self.put_at_edge(copy)
        except SluiceError:
            if not in_bucket:
                raise
        if await self._is_purged_since(copy, fetched_at):
            await self.remove([copy.page])
            return StoreResult.PURGED
        return StoreResult.STORED if in_bucket else StoreResult.EDGE_ONLY

    async def _is_purged_since(self, copy: Copy, since: float) -> bool:
        purges = await self.pages.load_purges(since, MAX_PURGES_COMPARED)
        is_covered = any(purge.covers(copy.page.url, copy.tags) for purge in purges)
        return is_covered or len(purges) == MAX_PURGES_COMPARED

    async def _index(self, copy: Copy) -> None:
        await self.pages.store(
            copy.page,
            hashed=key_hash(copy.page.url, copy.page.variant),
            stored_at=copy.stored_at,
            fresh_until=copy.fresh_until,
            size=len(copy.body),
            tags=copy.tags,
        )

    async def renew(self, page: Page, headers: HeaderPairs, config: ZoneConfig, fetched_at: float) -> bool:
        """Counts a stored copy as new after a 304; returns False when there is none, or it was purged meanwhile."""
        stored = await self.load_from_bucket(page)
        if stored is None:
            return False
        names = {name for name, _ in headers}
        is_specified = bool({"cache-control", "cdn-cache-control", "expires"} & names)
        fresh = compute_freshness(headers, page.url, config) if is_specified else stored.freshness
        copy = replace(stored, stored_at=self.clock.now(), freshness=fresh, tags=parse_tags(headers) or stored.tags)
        return await self.store(copy, fetched_at) is not StoreResult.PURGED

    async def load_from_edge(self, page: Page) -> Copy | None:
        response = await self.edge.match(edge_url(page.url, page.variant))
        if response is None:
            return None
        stored_at, fresh = header_value(response.headers, STORED_AT), header_value(response.headers, FRESHNESS)
        # Two zones may name the same host. Then they share the URL, but not the page.
        if header_value(response.headers, ZONE) != self.zone_id or not stored_at or not fresh:
            return None
        return Copy(
            page=page,
            headers=select_stored_headers(response.headers),
            body=response.body,
            stored_at=float(stored_at),
            freshness=Freshness(*json.loads(fresh)),
        )

    async def load_from_bucket(self, page: Page) -> Copy | None:
        stored = await self.bucket.get(self._key(page))
        return None if stored is None else _parse_stored(page, stored.object.custom_metadata, stored.body)

    async def remove(self, pages: Sequence[Page]) -> None:
        """Removes the copies; from the index last, so that a purge that crashes halfway finds the rest again."""
        await self.bucket.delete([self._key(page) for page in pages])
        for page in pages:
            await self.edge.delete(edge_url(page.url, page.variant))
        await self.pages.remove(pages)

    async def put_at_edge(self, copy: Copy) -> None:
        left_s = int(copy.fresh_until + copy.freshness.while_revalidate_s - self.clock.now())
        if left_s <= 0:
            return
        headers: HeaderPairs = (
            # The URL tells the variants apart already, and the Cache API refuses some values of Vary.
            *(pair for pair in copy.headers if pair[0] != "vary"),
            ("cache-control", f"public, max-age={min(left_s, EDGE_MAX_S)}"),
            (ZONE, self.zone_id),
            (STORED_AT, repr(copy.stored_at)),
            (FRESHNESS, _encode_freshness(copy.freshness)),
        )
        await self.edge.put(edge_url(copy.page.url, copy.page.variant), status=200, headers=headers, body=copy.body)

    def _key(self, page: Page) -> str:
        return bucket_key(self.zone_id, key_hash(page.url, page.variant))

    async def _put_into_bucket(self, copy: Copy) -> bool:
        """Returns False when R2 refuses the copy three times, or its headers are too long for the metadata."""
        key, metadata = self._key(copy.page), _build_metadata(copy)
        if metadata is None:
            return False
        for wait_s in (*R2_RETRY_WAITS_S, None):
            try:
                await self.bucket.put(
                    key,
                    copy.body,
                    content_type=header_value(copy.headers, "content-type") or None,
                    custom_metadata=metadata,
                )
            except SluiceError:
                if wait_s is not None:
                    await self.clock.sleep(wait_s)
            else:
                return True
        return False


def _build_metadata(copy: Copy) -> dict[str, str] | None:
    """Everything as text, the only type that R2 stores; None when the headers are too long."""
    headers = json.dumps([list(pair) for pair in copy.headers])
    tags = json.dumps(list(copy.tags))
    if len((headers + tags + copy.page.url).encode()) > MAX_HEADER_CHARS:
        return None
    return {
        "url": copy.page.url,
        "variant": copy.page.variant,
        "stored_at": repr(copy.stored_at),
        "freshness": _encode_freshness(copy.freshness),
        "headers": headers,
        "tags": tags,
    }


def _parse_stored(page: Page, metadata: Mapping[str, str], body: bytes) -> Copy | None:
    if metadata.get("url") != page.url or metadata.get("variant") != page.variant:
        return None
    headers: list[Any] = json.loads(metadata["headers"])
    return Copy(
        page=page,
        headers=tuple((str(name), str(value)) for name, value in headers),
        body=body,
        stored_at=float(metadata["stored_at"]),
        freshness=Freshness(*json.loads(metadata["freshness"])),
        tags=tuple(json.loads(metadata["tags"])),
    )


def _encode_freshness(fresh: Freshness) -> str:
    return encode_json([fresh.browser_s, fresh.edge_s, fresh.while_revalidate_s, fresh.if_error_s, fresh.immutable])
