"""Headers on their way through the proxy: what the origin is told, what a visitor gets to see, and Cache-Status (RFC 9211)."""

import re
from collections.abc import Mapping
from math import floor
from typing import Final
from urllib.parse import urljoin, urlsplit

from sluice.core.headers import header_value
from sluice.core.ports import HeaderPairs
from sluice.core.preload.caching.request_rules import list_relevant_cookies
from sluice.core.preload.request_signing import PROXY_HEADER, WARMING_HEADER
from sluice.core.preload.site_agent import AGENT_HEADER
from sluice.core.preload.zone_config import ZoneConfig

CACHE_NAME: Final = "sluice"
VIA: Final = f"1.1 {CACHE_NAME}"
# Headers of one connection, which no proxy passes on.
HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)
# Headers for caches, and those that only make sense in a request.
NOT_FOR_VISITORS: Final = frozenset(
    {AGENT_HEADER, "cache-tag", "cdn-cache-control", "cloudflare-cdn-cache-control", "host"}
    | {"surrogate-capability", "surrogate-control", "surrogate-key"}
)
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# A redirect that sets a cookie, or asks to wait, may lead somewhere the second time.
_MEANINGFUL: Final = ("set-cookie", "retry-after", "refresh")
BROWSER_CHECKS_HTML: Final = "max-age=0, must-revalidate"
# Headers for caches that Cloudflare's front door keeps for itself. They travel through it under another name.
_KEPT_BY_FRONT_DOOR: Final = frozenset({"cache-tag", "cdn-cache-control", "cloudflare-cdn-cache-control"})
_PACKED_PREFIX: Final = "x-sluice-origin-"
_QUOTED_VALUE: Final = re.compile(r'="(?:[^"\\]|\\.)*"')


def is_from_ourselves(headers: Mapping[str, str]) -> bool:
    """Return whether a request has passed this proxy already."""
    return _is_in_via(headers.get("via", ""))


def is_by_ourselves(headers: HeaderPairs) -> bool:
    """Return whether a reply names this cache: then it has passed through here or was made here, perhaps without the origin."""
    members = _QUOTED_VALUE.sub("", header_value(headers, "cache-status")).split(",")
    names = {member.partition(";")[0].strip().strip('"') for member in members}
    return CACHE_NAME in names or _is_in_via(header_value(headers, "via"))


def _is_in_via(text: str) -> bool:
    return CACHE_NAME in text and any(CACHE_NAME in hop.split()[1:2] for hop in text.split(","))


def pack_reply_headers(headers: HeaderPairs) -> HeaderPairs:
    """Return the headers of an origin's reply to a warming request, such that all of them arrive behind the front door."""
    passed = tuple((name, value) for key, value in headers if (name := key.lower()) not in HOP_BY_HOP)
    return (*passed, *((_PACKED_PREFIX + name, value) for name, value in passed if name in _KEPT_BY_FRONT_DOOR))


def unpack_reply_headers(headers: HeaderPairs) -> HeaderPairs:
    """Return the headers as the origin sent them."""
    packed = tuple(
        (name.removeprefix(_PACKED_PREFIX), value) for name, value in headers if name.startswith(_PACKED_PREFIX)
    )
    if not packed:
        return headers
    names = {name for name, _ in packed}
    plain = tuple(pair for pair in headers if pair[0] not in names and not pair[0].startswith(_PACKED_PREFIX))
    return (*plain, *(pair for pair in packed if pair[0] in _KEPT_BY_FRONT_DOOR))


def change_request_headers(
    headers: Mapping[str, str], *, host: str, scheme: str, drop_analytics: bool
) -> dict[str, str | None]:
    """Return the headers that the origin gets instead of the visitor's own; None removes one."""
    named = _list_names(headers.get("connection", "")) - {"connection", "upgrade"}
    unfit = (HOP_BY_HOP | named | {"expect"}) & headers.keys() - {"connection", "upgrade"}
    changes: dict[str, str | None] = dict.fromkeys(unfit)
    changes["x-forwarded-host"] = host
    changes["x-forwarded-proto"] = scheme
    # A visitor must not bring a proof of his own.
    changes |= dict.fromkeys({PROXY_HEADER, WARMING_HEADER} & headers.keys())
    changes["via"] = f"{headers['via']}, {VIA}" if headers.get("via") else VIA
    if client_ip := headers.get("cf-connecting-ip", "").strip():
        hops = [each.strip() for each in headers.get("x-forwarded-for", "").split(",") if each.strip()]
        changes["x-forwarded-for"] = ", ".join(hops if hops[-1:] == [client_ip] else [*hops, client_ip])
    if drop_analytics and "cookie" in headers and not list_relevant_cookies(headers["cookie"]):
        changes["cookie"] = None
    return changes


