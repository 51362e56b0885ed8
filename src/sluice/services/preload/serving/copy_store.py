"""Where copies are stored: R2 holds the one that every data centre reads, the edge cache holds one near the visitor.

`cache.put` fills one data centre only, so R2 is the copy that all of them see, and a read from R2 fills the edge.
Headers that are too long for R2's metadata are in an object beside the copy, named by their hash in the metadata.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Protocol

from sluice.core.errors import SluiceError
from sluice.core.headers import header_value
from sluice.core.ports import NO_CONTENT, Bucket, Clock, Content, HeaderPairs
from sluice.core.preload.caching.cache_keys import bucket_key, edge_url, key_hash
from sluice.core.preload.purge_list import PurgeVerdict
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import Page, PageIndex
from sluice.services.preload.ports import Edge
from sluice.services.preload.serving.copies import (
    Copy,
    Revalidation,
    build_edge_headers,
    build_metadata,
    join_metadata,
    parse_edge_response,
    parse_metadata,
    split_metadata,
)

# How long one data centre keeps its own copy before it reads R2 again. A purge cannot delete the copies of other data
# centres, so they live this long.
EDGE_MAX_S: Final = 300
BESIDE: Final = ".headers"  # the end of the key of an object that holds headers that are too long for metadata
R2_RETRY_WAITS_S: Final = (0.2, 1.0)
MAX_PURGES_COMPARED: Final = 100  # with more purges during one fetch, the page counts as purged


class StoreResult(Enum):
    STORED = "stored"
    EDGE_ONLY = "edge only"  # R2 refused the copy
    PURGED = "purged"  # a purge came while the page was fetched, so the copy is old already


class PurgeNumbers(Protocol):
    """What is known here about the zone's purges."""

    def latest(self) -> int:
        """Return the number of the latest purge that is known now."""

    async def judge(self, url: str, tags: Collection[str], seq: int) -> PurgeVerdict:
        """Return what purges after this number say about a copy of a page."""


