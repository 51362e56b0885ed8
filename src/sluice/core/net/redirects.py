"""The rules of redirects: which responses redirect, where to, and what the next request may carry."""

from dataclasses import replace
from typing import Final
from urllib.parse import urljoin

from sluice.core.errors import Refused
from sluice.core.net.addresses import AllowedHosts, Target, check_url
from sluice.core.net.transport import TransportRequest, TransportResponse

MAX_REDIRECTS: Final = 5
_STATUSES: Final = frozenset({301, 302, 303, 307, 308})
# Credentials never leave the origin they were meant for.
_CREDENTIAL_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
_BODY_HEADERS: Final = frozenset({"content-encoding", "content-language", "content-length", "content-type"})


def redirect_location(response: TransportResponse) -> str | None:
    """Return the location that a response redirects to; None if it is not a redirect."""
    return response.header("location") or None if response.status in _STATUSES else None


def resolve_redirect(target: Target, location: str, allowed: AllowedHosts) -> Target:
    """Resolve and check the location like any other URL; raise Refused if it must not be fetched."""
    try:
        return check_url(urljoin(target.url, location), allowed)
    except (Refused, ValueError) as error:
        raise Refused(f"{target.redacted_url} redirects to an address that is not fetched: {error}") from error


def redirect_request(request: TransportRequest, status: int, source: Target, target: Target) -> TransportRequest:
    """Build the request for the next hop: method, body and headers change the way they do in browsers."""
    dropped = frozenset[str]() if target.origin == source.origin else _CREDENTIAL_HEADERS
    # Browsers turn a POST into a GET on 301 and 302 too, against the letter of the standard.
    if (status == 303 and request.method != "HEAD") or (status in {301, 302} and request.method == "POST"):
        request = replace(request, method="GET", body=None)
        dropped |= _BODY_HEADERS
    headers = tuple(pair for pair in request.headers if pair[0] not in dropped)
    return replace(request, url=target.url, headers=headers)