def select_visitor_headers(headers: HeaderPairs) -> HeaderPairs:
    """Return the headers of a response that are for visitors, names in lower case."""
    dropped = HOP_BY_HOP | NOT_FOR_VISITORS | _list_names(header_value(headers, "connection"))
    return tuple((name, value) for key, value in headers if (name := key.lower()) not in dropped)


def list_changed_urls(url: str, headers: HeaderPairs) -> list[str]:
    """Return the URL of a request that changes something, and those on the same host that its response names (RFC 9111, 4.4)."""
    named = (urljoin(url, header_value(headers, name)) for name in ("location", "content-location"))
    return [url, *(each for each in named if urlsplit(each)[:2] == urlsplit(url)[:2] and each != url)]


def redirects_to_itself(status: int, headers: HeaderPairs, url: str) -> bool:
    """Return whether a response sends whoever asked for a URL to the same URL, with nothing that could change its next reply."""
    location = header_value(headers, "location")
    if status not in REDIRECTS or not location or any(header_value(headers, name) for name in _MEANINGFUL):
        return False
    return urljoin(url, location).partition("#")[0] == url.partition("#")[0]


def hide_origin(headers: HeaderPairs, config: ZoneConfig, host: str) -> HeaderPairs:
    """Return the headers with the site's own address wherever they name the origin's."""
    if config.origin_url is None:
        return headers
    origin = urlsplit(config.origin_url)
    name = origin.netloc.removesuffix(f":{origin.port}")
    if origin.netloc == host or not any(name in value.lower() for _, value in headers):
        return headers
    # On another port of the same name only the whole address is the origin's.
    address = re.escape(origin.netloc if name == host.partition(":")[0] else name)
    pattern = re.compile(
        rf"(?P<scheme>https?://)?(?<![\w-])(?<![\w-]\.){address}(?::[0-9]+)?(?![\w-]|[.:]\w)", re.IGNORECASE
    )

    def replace(found: re.Match[str]) -> str:
        return f"{config.scheme}://{host}" if found["scheme"] else host

    return tuple((name, pattern.sub(replace, value)) for name, value in headers)


def accepts_encoding(headers: Mapping[str, str], encoding: str) -> bool:
    """Return whether a visitor can read a body in this encoding; the runtime asks the origin for encodings by itself."""
    offers = [offer.strip().lower().replace(" ", "") for offer in headers.get("accept-encoding", "").split(",")]
    wanted = {
        offer.partition(";")[0] for offer in offers if offer.partition(";q=")[2] not in {"0", "0.0", "0.00", "0.000"}
    }
    return not encoding or encoding.lower() in wanted | {"identity"} or "*" in wanted


def is_html(headers: HeaderPairs) -> bool:
    media_type = header_value(headers, "content-type").partition(";")[0].strip().lower()
    return media_type in {"text/html", "application/xhtml+xml"}


def describe_hit(ttl_s: float, detail: str = "") -> str:
    """Return a reply from a copy; `ttl_s` is negative when the copy is stale."""
    return _join("hit", f"ttl={floor(ttl_s)}", detail and f"detail={detail}")


def describe_forward(
    why: str, *, status: int | None = None, stored: bool = False, collapsed: bool = False, detail: str = ""
) -> str:
    """Return a reply from the origin: `why` is method, bypass, uri-miss, vary-miss or stale; `detail` is a token."""
    return _join(
        f"fwd={why}",
        "" if status is None else f"fwd-status={status}",
        "stored" if stored else "",
        "collapsed" if collapsed else "",
        detail and f"detail={detail}",
    )


def add_status(existing: str, own: str) -> str:
    """Return the header with one more member: the cache that is nearest to the visitor stands last."""
    return f"{existing}, {own}" if existing else own


def _join(*parameters: str) -> str:
    return "; ".join([CACHE_NAME, *filter(None, parameters)])


def _list_names(text: str) -> set[str]:
    """Return the names that the header Connection lists."""
    return {name.strip().lower() for name in text.split(",")}