@dataclass(frozen=True, slots=True)
class CopyStore:
    """The copies of one zone's pages."""

    zone_id: str
    bucket: Bucket
    edge: Edge
    pages: PageIndex
    clock: Clock
    numbers: PurgeNumbers
    # Hears of a page whose stored copy cannot be read.
    report_unreadable: Callable[[Page], None] = lambda _page: None

    def latest_seq(self) -> int:
        """Return the number that a copy carries whose origin is asked now."""
        return self.numbers.latest()

    async def store(self, copy: Copy, config: ZoneConfig) -> StoreResult:
        """Index the copy, then put it into R2 and the edge; return whether a purge has come since its origin was asked."""
        if copy.is_brief or await self._is_one_query_too_many(copy.page, config.cache_max_query_variants):
            await self.put_at_edge(copy)
            return StoreResult.EDGE_ONLY
        await self._index(copy)
        in_bucket = await self._put_into_bucket(copy)
        try:
            await self.put_at_edge(copy)
        except SluiceError:
            if not in_bucket:
                raise
        if await self._is_purged(copy):
            # Where the purge is not known yet, the copy may still serve. It is indexed again for the purge to find it.
            await self._index(copy)
            return StoreResult.PURGED
        return StoreResult.STORED if in_bucket else StoreResult.EDGE_ONLY

    async def _is_one_query_too_many(self, page: Page, most: int) -> bool:
        """Return whether the page's path has its number of stored queries already, so that nobody can fill R2 by inventing some."""
        path, mark, _ = page.url.partition("?")
        return bool(mark) and await self.pages.count_queries(path, but=page.url) >= most

    async def _is_purged(self, copy: Copy) -> bool:
        """Return whether the log has a later purge. A purge that is not in it yet will find the copy in the index."""
        purges = await self.pages.load_purges(copy.seq, MAX_PURGES_COMPARED)
        is_covered = any(purge.covers(copy.page.url, copy.tags) for purge in purges)
        return is_covered or len(purges) == MAX_PURGES_COMPARED

    async def _index(self, copy: Copy) -> None:
        await self.pages.store(
            copy.page,
            hashed=key_hash(copy.page.url, copy.page.variant),
            stored_at=copy.stored_at,
            fresh_until=copy.fresh_until,
            size=copy.content.size or 0,
            tags=copy.tags,
            seq=copy.seq,
        )

    async def renew(self, page: Page, headers: HeaderPairs, config: ZoneConfig, validated: Revalidation) -> bool:
        """Count a stored copy as new after a 304; return False when there is none, or it was purged meanwhile.

        The object in R2 is written again only if the 304 changes its headers or its freshness.
        """
        info = await self.bucket.head(self._key(page))
        stored = None if info is None else await self._parse(page, info.custom_metadata, NO_CONTENT)
        if stored is None or not validated.fits(stored.headers):
            return False
        renewed = stored.confirmed(headers, config, self.clock.now())
        verdict = await self.numbers.judge(stored.page.url, stored.tags, stored.seq)
        if verdict in {PurgeVerdict.SOFT, PurgeVerdict.PURGED}:
            renewed = replace(renewed, seq=validated.seq)
        if renewed == replace(stored, stored_at=renewed.stored_at):
            await self.edge.delete(edge_url(page.url, page.variant))
            return await self.pages.renew(
                page, renewed_at=renewed.stored_at, fresh_until=renewed.fresh_until, stored_before=validated.at
            )
        body = await self.bucket.get_bytes(self._key(page))
        if body is None:
            return False
        content = Content(body, len(body))
        return await self.store(replace(renewed, content=content), config) is not StoreResult.PURGED

    async def load_from_edge(self, page: Page) -> Copy | None:
        """Return the copy near the visitor, if no purge covers it."""
        response = await self.edge.match(edge_url(page.url, page.variant))
        return None if response is None else await self._check(parse_edge_response(page, self.zone_id, response))

    async def load_from_bucket(self, page: Page) -> Copy | None:
        """Return the copy that all data centres share, if no purge covers it."""
        return await self._check(await self._read_bucket(page))

    async def is_valid(self, copy: Copy) -> bool:
        """Return whether a copy that is not stored yet is still right: no purge covers it, not even a soft one."""
        verdict = await self.numbers.judge(copy.page.url, copy.tags, copy.seq)
        return verdict in {PurgeVerdict.VALID, PurgeVerdict.UNCHECKED}

    async def _check(self, copy: Copy | None) -> Copy | None:
        """Return the copy as visitors may get it; after a soft purge only while the origin fails."""
        if copy is None:
            return None
        match await self.numbers.judge(copy.page.url, copy.tags, copy.seq):
            case PurgeVerdict.VALID:
                return copy
            case PurgeVerdict.UNCHECKED:
                return replace(copy, is_unchecked=True)
            case PurgeVerdict.SOFT:
                return replace(copy, freshness=replace(copy.freshness, lifetime_s=0, while_revalidate_s=0))
            case PurgeVerdict.PURGED:
                return None

    async def _read_bucket(self, page: Page) -> Copy | None:
        stored = await self.bucket.open(self._key(page))
        info = None if stored is None else stored.object
        content = Content(stored.stream, info.size) if stored and info else NO_CONTENT
        copy = None if info is None else await self._parse(page, info.custom_metadata, content)
        if info and copy is None:
            await self.pages.mark_unreadable(page, stored_before=info.uploaded_at)
            self.report_unreadable(page)
        if copy is None or copy.is_fresh(self.clock.now()):
            return copy
        renewed_at = await self.pages.load_renewed_at(page) or 0
        return copy.renewed_at(renewed_at) if renewed_at > copy.stored_at else copy

    async def remove(self, pages: Sequence[Page], *, below_seq: int | None = None, is_at_edge: bool = True) -> None:
        """Remove the copies; from the index last, so that a purge that crashes halfway finds the rest again.

        Whoever stores one of them at the same time may leave its object without a row: `Purger.forget_marks` looks again.
        """
        await self.remove_objects(pages)
        for page in pages if is_at_edge else ():
            await self.edge.delete(edge_url(page.url, page.variant))
        known_seq = max(below_seq or 0, self.latest_seq())
        await self.pages.remove(pages, below_seq=below_seq, latest_seq=known_seq, removed_at=self.clock.now())

    async def remove_objects(self, pages: Sequence[Page]) -> None:
        """Remove the objects of pages that are in the index no more."""
        keys = [self._key(page) for page in pages]
        await self.bucket.delete([*keys, *(key + BESIDE for key in keys)])

    async def put_at_edge(self, copy: Copy) -> None:
        left_s = int(copy.fresh_until + copy.freshness.while_revalidate_s - self.clock.now())
        if left_s <= 0:
            return
        headers = build_edge_headers(copy, self.zone_id, max_age_s=min(left_s, EDGE_MAX_S))
        url = edge_url(copy.page.url, copy.page.variant)
        await self.edge.put(url, status=copy.status, headers=headers, content=copy.content)

    def _key(self, page: Page) -> str:
        return bucket_key(self.zone_id, key_hash(page.url, page.variant))

    async def _parse(self, page: Page, metadata: Mapping[str, str], content: Content) -> Copy | None:
        if "beside" in metadata:
            metadata = join_metadata(metadata, await self.bucket.get_bytes(self._key(page) + BESIDE))
        return parse_metadata(page, metadata, content)

    async def _put_into_bucket(self, copy: Copy) -> bool:
        """Return False when R2 refuses the copy three times."""
        for wait_s in (*R2_RETRY_WAITS_S, None):
            try:
                await self._try_put(copy)
            except SluiceError:
                if wait_s is not None:
                    await self.clock.sleep(wait_s)
            else:
                return True
        return False

    async def _try_put(self, copy: Copy) -> None:
        key, (metadata, beside) = self._key(copy.page), split_metadata(build_metadata(copy))
        if beside is not None:
            await self.bucket.put(key + BESIDE, beside)
        content_type = header_value(copy.headers, "content-type") or None
        await self.bucket.put(key, copy.content.data, content_type=content_type, custom_metadata=metadata)
