"""Observing instead of caching: the origin answers everything, and replies are compared as if a copy had answered."""

from dataclasses import dataclass, replace
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Content, Defer, Log
from sluice.core.preload.caching.cache_keys import key_hash
from sluice.core.preload.caching.freshness import Freshness, judge_response
from sluice.core.preload.caching.proxy_headers import describe_forward
from sluice.core.preload.caching.request_rules import Lookup
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.ports import Bodies
from sluice.services.preload.serving.isolate_memory import IsolateMemory, Reservation
from sluice.services.preload.serving.origin_requests import OriginRequests
from sluice.services.preload.serving.replies import CacheOutcome, build_origin_reply
from sluice.services.preload.zone.zone_object import ZoneCalls
from sluice.web import Reply, Request

MAX_COMPARED_BYTES: Final = 1024 * 1024
ALWAYS_COMPARED: Final = 20  # replies of a page in one isolate; of the later ones, every so many-th


@dataclass(frozen=True, slots=True, kw_only=True)
class Observer:
    config: ZoneConfig
    clock: Clock
    origin: OriginRequests
    bodies: Bodies
    zone: ZoneCalls
    defer: Defer
    log: Log
    memory: IsolateMemory

    async def serve(self, request: Request, host: str, lookup: Lookup) -> Reply:
        """Return the origin's reply; if a cache could have served it to others, it is compared with theirs."""
        response = await self.origin.ask(request, host)
        verdict = judge_response(response.status, response.headers, lookup.url, self.config, self.clock.now())
        served = CacheOutcome("ORIGIN", "BYPASS", describe_forward("bypass", detail="observe"))
        is_page = request.method == "GET" and response.status == 200
        if is_page and isinstance(verdict, Freshness) and self._is_in_sample(key_hash(lookup.url, lookup.variant)):
            shown, compared = self.bodies.split(response.content)
            self.defer(self._compare(lookup, compared, verdict))
            response = replace(response, content=shown)
        return build_origin_reply(request, response, served, config=self.config, host=host)

    def _is_in_sample(self, key: str) -> bool:
        number = self.memory.count_visit(key)
        return number <= ALWAYS_COMPARED or number % ALWAYS_COMPARED == 0

    async def _compare(self, lookup: Lookup, content: Content, verdict: Freshness) -> None:
        reservation = Reservation(self.memory, MAX_COMPARED_BYTES)
        try:
            collected = await self.bodies.collect(content, reservation.take)
            if collected is not None:
                digest = await self.bodies.digest(collected)
                await self.zone.observe(lookup.url, lookup.variant, digest, verdict.lifetime_s)
        except SluiceError as error:
            self.log.error("observe.failed", error, url=lookup.url)
        finally:
            reservation.release()
