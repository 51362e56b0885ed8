"""Requests to the zone's origin: each one has a grant, which is stored before the request is sent.

A reply that names us in `Via` or `Cache-Status` is not the origin's: the request came back through the zone's route. It
is not stored, the page fails, and the alert `warming_loop` says to set `origin_url` to a host name that has no route.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Final
from urllib.parse import urlsplit

from sluice.core.errors import Looped, Preempted, TimedOut
from sluice.core.ports import Clock, Fetch, FetchResponse, HeaderPairs, Sink
from sluice.core.preload.caching.cache_keys import normalise_address, variant_headers
from sluice.core.preload.caching.proxy_headers import VIA, is_by_ourselves, unpack_reply_headers
from sluice.core.preload.incidents import LOOP_REMEDY
from sluice.core.preload.rate_limits import MAX_HOLD_S, SETTLE_AFTER_TIMEOUT_S, SETTLE_S, OriginLimits
from sluice.core.preload.request_signing import sign_proxy, sign_warming
from sluice.core.preload.zone_config import ZoneConfig, netloc_of
from sluice.services.preload.warming.grant_store import GrantStore
from sluice.services.preload.zone.alerts import ZoneAlerts

AGENT: Final = "sluice-preload"
TIMEOUT_S: Final = 30.0
PREEMPTED: Final = "it had not answered yet when other pages needed its place; it is tried again behind them"
MIN_HOLD_S: Final = 5.0
MAX_PAGE_BYTES: Final = 10 * 1024 * 1024
POLL_S: Final = 0.05  # how often the end of a request under way is looked for


def origin_address(url: str, config: ZoneConfig) -> tuple[str, HeaderPairs]:
    """Return the URL at which the origin has a page, and the headers that tell the origin which page is meant."""
    parts = urlsplit(url)
    if config.origin_url is None:
        return url, ()
    rest = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return config.origin_url + rest, (("x-forwarded-host", parts.netloc), ("x-forwarded-proto", parts.scheme))


def own_headers(url: str, key: str, now: float) -> HeaderPairs:
    """Return the headers that say who asks: Via, and with a key the proofs for the origin and for ourselves."""
    if not key:
        return (("via", VIA),)
    parts = urlsplit(url)
    return (
        ("via", VIA),
        sign_proxy(key, host=parts.netloc, proto=parts.scheme, client_ip="", now=now),
        sign_warming(key, method="GET", place=normalise_address(url), now=now),
    )


def read_reply(url: str, response: FetchResponse) -> FetchResponse:
    """Return the reply as the origin sent it; raise Looped when it is none of the origin's."""
    if is_by_ourselves(response.headers):
        raise Looped(f"the request for {url} came back to this Worker: {LOOP_REMEDY}")
    return replace(response, headers=unpack_reply_headers(response.headers))


def page_headers(variant: str) -> HeaderPairs:
    """Return the headers of a request for a page to be stored: without cookies, and past every cache."""
    return (*variant_headers(variant, AGENT), ("cache-control", "no-cache"), ("pragma", "no-cache"))


class OriginWait:
    """The wait for one response of the origin, which others may end while it lasts."""

    def __init__(self) -> None:
        self._timeout: asyncio.Timeout | None = None

    @property
    def is_under_way(self) -> bool:
        return self._timeout is not None and not self._timeout.expired()

    def end(self) -> None:
        """End the wait with Preempted."""
        if self._timeout is not None:
            self._timeout.reschedule(asyncio.get_running_loop().time())

    async def __aenter__(self) -> None:
        self._timeout = await asyncio.timeout(None).__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        timeout, self._timeout = self._timeout, None
        try:
            if timeout is not None:
                await timeout.__aexit__(kind, error, trace)
        except TimeoutError:
            raise Preempted(PREEMPTED) from None


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
        """Return how long an abandoned request may keep the origin busy."""
        slowest_ms = self.alerts.load_rates(self.clock.now()).slowest_ms or 0
        return float(min(MAX_HOLD_S, max(MIN_HOLD_S, 3 * slowest_ms / 1000)))

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
        wait: "OriginWait | None" = None,
    ) -> FetchResponse:
        """Send a request under its grant, once: also one whose connection is lost may have reached the origin."""
        address, forwarded = origin_address(url, config)
        own = own_headers(url, self.proxy_key(), self.clock.now())
        settle_s = SETTLE_S
        try:
            async with wait or OriginWait():
                response = await self.fetch(
                    address,
                    headers=(*headers, *forwarded, *own),
                    max_bytes=max_bytes,
                    timeout_s=timeout_s,
                    follow=False,
                    fresh=True,
                    sink=sink,
                )
        except TimedOut:
            settle_s = SETTLE_AFTER_TIMEOUT_S
            raise
        finally:
            self.grants.end(grant_id, self.clock.now(), settle_s=settle_s)
        return self._accept(url, address, response)

    def _accept(self, url: str, address: str, response: FetchResponse) -> FetchResponse:
        host = netloc_of(address)
        try:
            reply = read_reply(url, response)
        except Looped:
            self.note_reply(host, True)
            raise
        self.note_reply(host, False)
        return reply

    async def wait_for_grant(self, limits: OriginLimits) -> int:
        while (wait_s := self.grants.next_wait_s(limits, self.clock.now())) != 0:
            await self.clock.sleep(POLL_S if wait_s is None else wait_s)
        return self.grants.grant(self.clock.now())
