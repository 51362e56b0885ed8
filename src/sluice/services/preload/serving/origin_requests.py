"""A visitor's requests to the zone's origin, and what the zone's object hears of them."""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import PeerError, RedirectsToItself, SluiceError, Unusable
from sluice.core.ports import Clock, Defer, Log, OriginResponse
from sluice.core.preload.caching.proxy_headers import (
    change_request_headers,
    hide_origin,
    redirects_to_itself,
)
from sluice.core.preload.request_signing import PROXY_HEADER, sign_proxy
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.ports import SendToOrigin
from sluice.services.preload.serving.isolate_memory import KEYS_KEPT_S, IsolateMemory
from sluice.services.preload.zone.zone_object import ZoneCalls
from sluice.web import Request

STALE_PATIENCE_S: Final = 5.0  # how long a visitor waits for the origin while there is a stale copy
SUGGEST_INTERVAL_S: Final = 600.0
REPORT_INTERVAL_S: Final = 1.0
KEYS_RELOAD_S: Final = 1.0
REDIRECT_LOOP_INTERVAL_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneKeys:
    """The zone's signing keys as its object has them; an isolate remembers them for a while."""

    zone_id: str
    zone: ZoneCalls
    clock: Clock
    log: Log
    memory: IsolateMemory

    async def find_current(self) -> str:
        """Return the key to sign with; "" where there is none."""
        return next(iter(await self.list_all()), "")

    async def list_all(self) -> tuple[str, ...]:
        """Return the keys that may have signed, the current one first."""
        now = self.clock.now()
        keys = self.memory.find_keys(self.zone_id, now)
        if keys is None:
            keys = await self._load()
            self.memory.keys[self.zone_id] = (now + KEYS_KEPT_S, keys)
        return keys

    async def reload_all(self) -> tuple[str, ...]:
        """Return the keys as they are now; the zone's object is asked for them only once in a while, whatever visitors send."""
        now = self.clock.now()
        if self.memory.claim_interval(f"keys {self.zone_id}", KEYS_RELOAD_S, now):
            self.memory.keys.pop(self.zone_id, None)
        return await self.list_all()

    async def _load(self) -> tuple[str, ...]:
        try:
            return tuple(filter(None, await self.zone.show_keys()))
        except SluiceError as error:
            self.log.error("key.unknown", error)
            return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginRequests:
    config: ZoneConfig
    clock: Clock
    send: SendToOrigin
    zone: ZoneCalls
    keys: ZoneKeys
    defer: Defer
    log: Log
    memory: IsolateMemory

    async def ask(
        self,
        request: Request,
        host: str,
        *,
        conditions: Mapping[str, str] | None = None,
        drop_analytics: bool = False,
        has_stale: bool = False,
        is_passed: bool = False,
    ) -> OriginResponse:
        """Send the visitor's request on, with path and query as they are written; raise PeerError without a response."""
        config = self.config
        rest = request.url.partition("#")[0].partition("://")[2].partition("/")[2]
        base = config.origin_url or f"{config.scheme}://{host}"
        changes = change_request_headers(
            request.headers, host=host, scheme=config.scheme, drop_analytics=drop_analytics
        )
        changes[PROXY_HEADER] = await self.build_proof(
            host, changes.get("x-forwarded-for", request.headers.get("x-forwarded-for"))
        )
        if is_passed and "accept-encoding" in request.headers:
            # The platform has put its own in its place: it wants to decode what may be stored.
            changes["accept-encoding"] = request.headers["accept-encoding"]
        timeout_s = STALE_PATIENCE_S if has_stale else config.origin_timeout_s
        try:
            response = await self.send(f"{base}/{rest}", {**changes, **(conditions or {})}, timeout_s=timeout_s)
        except PeerError as error:
            if self.memory.claim_interval(f"report {base}", REPORT_INTERVAL_S, self.clock.now()):
                self._notify_zone("report.failed", self.zone.report_unreachable(str(error)))
            raise
        if response.status != 101 and not 200 <= response.status <= 599:
            raise Unusable(f"the origin answered with status {response.status}, which nobody can pass on")
        self._refuse_redirect_loop(request, host, response)
        return response

    def _refuse_redirect_loop(self, request: Request, host: str, response: OriginResponse) -> None:
        """Raise RedirectsToItself for a reply that a browser could only follow until it gives up."""
        shown = hide_origin(response.headers, self.config, host)
        if request.method not in {"GET", "HEAD"} or not redirects_to_itself(response.status, shown, request.url):
            return
        if self.memory.claim_interval(f"circle {self.config.site_url}", REDIRECT_LOOP_INTERVAL_S, self.clock.now()):
            self._notify_zone("report.failed", self.zone.report_redirect_loop(request.url))
        raise RedirectsToItself(f"{request.url} redirects to itself")

    async def build_proof(self, host: str, forwarded_for: str | None) -> str | None:
        """Return the header by which the origin can believe X-Forwarded-*; None, which removes a visitor's own, without a key."""
        client_ip = (forwarded_for or "").rpartition(",")[2].strip()
        key = await self.keys.find_current()
        if not key:
            return None
        return sign_proxy(key, host=host, proto=self.config.scheme, client_ip=client_ip, now=self.clock.now())[1]

    def suggest(self, url: str) -> None:
        """Suggest a page to the zone's object, which warms it with a request of its own: this visitor's reply may be for him alone.

        A URL with a query may be a link that works once, such as one that confirms an address: it is left to visitors.
        """
        now = self.clock.now()
        if "?" in url:
            return
        if self.config.preload_enabled and self.memory.claim_interval(f"suggest {url}", SUGGEST_INTERVAL_S, now):
            self._notify_zone("suggest.failed", self.zone.suggest_page(url))

    def report_unreadable(self, url: str, variant: str) -> None:
        """Have a page warmed again whose stored copy cannot be read; the zone's object hears of it once in a while."""
        name = f"unreadable {variant} {url}"
        if self.memory.claim_interval(name, SUGGEST_INTERVAL_S, self.clock.now()):
            self._notify_zone("suggest.failed", self.zone.renew_page(url, variant))

    async def is_breaker_open(self) -> bool:
        """Return whether the zone's object knows that the origin fails; what it cannot tell is no."""
        try:
            return await self.zone.is_breaker_open()
        except SluiceError as error:
            self.log.error("breaker.unknown", error)
            return False

    def _notify_zone(self, failure: str, call: Awaitable[None]) -> None:
        """Call the zone's object without making the visitor wait; `failure` is the name of the log line if that fails."""

        async def tell() -> None:
            try:
                await call
            except SluiceError as error:
                self.log.error(failure, error)

        self.defer(tell())
