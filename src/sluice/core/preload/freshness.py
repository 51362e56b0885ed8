"""Whether an answer may be shared, and for how long it is fresh in the browser and at the edge."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sluice.core.header_values import header_value
from sluice.core.http_dates import parse_http_date
from sluice.core.ports import HeaderPairs
from sluice.core.preload.bypass import bypassed_page
from sluice.core.preload.zone_config import ZoneConfig

MAX_TTL_S: Final = 31_536_000
MAX_TAGS: Final = 50
TAG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_:./-]{0,127}")
# Seconds in the browser, seconds at the edge.
TIERS: Final[dict[str, tuple[int, int]]] = {
    "aggressive": (3600, 86_400),
    "standard": (300, 3600),
    "conservative": (60, 300),
    "minimal": (0, 60),
    "feed": (900, 3600),
    "sitemap": (3600, 86_400),
    "static": (MAX_TTL_S, MAX_TTL_S),
}
_STATIC: Final = re.compile(
    r"\.(?:css|js|mjs|png|jpe?g|gif|webp|avif|svg|ico|woff2?|ttf|otf|eot|mp4|webm|pdf)$", re.IGNORECASE
)
_SITEMAP: Final = re.compile(r"/[^/]*sitemap[^/]*\.(?:xml|xsl)(?:\.gz)?$", re.IGNORECASE)
_FEED: Final = re.compile(r"/(?:feed|rss|atom)/?$|\.(?:rss|atom)$", re.IGNORECASE)
_SECONDS: Final = re.compile(r"[0-9]{1,10}")
_VARY_HARMLESS: Final = frozenset({"", "accept-encoding", "x-forwarded-proto"})


@dataclass(frozen=True, slots=True)
class Freshness:
    """Seconds for which an answer is fresh, and for which it may still be served while or because the origin is away."""

    browser_s: int
    edge_s: int
    while_revalidate_s: int
    if_error_s: int
    immutable: bool = False


def unshareable(status: int, headers: HeaderPairs, url: str, zone: ZoneConfig) -> str | None:
    """Why an answer must not be kept for others; None for one that may."""
    if status != 200:
        return f"status {status}"
    if reason := bypassed_page(url):
        return reason
    if header_value(headers, "set-cookie"):
        return "it sets a cookie"
    for name in ("cache-control", "cdn-cache-control", "surrogate-control"):
        for directive in ("no-store", "private", "no-cache"):
            if directive in directives(header_value(headers, name)):
                return f"its {name} says {directive}"
    varying = {name.strip().lower() for name in header_value(headers, "vary").split(",")}
    if unkeyed := varying - _VARY_HARMLESS - _keyed(zone):
        return f"it varies on {', '.join(sorted(unkeyed))}"
    if freshness(headers, url, zone).edge_s <= 0:
        return "it is stale at once"
    return None


def freshness(headers: HeaderPairs, url: str, zone: ZoneConfig) -> Freshness:
    """What the origin says, and where it says nothing the tier of the page."""
    shared, browser = (
        directives(header_value(headers, "cdn-cache-control")),
        directives(header_value(headers, "cache-control")),
    )
    tier = tier_of(url, zone)
    tier_browser_s, tier_edge_s = TIERS[tier]
    told_edge = _first(shared, "s-maxage", "max-age")
    if told_edge is None:
        told_edge = _first(browser, "s-maxage", "max-age")
    if told_edge is None:
        told_edge = _expires_s(headers)
    told_browser = _first(browser, "max-age")
    both = browser | shared
    return Freshness(
        browser_s=tier_browser_s if told_browser is None else told_browser,
        edge_s=tier_edge_s if told_edge is None else told_edge,
        while_revalidate_s=_or(_first(both, "stale-while-revalidate"), zone.cache_stale_while_revalidate_s),
        if_error_s=0
        if {"must-revalidate", "proxy-revalidate"} & both.keys()
        else _or(_first(both, "stale-if-error"), zone.cache_stale_if_error_s),
        immutable="immutable" in browser or (tier == "static" and told_browser is None),
    )


def tier_of(url: str, zone: ZoneConfig) -> str:
    path = urlsplit(url).path
    if _STATIC.search(path):
        return "static"
    if _SITEMAP.search(path):
        return "sitemap"
    return "feed" if _FEED.search(path) else zone.cache_tier


def directives(text: str) -> dict[str, str]:
    """The members of a Cache-Control header, names in lower case."""
    pairs = (part.strip().partition("=") for part in text.split(",") if part.strip())
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def tags_of(headers: HeaderPairs) -> list[str]:
    """The tags of a page, from Surrogate-Key and Cache-Tag, separated by spaces or commas."""
    given = f"{header_value(headers, 'surrogate-key')} {header_value(headers, 'cache-tag')}".replace(",", " ").split()
    return list(dict.fromkeys(tag for tag in given if TAG.fullmatch(tag)))[:MAX_TAGS]


def _keyed(zone: ZoneConfig) -> set[str]:
    """Request headers that the cache key already tells apart."""
    return ({"user-agent"} if zone.cache_device_variants else set()) | (
        {"accept-language"} if zone.cache_languages else set()
    )


def _first(given: dict[str, str], *names: str) -> int | None:
    for name in names:
        if _SECONDS.fullmatch(given.get(name, "")):
            return min(MAX_TTL_S, int(given[name]))
    return None


def _expires_s(headers: HeaderPairs) -> int | None:
    expires, date = parse_http_date(header_value(headers, "expires")), parse_http_date(header_value(headers, "date"))
    if not expires or not date:
        return None
    return max(0, min(MAX_TTL_S, int((expires - date).total_seconds())))


def _or(told: int | None, default: int) -> int:
    return default if told is None else told
