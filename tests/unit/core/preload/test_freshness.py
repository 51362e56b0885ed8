"""How long a page is fresh, by what the origin says and by its tier."""

import pytest

from sluice.core.ports import HeaderPairs
from sluice.core.preload.freshness import compute_freshness, parse_tags, tier_of, unshareable_reason
from sluice.core.preload.zone_config import parse_config

ZONE = parse_config({"site_url": "https://e.com"})


def lasting(url: str = "https://e.com/a", **headers: str) -> tuple[int, int]:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    fresh = compute_freshness(pairs, url, ZONE)
    return fresh.browser_s, fresh.edge_s


@pytest.mark.parametrize(
    ("url", "tier"),
    [
        ("https://e.com/", "standard"),
        ("https://e.com/blog/feed/", "feed"),
        ("https://e.com/wp-sitemap.xml", "sitemap"),
        ("https://e.com/a/b.CSS", "static"),
        ("https://e.com/a.css/page", "standard"),
    ],
)
def test_tiers(url: str, tier: str):
    """Feeds, sitemaps and static files have tiers of their own."""
    assert tier_of(url, ZONE) == tier


def test_origin_says_nothing():
    """The tier decides."""
    assert lasting() == (300, 3600)
    assert lasting("https://e.com/a.js") == (31_536_000, 31_536_000)
    minimal = parse_config({"site_url": "https://e.com", "cache_tier": "minimal"})
    assert compute_freshness((), "https://e.com/", minimal).edge_s == 60


def test_origin_speaks():
    """The more exact word wins: CDN-Cache-Control, s-maxage, max-age, Expires."""
    assert lasting(cache_control="max-age=60") == (60, 60)
    assert lasting(cache_control="max-age=60, s-maxage=600") == (60, 600)
    assert lasting(cache_control="max-age=60, s-maxage=600", cdn_cache_control="max-age=6000") == (60, 6000)
    dates = {"date": "Mon, 16 Nov 2026 04:00:00 GMT", "expires": "Mon, 16 Nov 2026 04:10:00 GMT"}
    assert lasting(**dates) == (300, 600)
    assert lasting(cache_control="max-age=soon") == (300, 3600)
    fresh = compute_freshness((("cache-control", "max-age=1, stale-while-revalidate=7, stale-if-error=8"),), "u", ZONE)
    assert (fresh.while_revalidate_s, fresh.if_error_s) == (7, 8)
    assert compute_freshness((("cache-control", "max-age=1, must-revalidate"),), "u", ZONE).if_error_s == 0


@pytest.mark.parametrize(
    ("headers", "shareable"),
    [
        ((), True),
        ((("vary", "Accept-Encoding"),), True),
        ((("vary", "User-Agent"),), False),
        ((("vary", "cookie"),), False),
        ((("Set-Cookie", "a=1"),), False),
        ((("cache-control", "Private, max-age=60"),), False),
        ((("cache-control", 'no-cache="x"'),), False),
        ((("cdn-cache-control", "no-store"),), False),
        ((("cache-control", "s-maxage=0"),), False),
    ],
)
def test_shareable(headers: HeaderPairs, shareable: bool):
    """Only what is the same for everyone is kept."""
    assert (unshareable_reason(200, headers, "https://e.com/a", ZONE) is None) == shareable


def test_keyed_variants_may_vary():
    """A page may vary on what the zone's key tells apart."""
    keyed = parse_config({"site_url": "https://e.com", "cache_device_variants": True, "cache_languages": ["de"]})
    assert unshareable_reason(200, (("vary", "User-Agent, Accept-Language"),), "https://e.com/a", keyed) is None


def test_tags():
    """Tags by spaces or commas from both headers, each once, at most 50, none that could harm."""
    assert parse_tags((("surrogate-key", "post:1 site post:1"), ("cache-tag", "term:2,widget:sidebar-1"))) == [
        *("post:1", "site", "term:2", "widget:sidebar-1")
    ]
    assert parse_tags((("cache-tag", 'a\'b, "c", <d>, ok'),)) == ["ok"]
    assert len(parse_tags((("cache-tag", ",".join(f"post:{n}" for n in range(99))),))) == 50
