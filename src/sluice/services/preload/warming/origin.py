"""Requests to the zone's origin: each one has a grant, which is stored before the request is sent."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from sluice.core.errors import ConnectionLost, Looped, SluiceError, TimedOut
from sluice.core.ports import Clock, Fetch, FetchResponse, HeaderPairs, Sink
from sluice.core.preload.caching.cache_keys import name_place, variant_headers
from sluice.core.preload.caching.proxy_headers import VIA, is_by_ourselves, unpack_reply_headers
from sluice.core.preload.incidents import LOOP_REMEDY
from sluice.core.preload.rate_limits import SETTLE_AFTER_TIMEOUT_S, SETTLE_S, Limits
from sluice.core.preload.request_signing import sign_proxy, sign_warming
from sluice.core.preload.zone_config import ZoneConfig, netloc_of
from sluice.services.preload.warming.grant_store import GrantStore
from sluice.services.preload.zone.alerts import ZoneAlerts

AGENT: Final = "sluice-preload"
TIMEOUT_S: Final = 30.0
MIN_HOLD_S: Final = 5.0
MAX_PAGE_BYTES: Final = 10 * 1024 * 1024
MAX_SENDS: Final = 3  # of one request whose connection is lost
POLL_S: Final = 0.05  # how often the end of a request under way is looked for


def origin_address(url: str, config: ZoneConfig) -> tuple[str, HeaderPairs]:
    """The URL at which the origin has a page, and the headers that tell the origin which page is meant."""
    parts = urlsplit(url)
    if config.origin_url is None:
        return url, ()
    rest = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return config.origin_url + rest, (("x-forwarded-host", parts.netloc), ("x-forwarded-proto", parts.scheme))


def own_headers(url: str, key: str, now: float) -> HeaderPairs:
    """The headers that say who asks: Via, and with a key the proofs for the origin and for ourselves."""
    if not key:
        return (("via", VIA),)
    parts = urlsplit(url)
    return (
        ("via", VIA),
        sign_proxy(key, host=parts.netloc, proto=parts.scheme, client_ip="", now=now),
        sign_warming(key, method="GET", place=name_place(url), now=now),
    )


def read_reply(url: str, response: FetchResponse) -> FetchResponse:
    """The reply as the origin sent it; raises Looped when it is none of the origin's."""
    if is_by_ourselves(response.headers):
        raise Looped(f"the request for {url} came back to this Worker: {LOOP_REMEDY}")
    return replace(response, headers=unpack_reply_headers(response.headers))


def page_headers(variant: str) -> HeaderPairs:
    """The headers of a request for a page to be stored: without cookies, and past every cache."""
    return (*variant_headers(variant, AGENT), ("cache-control", "no-cache"), ("pragma", "no-cache"))


@dataclass(frozen=True, slots=True)
class Origin:
    grants: GrantStore
    alerts: ZoneAlerts
    clock: Clock
    fetch: Fetch
    proxy_key: Callable[[], str]
    # Hears of each reply whether it came from ourselves; takes the host that was asked.
    note_reply: Callable[[str, bool], None]

    def hold_s(self) -> float:
        """How long an abandoned request may keep the origin busy."""
        slowest_ms = self.alerts.load_rates(self.clock.now()).slowest_ms or 0
        return float(min(TIMEOUT_S, max(MIN_HOLD_S, 3 * slowest_ms / 1000)))

    async def fetch_granted(
        self,
        url: str,
        config: ZoneConfig,
        *,
        grant_id: int,
        headers: HeaderPairs,
        max_bytes: int,
        sink: Sink | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> FetchResponse:
        """Sends a request under its grant; one whose connection is lost is sent again under a new grant."""
        address, forwarded = origin_address(url, config)
        for sends_left in reversed(range(MAX_SENDS)):
            settle_s = SETTLE_S
            own = own_headers(url, self.proxy_key(), self.clock.now())
            try:
                response = await self.fetch(
                    address,
                    headers=(*headers, *forwarded, *own),
                    max_bytes=max_bytes,
                    timeout_s=timeout_s,
                    follow=False,
                    fresh=True,
                    sink=sink,
                )
                return self._accept(url, address, response)
            except ConnectionLost:
                if not sends_left:
                    raise
            except TimedOut:
                settle_s = SETTLE_AFTER_TIMEOUT_S
                raise
            finally:
                self.grants.end(grant_id, self.clock.now(), settle_s=settle_s)
            grant_id = await self.wait_for_grant(Limits.from_config(config))
        raise SluiceError("the loop above returns or raises")

    def _accept(self, url: str, address: str, response: FetchResponse) -> FetchResponse:
        host = netloc_of(address)
        try:
            reply = read_reply(url, response)
        except Looped:
            self.note_reply(host, True)
            raise
        self.note_reply(host, False)
        return reply

    async def wait_for_grant(self, limits: Limits) -> int:
        while (wait_s := self.grants.next_wait_s(limits, self.clock.now())) != 0:
            await self.clock.sleep(POLL_S if wait_s is None else wait_s)
        return self.grants.grant(self.clock.now())
