"""A page that no copy can serve: fetched once for all who wait for it in this isolate, and stored if it is for everybody.

A reply becomes a copy only if the request could have been anybody's: no cookie, no unusual header, the canonical
spelling of the URL. Otherwise the page is warmed by a request of our own, at low priority.

Visitors of a cold page wait for the first one's request by looking at a plain value, because the platform forbids to
touch another request's promises. If that takes longer than five seconds, or the page is purged on its way, one of them
asks again for all who wait.
"""

from dataclasses import dataclass, replace
from typing import Final

from sluice.core.errors import PeerError, SluiceError
from sluice.core.headers import header_value
from sluice.core.ports import Clock, Content, Defer, Log, OriginResponse
from sluice.core.preload.caching.cache_keys import key_hash
from sluice.core.preload.caching.freshness import Unstorable, judge_response
from sluice.core.preload.caching.proxy_headers import describe_forward, describe_hit
from sluice.core.preload.caching.request_rules import Lookup
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.ports import Bodies
from sluice.services.preload.serving.copies import Copy, Revalidation, build_conditions, build_copy
from sluice.services.preload.serving.copy_store import CopyStore
from sluice.services.preload.serving.isolate_memory import Flight, IsolateMemory, Reservation
from sluice.services.preload.serving.origin_requests import OriginRequests
from sluice.services.preload.serving.replies import CONDITIONS, CacheOutcome, build_copy_reply, build_origin_reply
from sluice.services.preload.warming.origin import MAX_PAGE_BYTES
from sluice.web import Reply, Request

FLIGHT_PATIENCE_S: Final = 5.0  # how long visitors wait for another one's request before one of them asks again
FLIGHT_LOOK_S: Final = 0.02
MAX_FLIGHTS: Final = 3  # that one visitor waits for, who has no old copy to get instead


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A visitor's request that no copy answers. `stale` is too old; `fallback` is the same if it may serve on errors."""

    request: Request
    host: str
    lookup: Lookup
    stale: Copy | None = None
    fallback: Copy | None = None
    flight: Flight | None = None

    @property
    def page(self) -> Page:
        return Page(self.lookup.url, self.lookup.variant)

    @property
    def key(self) -> str:
        return key_hash(self.lookup.url, self.lookup.variant)

    @property
    def conditions(self) -> dict[str, str]:
        """The headers that have the stale copy confirmed, unless the visitor has another copy."""
        if self.stale is None or self.lookup.obstacle:
            return {}
        known = self.request.headers.get("if-none-match")
        is_same = known is not None and known == header_value(self.stale.headers, "etag")
        if CONDITIONS & self.request.headers.keys() and not is_same:
            return {}
        return dict(build_conditions(self.stale.headers))


