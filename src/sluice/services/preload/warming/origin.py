"""Requests to the zone's origin: each one granted and written down before it is sent."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sluice.core.errors import SluiceError, TimedOut, Unavailable
from sluice.core.ports import Clock, Fetch, FetchResponse, HeaderPairs, Sql
from sluice.core.preload.cache_keys import variant_headers
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.warming.grant_store import SETTLE_AFTER_TIMEOUT_S, SETTLE_S, Limits, Throttle
from sluice.services.preload.zone.alerts import Alerts

AGENT: Final = "sluice-preload"
TIMEOUT_S: Final = 30.0
MIN_HOLD_S: Final = 5.0
# The platform says so when a kept connection turns out to be closed, which is nobody's failure: it is asked again at once.
LOST: Final = "Network connection lost"
MAX_SENDS: Final = 3


def origin_address(url: str, zone: ZoneConfig) -> tuple[str, HeaderPairs]:
    """Where a page is asked for, and the headers that tell the origin which page is meant."""
    parts = urlsplit(url)
    if zone.origin_url is None:
        return url, ()
    rest = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return zone.origin_url + rest, (("x-forwarded-host", parts.netloc), ("x-forwarded-proto", parts.scheme))


def page_headers(variant: str) -> HeaderPairs:
    """What a request for a page to be stored carries: never a cookie, never a kept answer."""
    return (*variant_headers(variant, AGENT), ("cache-control", "no-cache"), ("pragma", "no-cache"))


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin as the zone's object may ask it."""

    sql: Sql
    clock: Clock
    fetch: Fetch

    @property
    def throttle(self) -> Throttle:
        return Throttle(self.sql)

    def hold_s(self) -> float:
        """How long a request that nobody waits for any more may still keep the origin busy."""
        slowest_ms = Alerts(self.sql).rates(self.clock.now())["slowest_latency_ms"] or 0
        return float(min(TIMEOUT_S, max(MIN_HOLD_S, 3 * slowest_ms / 1000)))

    async def ask(
        self,
        url: str,
        zone: ZoneConfig,
        *,
        flight: int,
        headers: HeaderPairs,
        max_bytes: int,
        sink: Callable[[bytes], None] | None = None,
    ) -> FetchResponse:
        """The answer to a request that was granted as `flight`; it is asked again only after a grant of its own."""
        address, told = origin_address(url, zone)
        for sends_left in reversed(range(MAX_SENDS)):
            settle_s = SETTLE_S
            try:
                return await self.fetch(
                    address,
                    headers=(*headers, *told),
                    max_bytes=max_bytes,
                    timeout_s=TIMEOUT_S,
                    follow=False,
                    fresh=True,
                    sink=sink,
                )
            except Unavailable as error:
                if LOST not in str(error) or not sends_left:
                    raise
            except TimedOut:
                settle_s = SETTLE_AFTER_TIMEOUT_S
                raise
            finally:
                self.throttle.end(flight, self.clock.now(), settle_s=settle_s)
            flight = await self.granted(Limits.of(zone))
        raise SluiceError("the loop above returns or raises")

    async def granted(self, limits: Limits) -> int:
        """Wait for a grant."""
        while (wait_s := self.throttle.wait_s(limits, self.clock.now())) != 0:
            await self.clock.sleep(0.05 if wait_s is None else wait_s)
        return self.throttle.grant(self.clock.now())
