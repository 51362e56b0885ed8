"""How long a page is fresh, by the origin's headers and by its tier."""

import pytest

from sluice.core.ports import HeaderPairs
from sluice.core.preload.freshness import compute_freshness, parse_tags, tier_of, unshareable_reason
from sluice.core.preload.zone_config import parse_config

CONFIG = parse_config({"site_url": "https://e.com"})


def ttls(url: str = "https://e.com/a", **headers: str) -> tuple[int, int]:
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    fresh = compute_freshness(pairs, url, CONFIG)
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
    """Feeds, sitemaps and static files have their own tiers."""
    assert tier_of(url, CONFIG) == tier


def test_origin_says_nothing():
    """The tier decides."""
    assert ttls() == (300, 3600)
    assert ttls("https://e.com/a.js") == (31_536_000, 31_536_000)
    minimal = parse_config({"site_url": "https://e.com", "cache_tier": "minimal"})
    assert compute_freshness((), "https://e.com/", minimal).edge_s == 60


def test_origin_speaks():
    """The most specific header wins: CDN-Cache-Control, s-maxage, max-age, Expires."""
    assert ttls(cache_control="max-age=60") == (60, 60)
    assert ttls(cache_control="max-age=60, s-maxage=600") == (60, 600)
    assert ttls(cache_control="max-age=60, s-maxage=600", cdn_cache_control="max-age=6000") == (60, 6000)
    dates = {"date": "Mon, 16 Nov 2026 04:00:00 GMT", "expires": "Mon, 16 Nov 2026 04:10:00 GMT"}
    assert ttls(**dates) == (300, 600)
    assert ttls(cache_control="max-age=soon") == (300, 3600)
    fresh = compute_freshness(
        (("cache-control", "max-age=1, stale-while-revalidate=7, stale-if-error=8"),), "u", CONFIG
    )
    assert (fresh.while_revalidate_s, fresh.if_error_s) == (7, 8)
    assert compute_freshness((("cache-control", "max-age=1, must-revalidate"),), "u", CONFIG).if_error_s == 0


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
    """Only a response that is the same for everyone is stored."""
    assert (unshareable_reason(200, headers, "https://e.com/a", CONFIG) is None) == shareable


def test_keyed_variants_may_vary():
    """A page may vary on headers that are part of the zone's cache key."""
    keyed = parse_config({"site_url": "https://e.com", "cache_device_variants": True, "cache_languages": ["de"]})
    assert unshareable_reason(200, (("vary", "User-Agent, Accept-Language"),), "https://e.com/a", keyed) is None


def test_tags():
    """Tags from both headers, separated by spaces or commas, each once, at most 50, and only safe ones."""
    assert parse_tags((("surrogate-key", "post:1 site post:1"), ("cache-tag", "term:2,widget:sidebar-1"))) == [
        *("post:1", "site", "term:2", "widget:sidebar-1")
    ]
    assert parse_tags((("cache-tag", 'a\'b, "c", <d>, ok'),)) == ["ok"]
    assert len(parse_tags((("cache-tag", ",".join(f"post:{n}" for n in range(99))),))) == 50


def test_stale_serving():
    """After its freshness a copy may be served while it is revalidated for a minute, and on errors for an hour."""
    fresh = compute_freshness((), "https://e.com/a", CONFIG)
    ages = (3599, 3600, 3659, 3660, 7199, 7200)
    assert [fresh.is_fresh(age_s) for age_s in ages] == [True, False, False, False, False, False]
    revalidating = [fresh.may_serve_while_revalidating(age_s) for age_s in ages]
    assert revalidating == [True, True, True, False, False, False]
    assert [fresh.may_serve_on_error(age_s) for age_s in ages] == [True, True, True, True, True, False]
