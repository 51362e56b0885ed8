"""Requests for a host that no zone names: on Cloudflare the request's own address is the site's origin."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Invalid, SluiceError
from sluice.core.ports import OriginResponse
from sluice.core.preload.caching.proxy_headers import (
    change_request_headers,
    describe_forward,
    is_from_ourselves,
    select_visitor_headers,
)
from sluice.core.preload.request_signing import WARMING_HEADER
from sluice.core.preload.zone_config import netloc_of
from sluice.services.preload.ports import SendToOrigin
from sluice.services.preload.serving.failure_pages import build_failure_reply, status_of
from sluice.services.preload.serving.host_directory import Zone
from sluice.services.preload.serving.replies import CacheOutcome, build_passed_reply
from sluice.services.preload.serving.warming_loopback import WarmingLoopback
from sluice.web import Reply, Request

TIMEOUT_S: Final = 100.0


@dataclass(frozen=True, slots=True)
class OriginHostLoopback:
    """Warming requests to an origin's own host, if a route brings those here as well."""

    # Takes the URL of a page and that of the request; returns the zone that asks for the page there.
    find_zone: Callable[[str, str], Awaitable[Zone | None]]
    make_warming_loopback: Callable[[Zone], WarmingLoopback]

    async def answer(self, request: Request) -> Reply | None:
        """Return the origin's reply; None for a request that is not a zone's own."""
        scheme, host = (request.headers.get(f"x-forwarded-{name}", "") for name in ("proto", "host"))
        page_url = f"{scheme}://{host}/{request.url.partition('://')[2].partition('/')[2]}"
        zone = await self.find_zone(page_url, request.url)
        return await self.make_warming_loopback(zone).answer(request, page_url) if zone else None


async def forward_to_host(request: Request, send: SendToOrigin, warming: OriginHostLoopback) -> Reply:
    """Return the reply of the server behind the host; a configuration that is missing must not take a site down."""
    served = CacheOutcome("ORIGIN", "BYPASS", describe_forward("bypass", detail="no-zone"))
    try:
        host = netloc_of(request.url)
        if WARMING_HEADER in request.headers and (reply := await warming.answer(request)):
            return reply
        if is_from_ourselves(request.headers):
            return build_failure_reply(request, 508, host)
        scheme = request.url.partition(":")[0]
        changes = change_request_headers(request.headers, host=host, scheme=scheme, drop_analytics=False)
        return _build_reply(request, await send(request.url.partition("#")[0], changes, timeout_s=TIMEOUT_S), served)
    except Invalid:
        return build_failure_reply(request, 502, "this host")
    except SluiceError as error:
        return build_failure_reply(request, status_of(error), host)


def _build_reply(request: Request, response: OriginResponse, served: CacheOutcome) -> Reply:
    if response.status == 101:
        return Reply.passthrough(response.raw, 101)
    return build_passed_reply(request, response, served.add_to(select_visitor_headers(response.headers)))
