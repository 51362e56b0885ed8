"""Whether a response may be shared, how long it is fresh, and how long it may be served stale."""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from sluice.core.header_values import header_value
from sluice.core.http_dates import parse_http_date
from sluice.core.ports import HeaderPairs
from sluice.core.preload.cache_bypass import page_bypass_reason
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
    """Seconds for which a copy is fresh in the browser and at the edge, and for which it may be served stale afterwards:
    stale-while-revalidate and stale-if-error.
    """

    browser_s: int
    edge_s: int
    while_revalidate_s: int
    if_error_s: int
    immutable: bool = False

    def is_fresh(self, age_s: float) -> bool:
        return age_s < self.edge_s

    def may_serve_while_revalidating(self, age_s: float) -> bool:
        """Whether a copy of this age may be served while a newer one is fetched."""
        return age_s < self.edge_s + self.while_revalidate_s

    def may_serve_on_error(self, age_s: float) -> bool:
        """Whether a copy of this age may be served because the origin fails."""
        return age_s < self.edge_s + max(self.if_error_s, self.while_revalidate_s)


def unshareable_reason(status: int, headers: HeaderPairs, url: str, config: ZoneConfig) -> str | None:
    """Why a response must not be stored for other visitors; None when it may be."""
    if status != 200:
        return f"status {status}"
    if reason := page_bypass_reason(url):
        return reason
    if header_value(headers, "set-cookie"):
        return "it sets a cookie"
    for name in ("cache-control", "cdn-cache-control", "surrogate-control"):
        for directive in ("no-store", "private", "no-cache"):
            if directive in parse_directives(header_value(headers, name)):
                return f"its {name} says {directive}"
    varying = {name.strip().lower() for name in header_value(headers, "vary").split(",")}
    if unkeyed := varying - _VARY_HARMLESS - _headers_in_key(config):
        return f"it varies on {', '.join(sorted(unkeyed))}"
    if compute_freshness(headers, url, config).edge_s <= 0:
        return "it is stale at once"
    return None


def compute_freshness(headers: HeaderPairs, url: str, config: ZoneConfig) -> Freshness:
    """Follows the origin's headers; where they say nothing, the tier of the page decides."""
    shared, browser = (
        parse_directives(header_value(headers, "cdn-cache-control")),
        parse_directives(header_value(headers, "cache-control")),
    )
    tier = tier_of(url, config)
    tier_browser_s, tier_edge_s = TIERS[tier]
    edge_s = _first_seconds(shared, "s-maxage", "max-age")
    if edge_s is None:
        edge_s = _first_seconds(browser, "s-maxage", "max-age")
    if edge_s is None:
        edge_s = _expires_s(headers)
    browser_s = _first_seconds(browser, "max-age")
    both = browser | shared
    return Freshness(
        browser_s=tier_browser_s if browser_s is None else browser_s,
        edge_s=tier_edge_s if edge_s is None else edge_s,
        while_revalidate_s=_default_to(
            _first_seconds(both, "stale-while-revalidate"), config.cache_stale_while_revalidate_s
        ),
        if_error_s=0
        if {"must-revalidate", "proxy-revalidate"} & both.keys()
        else _default_to(_first_seconds(both, "stale-if-error"), config.cache_stale_if_error_s),
        immutable="immutable" in browser or (tier == "static" and browser_s is None),
    )


def tier_of(url: str, config: ZoneConfig) -> str:
    path = urlsplit(url).path
    if _STATIC.search(path):
        return "static"
    if _SITEMAP.search(path):
        return "sitemap"
    return "feed" if _FEED.search(path) else config.cache_tier


def parse_directives(text: str) -> dict[str, str]:
    """The members of a Cache-Control header, names in lower case."""
    pairs = (part.strip().partition("=") for part in text.split(",") if part.strip())
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def parse_tags(headers: HeaderPairs) -> list[str]:
    """The tags of a page, from Surrogate-Key and Cache-Tag, separated by spaces or commas."""
    texts = f"{header_value(headers, 'surrogate-key')} {header_value(headers, 'cache-tag')}".replace(",", " ").split()
    return list(dict.fromkeys(tag for tag in texts if TAG.fullmatch(tag)))[:MAX_TAGS]


def _headers_in_key(config: ZoneConfig) -> set[str]:
    """Request headers whose values are part of the cache key."""
    return ({"user-agent"} if config.cache_device_variants else set()) | (
        {"accept-language"} if config.cache_languages else set()
    )


def _first_seconds(directives: dict[str, str], *names: str) -> int | None:
    for name in names:
        if _SECONDS.fullmatch(directives.get(name, "")):
            return min(MAX_TTL_S, int(directives[name]))
    return None


def _expires_s(headers: HeaderPairs) -> int | None:
    texts = header_value(headers, "expires"), header_value(headers, "date")
    if not all(texts):
        return None
    expires, date = map(parse_http_date, texts)
    if not expires or not date:
        return None
    return max(0, min(MAX_TTL_S, int((expires - date).total_seconds())))


def _default_to(value: int | None, default: int) -> int:
    return default if value is None else value
