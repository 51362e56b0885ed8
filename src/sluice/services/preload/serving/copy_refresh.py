"""Bringing stale copies up to date behind the visitor's back: one request to the origin for all data centres."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Content, Fetch, FetchResponse, HeaderPairs, Log
from sluice.core.preload.caching.cache_keys import key_hash
from sluice.core.preload.caching.freshness import unshareable_reason
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.serving.copies import Copy, Revalidation, build_conditions, build_copy
from sluice.services.preload.serving.copy_store import CopyStore
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.serving.origin_requests import OriginRequests
from sluice.services.preload.warming.origin import (
    MAX_PAGE_BYTES,
    TIMEOUT_S,
    origin_address,
    own_headers,
    page_headers,
    read_reply,
)
from sluice.services.preload.zone.zone_object import ZoneCalls

LOOK_INTERVAL_S: Final = 5.0  # how often one isolate looks after the same stale page


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresher:
    config: ZoneConfig
    copies: CopyStore
    clock: Clock
    fetch: Fetch
    log: Log
    memory: IsolateMemory
    zone: ZoneCalls
    origin: OriginRequests

    async def refresh(self, stale: Copy) -> None:
        """Take the newer copy of another data centre, or ask the origin if the zone's object lets this isolate."""
        page, now = stale.page, self.clock.now()
        if not self.memory.claim_interval(f"refresh {key_hash(page.url, page.variant)}", LOOK_INTERVAL_S, now):
            return
        try:
            newer = await self.copies.load_from_bucket(page)
            if newer and newer.is_fresh(self.clock.now()):
                await self.copies.put_at_edge(newer)
            elif await self.zone.claim_refresh(page.url, page.variant):
                await self._revalidate(stale)
        except SluiceError as error:
            self.log.error("refresh.failed", error, url=page.url)

    async def _revalidate(self, copy: Copy) -> None:
        fetched_at, seq, page = self.clock.now(), self.copies.latest_seq(), copy.page
        conditions = build_conditions(copy.headers)
        response = await self._fetch_page(page, conditions)
        if response.status == 304:
            if await self.copies.renew(page, response.headers, self.config, Revalidation(conditions, fetched_at, seq)):
                return
            seq = self.copies.latest_seq()
            response = await self._fetch_page(page, ())
        if unshareable_reason(response.status, response.headers, page.url, self.config) is None:
            content = Content(response.body, len(response.body))
            now = self.clock.now()
            new = build_copy(page, response.status, response.headers, content, config=self.config, now=now, seq=seq)
            await self.copies.store(new, self.config)
        elif response.status in {200, 404, 410}:
            await self.copies.remove([page])

    async def _fetch_page(self, page: Page, conditions: HeaderPairs) -> FetchResponse:
        address, forwarded = origin_address(page.url, self.config)
        own = own_headers(page.url, await self.origin.keys.find_current(), self.clock.now())
        headers = (*page_headers(page.variant), *forwarded, *conditions, *own)
        response = await self.fetch(
            address, headers=headers, max_bytes=MAX_PAGE_BYTES, timeout_s=TIMEOUT_S, follow=False, fresh=True
        )
        return read_reply(page.url, response)
