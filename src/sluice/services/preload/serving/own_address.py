"""Requests for a host that no zone names: on Cloudflare the request's own address is the site's origin."""

from typing import Final

from sluice.core.errors import Invalid, SluiceError
from sluice.core.ports import OriginResponse
from sluice.core.preload.caching.proxy_headers import (
    change_request_headers,
    describe_forward,
    is_from_ourselves,
    select_visitor_headers,
)
from sluice.core.preload.zone_config import netloc_of
from sluice.services.preload.ports import SendToOrigin
from sluice.services.preload.serving.failure_pages import build_failure_reply, status_of
from sluice.services.preload.serving.replies import Served, build_passed_reply
from sluice.web import Reply, Request

TIMEOUT_S: Final = 100.0


async def pass_to_own_address(request: Request, send: SendToOrigin) -> Reply:
    """The reply of the server behind the host; a configuration that is missing must not take a site down."""
    served = Served("ORIGIN", "BYPASS", describe_forward("bypass", detail="no-zone"))
    try:
        host = netloc_of(request.url)
        if is_from_ourselves(request.headers):
            return build_failure_reply(request, 508, host)
        scheme = request.url.partition(":")[0]
        changes = change_request_headers(request.headers, host=host, scheme=scheme, drop_analytics=False)
        return _build_reply(request, await send(request.url.partition("#")[0], changes, timeout_s=TIMEOUT_S), served)
    except Invalid:
        return build_failure_reply(request, 502, "this host")
    except SluiceError as error:
        return build_failure_reply(request, status_of(error), host)


def _build_reply(request: Request, response: OriginResponse, served: Served) -> Reply:
    if response.status == 101:
        return Reply.passthrough(response.raw, 101)
    return build_passed_reply(request, response, served.add_to(select_visitor_headers(response.headers)))