@dataclass(frozen=True, slots=True, kw_only=True)
class MissServer:
    config: ZoneConfig
    copies: CopyStore
    clock: Clock
    origin: OriginRequests
    bodies: Bodies
    defer: Defer
    log: Log
    memory: IsolateMemory

    async def serve(self, miss: Miss) -> Reply:
        if miss.fallback and await self.origin.is_breaker_open():
            return await self._serve_stale(miss, miss.fallback, "breaker-open")
        if miss.lookup.obstacle or self.memory.is_unshared(miss.key, self.clock.now()):
            return await self._fetch(miss)
        before: Flight | None = None
        for _ in range(1 if miss.fallback else MAX_FLIGHTS):
            now = self.clock.now()
            if (flight := self.memory.find_flight(miss.key, now, after=before)) is None:
                return await self._fetch_for_waiters(
                    replace(miss, flight=self.memory.begin_flight(miss.key, now, after=before))
                )
            copy = await self._wait_for(flight)
            if copy and await self.copies.is_valid(copy):
                served = CacheOutcome("ORIGIN", "HIT", describe_forward("uri-miss", stored=True, collapsed=True))
                return await self._reply_from(miss, copy, served)
            if copy is None and flight.is_over:
                break
            # It takes too long, or a purge came meanwhile: the first who sees that asks again for all who wait.
            before = flight
        return await self._fetch(miss)

    async def _reply_from(self, miss: Miss, copy: Copy, served: CacheOutcome) -> Reply:
        now = self.clock.now()
        return await build_copy_reply(miss.request, copy, served, config=self.config, bodies=self.bodies, now=now)

    async def _fetch_for_waiters(self, miss: Miss) -> Reply:
        """Fetch a page while others wait for it; they hear of the end, even if this request fails."""
        try:
            return await self._fetch(miss)
        except BaseException:
            self._end_flight(miss)
            raise

    def _end_flight(self, miss: Miss, copy: Copy | None = None) -> None:
        if miss.flight:
            miss.flight.copy = copy
            self.memory.end_flight(miss.key, miss.flight)

    async def _wait_for(self, flight: Flight) -> Copy | None:
        """Return the copy that another visitor's request brings; None when it brings none in time."""
        waited_s = 0.0
        while not flight.is_over and waited_s < FLIGHT_PATIENCE_S:
            await self.clock.sleep(FLIGHT_LOOK_S)
            waited_s += FLIGHT_LOOK_S
        return flight.copy

    async def _fetch(self, miss: Miss) -> Reply:
        asked_at, seq = self.clock.now(), self.copies.latest_seq()
        try:
            response = await self.origin.ask(
                miss.request,
                miss.host,
                conditions=miss.conditions,
                drop_analytics=not miss.lookup.obstacle,
                has_stale=miss.fallback is not None,
            )
        except PeerError:
            if miss.fallback is None:
                raise
            self._end_flight(miss)
            return await self._serve_stale(miss, miss.fallback, "origin-failed")
        if response.status >= 500 and miss.fallback:
            self._end_flight(miss)
            return await self._serve_stale(miss, miss.fallback, "origin-failed")
        if response.status == 304 and miss.conditions and miss.stale:
            self._end_flight(miss)
            validated = Revalidation(tuple(miss.conditions.items()), asked_at, seq)
            return await self._serve_confirmed(miss, miss.stale, response, validated)
        return self._serve_response(miss, response, seq)

    async def _serve_stale(self, miss: Miss, copy: Copy, detail: str) -> Reply:
        status = describe_hit(copy.fresh_until - self.clock.now(), detail)
        return await self._reply_from(miss, copy, CacheOutcome("R2", "STALE", status))

    async def _serve_confirmed(
        self, miss: Miss, stale: Copy, response: OriginResponse, validated: Revalidation
    ) -> Reply:
        """Return the reply from a stale copy, which the origin has confirmed."""
        await self.copies.renew(stale.page, response.headers, self.config, validated)
        copy = stale.confirmed(response.headers, self.config, self.clock.now())
        return await self._reply_from(miss, copy, CacheOutcome("R2", "HIT", describe_forward("stale", status=304)))

    def _serve_response(self, miss: Miss, response: OriginResponse, seq: int) -> Reply:
        detail = self._find_obstacle(miss, response)
        if detail:
            self._end_flight(miss)
            served = CacheOutcome("ORIGIN", "MISS", describe_forward("uri-miss", detail=detail))
            return build_origin_reply(miss.request, response, served, config=self.config, host=miss.host)
        shown, stored = self.bodies.split(response.content)
        self.defer(self._store(miss, response, stored, seq))
        served = CacheOutcome("ORIGIN", "MISS", describe_forward("uri-miss", stored=True))
        stored_response = replace(response, content=shown)
        return build_origin_reply(
            miss.request, stored_response, served, config=self.config, host=miss.host, is_stored=True
        )

    def _find_obstacle(self, miss: Miss, response: OriginResponse) -> str:
        """Return the token of what keeps a response from being stored; "" for nothing."""
        now = self.clock.now()
        verdict = judge_response(response.status, response.headers, miss.lookup.url, self.config, now)
        if isinstance(verdict, Unstorable):
            self.memory.note_unshared(miss.key, now)
            return verdict.detail
        if miss.lookup.obstacle and response.status == 200:
            self.origin.suggest(miss.lookup.url)
        too_large = "too-large" if (response.content.size or 0) > MAX_PAGE_BYTES else ""
        return miss.lookup.obstacle or too_large

    async def _store(self, miss: Miss, response: OriginResponse, content: Content, seq: int) -> None:
        """Collect the body and store the copy; whoever waits for it has it as soon as it is complete."""
        reservation = Reservation(self.memory, MAX_PAGE_BYTES)
        try:
            collected = await self.bodies.collect(content, reservation.take)
            if collected is None:
                return
            now, status, headers = self.clock.now(), response.status, response.headers
            copy = build_copy(miss.page, status, headers, collected, config=self.config, now=now, seq=seq)
            if miss.flight:
                miss.flight.end(copy)
            await self.copies.store(copy, self.config)
        except SluiceError as error:
            self.log.error("store.failed", error, url=miss.lookup.url)
        finally:
            reservation.release()
            if miss.flight:
                self.memory.end_flight(miss.key, miss.flight)
