"""Whether a response may be stored for all visitors, how long it is fresh, and how long it may be served stale (RFC 9111).

Where the RFC leaves a choice, docs/compatibility.md lists what is chosen, and why.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sluice.core.headers import header_value
from sluice.core.http_dates import parse_http_date
from sluice.core.ports import HeaderPairs
from sluice.core.preload.caching.cache_control import Directives, parse_seconds
from sluice.core.preload.caching.proxy_headers import redirects_to_itself
from sluice.core.preload.caching.request_rules import find_path_rule, page_bypass_reason
from sluice.core.preload.zone_config import ZoneConfig

MAX_TTL_S: Final = 31_536_000
DAY_S: Final = 86_400
MAX_AHEAD_S: Final = 60.0  # a copy that was stored later than so long from now is of a clock that was set back
MAX_TAGS: Final = 50
TAG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_:./-]{0,127}")
# Seconds for which a page is fresh if the origin says nothing.
TIERS: Final[dict[str, int]] = {
    "aggressive": DAY_S,
    "standard": 3600,
    "conservative": 300,
    "minimal": 60,
    "feed": 3600,
    "sitemap": DAY_S,
    "static": DAY_S,
}
BRIEF_S: Final = 60  # for a page that is missing or has moved, if the origin says nothing
FULL_STATUSES: Final = frozenset({200, 203})
BRIEF_STATUSES: Final = frozenset({301, 308, 404, 410})
_STATIC: Final = re.compile(
    r"\.(?:css|js|mjs|png|jpe?g|gif|webp|avif|svg|ico|woff2?|ttf|otf|eot|mp4|webm|pdf)$", re.IGNORECASE
)
_SITEMAP: Final = re.compile(r"/[^/]*sitemap[^/]*\.(?:xml|xsl)(?:\.gz)?$", re.IGNORECASE)
_FEED: Final = re.compile(r"/(?:feed|rss|atom)/?$|\.(?:rss|atom)$", re.IGNORECASE)
_VARY_HARMLESS: Final = frozenset({"", "accept-encoding", "x-forwarded-proto", "x-forwarded-host"})
_PROHIBITIONS: Final = ("no-store", "private", "no-cache")
# The platform decodes these when a body is read, and copies are stored decoded.
DECODED: Final = frozenset({"gzip", "br"})


@dataclass(frozen=True, slots=True)
class Freshness:
    """Seconds for which a copy is fresh, and for which it may be served stale afterwards.

    It is served stale while a newer one is fetched (stale-while-revalidate), or because the origin fails (stale-if-error).
    """

    lifetime_s: int
    while_revalidate_s: int
    if_error_s: int

    def is_fresh(self, age_s: float) -> bool:
        return age_s < self.lifetime_s

    def may_serve_while_revalidating(self, age_s: float) -> bool:
        """Return whether a copy of this age may be served while a newer one is fetched."""
        return age_s < self.lifetime_s + self.while_revalidate_s

    def may_serve_on_error(self, age_s: float) -> bool:
        """Return whether a copy of this age may be served because the origin fails."""
        return age_s < self.lifetime_s + max(self.if_error_s, self.while_revalidate_s)


@dataclass(frozen=True, slots=True)
class Unstorable:
    """Why a response must not be stored for other visitors: a token for programs, a reason for people."""

    detail: str
    reason: str


def judge_response(
    status: int, headers: HeaderPairs, url: str, config: ZoneConfig, now: float | None = None
) -> Freshness | Unstorable:
    """Return how long a response may be kept, or why it may not. `now` dates an Expires that comes without a Date."""
    if status not in FULL_STATUSES | BRIEF_STATUSES:
        return Unstorable("status", f"status {status}")
    if redirects_to_itself(status, headers, url):
        return Unstorable("circle", "it redirects to itself")
    if reason := page_bypass_reason(url, config):
        return Unstorable("path", reason)
    if header_value(headers, "set-cookie"):
        return Unstorable("set-cookie", "it sets a cookie")
    control = _read_directives(headers)
    if prohibition := next((name for name in _PROHIBITIONS if name in control), None):
        return Unstorable(prohibition, f"its cache-control says {prohibition}")
    if "no-store" in Directives.parse(header_value(headers, "surrogate-control")):
        return Unstorable("no-store", "its surrogate-control says no-store")
    if (encoding := header_value(headers, "content-encoding").lower()) not in DECODED | {"", "identity"}:
        return Unstorable("encoding", f"its encoding {encoding[:40]} cannot be decoded here")
    if unkeyed := list_varying_headers(headers) - _VARY_HARMLESS - headers_in_key(config):
        return Unstorable("vary", f"it varies on {', '.join(sorted(unkeyed))}")
    fresh = compute_freshness(headers, url, config, status=status, now=now)
    if not fresh.is_fresh(initial_age_s(headers)):
        return Unstorable("expired", "it is stale at once")
    return fresh


def unshareable_reason(status: int, headers: HeaderPairs, url: str, config: ZoneConfig) -> str | None:
    """Return why a page must not be warmed; None when it may be."""
    if status not in FULL_STATUSES:
        return f"status {status}"
    verdict = judge_response(status, headers, url, config)
    return verdict.reason if isinstance(verdict, Unstorable) else None


def compute_freshness(
    headers: HeaderPairs, url: str, config: ZoneConfig, *, status: int = 200, now: float | None = None
) -> Freshness:
    """Return how long a response is fresh: by the zone's rule for the path, else by its headers, else by the zone's tier."""
    control = _read_directives(headers)
    shared_s = None if has_targeted_directives(headers) else control.seconds("s-maxage")
    lifetime_s = find_path_rule(url, config)
    if lifetime_s is None:
        lifetime_s = _specified_lifetime_s(headers, control, now)
    if lifetime_s is None:
        lifetime_s = BRIEF_S if status in BRIEF_STATUSES else TIERS[tier_of(url, config)]
    # s-maxage forbids to serve stale, as proxy-revalidate does, unless the origin itself allows it.
    never_stale = "must-revalidate" in control or "proxy-revalidate" in control
    # The same for a page that is missing or has moved: it may be there at any time.
    is_exact = shared_s is not None or status in BRIEF_STATUSES
    zone_stale = (0, 0) if is_exact else (config.cache_stale_while_revalidate_s, config.cache_stale_if_error_s)
    own_stale = control.seconds("stale-while-revalidate"), control.seconds("stale-if-error")
    while_revalidate_s, if_error_s = (
        zone if own is None else own for own, zone in zip(own_stale, zone_stale, strict=True)
    )
    return Freshness(
        lifetime_s=min(MAX_TTL_S, lifetime_s),
        while_revalidate_s=0 if never_stale else while_revalidate_s,
        if_error_s=0 if never_stale else if_error_s,
    )


def initial_age_s(headers: HeaderPairs) -> int:
    """Return how old a response was when it arrived, by the Age that caches on its way have added."""
    return parse_seconds(header_value(headers, "age").partition(",")[0].strip()) or 0


def is_specified(headers: HeaderPairs) -> bool:
    """Return whether a response says anything about its freshness."""
    return any(name.lower() in {"cache-control", "cdn-cache-control", "expires"} for name, _ in headers)


def has_targeted_directives(headers: HeaderPairs) -> bool:
    """Return whether CDN-Cache-Control counts, and Cache-Control is for browsers only."""
    return Directives.parse_targeted(header_value(headers, "cdn-cache-control")) is not None


def tier_of(url: str, config: ZoneConfig) -> str:
    path = urlsplit(url).path
    if _STATIC.search(path):
        return "static"
    if _SITEMAP.search(path):
        return "sitemap"
    return "feed" if _FEED.search(path) else config.cache_tier


def parse_tags(headers: HeaderPairs) -> list[str]:
    """Return the tags of a page, from Surrogate-Key and Cache-Tag, separated by spaces or commas."""
    texts = f"{header_value(headers, 'surrogate-key')} {header_value(headers, 'cache-tag')}".replace(",", " ").split()
    return list(dict.fromkeys(tag for tag in texts if TAG.fullmatch(tag)))[:MAX_TAGS]


def list_varying_headers(headers: HeaderPairs) -> set[str]:
    """Return the request headers on which a response depends."""
    return {name.strip().lower() for name in header_value(headers, "vary").split(",")}


def headers_in_key(config: ZoneConfig) -> set[str]:
    """Return the request headers whose values are part of the cache key."""
    return (
        set(config.cache_vary_headers)
        | ({"user-agent"} if config.cache_device_variants else set())
        | ({"accept-language"} if config.cache_languages else set())
    )


def _read_directives(headers: HeaderPairs) -> Directives:
    """Return the directives that count: those of CDN-Cache-Control alone if there is one; Pragma counts only without Cache-Control."""
    targeted = Directives.parse_targeted(header_value(headers, "cdn-cache-control"))
    if targeted is not None:
        return targeted
    text = header_value(headers, "cache-control")
    return Directives.parse(text or header_value(headers, "pragma"))


def _specified_lifetime_s(headers: HeaderPairs, control: Directives, now: float | None) -> int | None:
    for name in ("s-maxage", "max-age"):
        if (seconds := control.seconds(name)) is not None:
            return seconds
    text = next((value for name, value in headers if name.lower() == "expires"), None)
    if text is None:
        return None
    expires, date = parse_http_date(text.strip()), parse_http_date(header_value(headers, "date"))
    start = date.timestamp() if date else now
    return 0 if expires is None or start is None else max(0, int(expires.timestamp() - start))
