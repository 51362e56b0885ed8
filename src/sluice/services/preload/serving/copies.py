"""Stored copies: R2 holds the one that every data centre sees, the edge cache the one that is near."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.header_values import header_value
from sluice.core.json_text import encode_json
from sluice.core.ports import Bucket, Clock, HeaderPairs
from sluice.core.preload.cache_keys import bucket_key, edge_url, key_hash
from sluice.core.preload.freshness import Freshness, compute_freshness, parse_tags
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import Page, Pages
from sluice.services.preload.ports import Edge

# How long one data centre keeps its own copy before it looks into R2 again: a purge reaches the copies of other data
# centres only so.
EDGE_MAX_S: Final = 300
R2_RETRY_WAITS_S: Final = (0.2, 1.0)
MAX_HEADER_CHARS: Final = 6000  # of R2's 8,192 bytes of metadata
ZONE: Final = "x-sluice-zone"
STORED_AT: Final = "x-sluice-stored-at"
FRESHNESS: Final = "x-sluice-freshness"
_NOT_KEPT: Final = frozenset(
    {"age", "cdn-cache-control", "cf-cache-status", "cf-ray", "cache-control", "cache-tag", "connection"}
    | {"content-encoding", "content-length", "date", "expires", "keep-alive", "nel", "pragma", "proxy-authenticate"}
    | {"report-to", "server", "set-cookie", "surrogate-control", "surrogate-key", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "x-powered-by", ZONE, STORED_AT, FRESHNESS}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """One form of a page as it is stored; `headers` are those for a visitor, without any about caching."""

    page: Page
    headers: HeaderPairs
    body: bytes
    stored_at: float
    compute_freshness: Freshness
    tags: Sequence[str] = ()

    @property
    def fresh_until(self) -> float:
        return self.stored_at + self.freshness.edge_s

    def is_fresh(self, now: float) -> bool:
        return now < self.fresh_until

    def is_usable(self, now: float) -> bool:
        """Whether it may be served while a newer one is fetched."""
        return now < self.fresh_until + self.freshness.while_revalidate_s

    def is_better_than_nothing(self, now: float) -> bool:
        """Whether it may be served because the origin is away."""
        return now < self.fresh_until + max(self.freshness.if_error_s, self.freshness.while_revalidate_s)


def copy_of(page: Page, headers: HeaderPairs, body: bytes, zone: ZoneConfig, now: float) -> Copy:
    """The copy to be made of an answer."""
    return Copy(
        page=page,
        headers=kept_headers(headers),
        body=body,
        stored_at=now,
        freshness=compute_freshness(headers, page.url, zone),
        tags=parse_tags(headers),
    )


def kept_headers(headers: HeaderPairs) -> HeaderPairs:
    return tuple((name.lower(), value) for name, value in headers if name.lower() not in _NOT_KEPT)


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of one zone's pages."""

    zone_id: str
    bucket: Bucket
    edge: Edge
    pages: Pages
    clock: Clock

    async def store(self, copy: Copy, asked_at: float) -> str:
        """Index it, put it into R2 and the edge; tells "stored", "edge-only" when R2 fails, or "purged" meanwhile."""
        await self.index(copy)
        in_bucket = await self._put_into_bucket(copy)
        try:
            await self._put_at_edge(copy)
        except SluiceError:
            if not in_bucket:
                raise
        if await self.pages.purged_since(copy.page, copy.tags, asked_at):
            await self.remove([copy.page])
            return "purged"
        return "stored" if in_bucket else "edge-only"

    async def index(self, copy: Copy) -> None:
        await self.pages.keep(
            copy.page,
            hashed=key_hash(copy.page.url, copy.page.variant),
            stored_at=copy.stored_at,
            fresh_until=copy.fresh_until,
            size=len(copy.body),
            tags=copy.tags,
        )

    async def renew(self, page: Page, headers: HeaderPairs, zone: ZoneConfig, asked_at: float) -> bool:
        """Count a stored copy as new, after the origin said that it has not changed; False when there is none."""
        stored = await self.in_bucket(page)
        if stored is None:
            return False
        told = {name for name, _ in headers}
        caching = {"cache-control", "cdn-cache-control", "expires"} & told
        renewed = compute_freshness(headers, page.url, zone) if caching else stored.freshness
        copy = replace(stored, stored_at=self.clock.now(), freshness=renewed, tags=parse_tags(headers) or stored.tags)
        return await self.store(copy, asked_at) != "purged"

    async def at_edge(self, page: Page) -> Copy | None:
        found = await self.edge.match(edge_url(page.url, page.variant))
        if found is None:
            return None
        stored_at, fresh = header_value(found.headers, STORED_AT), header_value(found.headers, FRESHNESS)
        # Two zones may name the same host, and then share the address but not the page.
        if header_value(found.headers, ZONE) != self.zone_id or not stored_at or not fresh:
            return None
        return Copy(
            page=page,
            headers=kept_headers(found.headers),
            body=found.body,
            stored_at=float(stored_at),
            freshness=Freshness(*json.loads(fresh)),
        )

    async def in_bucket(self, page: Page) -> Copy | None:
        found = await self.bucket.get(bucket_key(self.zone_id, key_hash(page.url, page.variant)))
        return None if found is None else _from_bucket(page, found.object.custom_metadata, found.body)

    async def fill_edge(self, copy: Copy) -> None:
        """Bring a copy from R2 near."""
        await self._put_at_edge(copy)

    async def remove(self, pages: Sequence[Page]) -> None:
        """Take the copies away; from the index last, so that a purge that dies halfway finds the rest again."""
        await self.bucket.delete([bucket_key(self.zone_id, key_hash(page.url, page.variant)) for page in pages])
        for page in pages:
            await self.edge.delete(edge_url(page.url, page.variant))
        await self.pages.remove(pages)

    async def _put_into_bucket(self, copy: Copy) -> bool:
        key = bucket_key(self.zone_id, key_hash(copy.page.url, copy.page.variant))
        metadata = _metadata(copy)
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

    async def _put_at_edge(self, copy: Copy) -> None:
        left_s = int(copy.fresh_until + copy.freshness.while_revalidate_s - self.clock.now())
        if left_s <= 0:
            return
        headers: HeaderPairs = (
            *copy.headers,
            ("cache-control", f"public, max-age={min(left_s, EDGE_MAX_S)}"),
            (ZONE, self.zone_id),
            (STORED_AT, repr(copy.stored_at)),
            (FRESHNESS, _written(copy.freshness)),
        )
        # The key tells the forms apart already; the Cache API would refuse some values of Vary.
        kept = tuple(pair for pair in headers if pair[0] != "vary")
        await self.edge.put(edge_url(copy.page.url, copy.page.variant), status=200, headers=kept, body=copy.body)


def _metadata(copy: Copy) -> dict[str, str] | None:
    """All as text, the only kind R2 keeps; None when the headers are too many to keep."""
    headers = json.dumps([list(pair) for pair in copy.headers])
    tags = json.dumps(list(copy.tags))
    if len((headers + tags + copy.page.url).encode()) > MAX_HEADER_CHARS:
        return None
    return {
        "url": copy.page.url,
        "variant": copy.page.variant,
        "stored_at": repr(copy.stored_at),
        "freshness": _written(copy.freshness),
        "headers": headers,
        "tags": tags,
    }


def _from_bucket(page: Page, metadata: Mapping[str, str], body: bytes) -> Copy | None:
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


def _written(fresh: Freshness) -> str:
    return encode_json([fresh.browser_s, fresh.edge_s, fresh.while_revalidate_s, fresh.if_error_s, fresh.immutable])
