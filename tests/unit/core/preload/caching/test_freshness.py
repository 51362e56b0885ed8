"""How long a response may be kept, by RFC 9111 and RFC 9213: one row for each rule."""

import pytest

from sluice.core.ports import HeaderPairs
from sluice.core.preload.caching.freshness import (
    Freshness,
    Unstorable,
    compute_freshness,
    initial_age_s,
    judge_response,
    parse_tags,
    tier_of,
    unshareable_reason,
)
from sluice.core.preload.zone_config import parse_config

URL = "https://e.com/a"
CONFIG = parse_config({"site_url": "https://e.com"})
DATE = ("date", "Mon, 16 Nov 2026 04:00:00 GMT")
NOW = 1_794_801_600.0  # the same time
SWR, SIE = CONFIG.cache_stale_while_revalidate_s, CONFIG.cache_stale_if_error_s


def control(text: str, *more: tuple[str, str]) -> HeaderPairs:
    return (("cache-control", text), *more)


# Headers, and for how many seconds the response is fresh; None when it must not be stored.
LIFETIMES: list[tuple[HeaderPairs, int | None]] = [
    ((), 3600),
    (control("max-age=60"), 60),
    (control("MAX-AGE=60"), 60),
    (control("max-age = 60"), 60),
    (control('max-age="60"'), 60),
    (control("public, max-age=60"), 60),
    (control("public"), 3600),
    (control("max-age=60, s-maxage=600"), 600),
    (control("s-maxage=600, max-age=60"), 600),
    (control("s-maxage=5"), 5),
    (control("max-age=60, max-age=30"), 30),
    (control("max-age=30, max-age=60"), 30),
    (control("max-age=60", ("cache-control", "max-age=30")), 30),
    (control("s-maxage=9, s-maxage=8, max-age=1"), 8),
    (control("max-age=99999999999999"), 31_536_000),
    (control("max-age=2147483648"), 31_536_000),
    (control("max-age=0"), None),
    (control("max-age=-1"), None),
    (control("max-age=soon"), None),
    (control("max-age="), None),
    (control("max-age"), None),
    (control("max-age=1.5"), None),
    (control("max-age=60;x"), None),
    (control("max-age=0, s-maxage=60"), 60),
    (control("s-maxage=0, max-age=60"), None),
    (control("s-maxage=soon, max-age=60"), None),
    (control("no-store"), None),
    (control("NO-STORE, max-age=60"), None),
    (control("no-cache"), None),
    (control('no-cache="set-cookie", max-age=60'), None),
    (control("private"), None),
    (control('private="x, y", max-age=60'), None),
    (control("private, s-maxage=60"), None),
    (control("no-transform, max-age=60"), 60),
    (control("immutable, max-age=60"), 60),
    (control("unknown=1, max-age=60"), 60),
    (control('unknown="a, no-store, b", max-age=60'), 60),
    (control(",, max-age=60,,"), 60),
    (control("must-understand, no-store"), None),
    ((("pragma", "no-cache"),), None),
    (control("max-age=60", ("pragma", "no-cache")), 60),
    ((("pragma", "other"),), 3600),
    ((DATE, ("expires", "Mon, 16 Nov 2026 04:10:00 GMT")), 600),
    ((DATE, ("expires", "Monday, 16-Nov-26 04:10:00 GMT")), 600),
    ((DATE, ("expires", "Mon Nov 16 04:10:00 2026")), 600),
    ((DATE, ("expires", "Mon, 16 Nov 2026 03:00:00 GMT")), None),
    ((DATE, ("expires", "Mon, 16 Nov 2026 04:00:00 GMT")), None),
    ((DATE, ("expires", "0")), None),
    ((DATE, ("expires", "-1")), None),
    ((DATE, ("expires", "")), None),
    ((("expires", "0"),), None),
    ((("expires", "Mon, 16 Nov 2026 04:10:00 GMT"),), 600),
    ((DATE, ("expires", "Mon, 16 Nov 2026 04:10:00 GMT"), ("cache-control", "max-age=60")), 60),
    ((DATE, ("expires", "0"), ("cache-control", "max-age=60")), 60),
    ((DATE, ("expires", "Mon, 16 Nov 2026 04:10:00 GMT"), ("cache-control", "public")), 600),
    (control("max-age=60", ("age", "59")), 60),
    (control("max-age=60", ("age", "60")), None),
    (control("max-age=60", ("age", "600")), None),
    (control("max-age=60", ("age", "old")), 60),
    (control("max-age=60", ("age", "-5")), 60),
    (control("max-age=60", ("age", "10, 90")), 60),
    ((("cdn-cache-control", "max-age=6000"),), 6000),
    (control("max-age=60, s-maxage=600", ("cdn-cache-control", "max-age=6000")), 6000),
    (control("no-store", ("cdn-cache-control", "max-age=60")), 60),
    (control("private, max-age=0", ("cdn-cache-control", "max-age=60")), 60),
    (control("max-age=60", ("cdn-cache-control", "no-store")), None),
    (control("max-age=60", ("cdn-cache-control", "private")), None),
    (control("max-age=60", ("cdn-cache-control", "max-age=0")), None),
    (control("max-age=60", ("cdn-cache-control", "max-age=-5")), None),
    (control("max-age=60", ("cdn-cache-control", "")), 60),
    (control("max-age=60", ("cdn-cache-control", "max-age=soon")), 60),
    (control("max-age=60", ("cdn-cache-control", "&&&")), 60),
    (control("max-age=60", ("cdn-cache-control", "max-age=5;ext=1, no-store=?0")), 5),
    (control("max-age=60", ("surrogate-control", "no-store")), None),
    (control("max-age=60", ("set-cookie", "a=1")), None),
    (control("max-age=60", ("content-encoding", "gzip")), 60),
    (control("max-age=60", ("content-encoding", "BR")), 60),
    (control("max-age=60", ("content-encoding", "identity")), 60),
    (control("max-age=60", ("content-encoding", "zstd")), None),
    (control("max-age=60", ("content-encoding", "deflate, gzip")), None),
    (control("max-age=60", ("vary", "Accept-Encoding")), 60),
    (control("max-age=60", ("vary", "Accept-Encoding, X-Forwarded-Proto")), 60),
    (control("max-age=60", ("vary", "Cookie")), None),
    (control("max-age=60", ("vary", "User-Agent")), None),
    (control("max-age=60", ("vary", "*")), None),
    (control("max-age=60", ("vary", "Accept-Encoding"), ("vary", "Origin")), None),
    (control("stale-while-revalidate=9"), 3600),
]


@pytest.mark.parametrize(("headers", "seconds"), LIFETIMES)
def test_lifetimes(headers: HeaderPairs, seconds: int | None):
    """Each header counts as the RFCs say."""
    verdict = judge_response(200, headers, URL, CONFIG, NOW)
    assert (verdict.lifetime_s if isinstance(verdict, Freshness) else None) == seconds


# Status, headers, and for how many seconds the response is fresh.
STATUSES: list[tuple[int, HeaderPairs, int | None]] = [
    (200, (), 3600),
    (203, (), 3600),
    (404, (), 60),
    (410, (), 60),
    (301, (), 60),
    (308, (), 60),
    (404, control("max-age=300"), 300),
    (404, control("no-store"), None),
    (301, control("max-age=10"), 10),
    (302, control("max-age=10"), None),
    (307, control("max-age=10"), None),
    (204, control("max-age=10"), None),
    (206, control("max-age=10"), None),
    (304, control("max-age=10"), None),
    (403, control("max-age=10"), None),
    (500, control("max-age=10"), None),
    (503, control("max-age=10"), None),
]


@pytest.mark.parametrize(("status", "headers", "seconds"), STATUSES)
def test_statuses(status: int, headers: HeaderPairs, seconds: int | None):
    """Full responses are kept, missing and moved pages for a short time, all others not at all."""
    verdict = judge_response(status, headers, URL, CONFIG, NOW)
    assert (verdict.lifetime_s if isinstance(verdict, Freshness) else None) == seconds


# Headers, and for how long the response may be served stale: while a newer one is fetched, and on errors.
STALE: list[tuple[HeaderPairs, tuple[int, int]]] = [
    ((), (SWR, SIE)),
    (control("max-age=1"), (SWR, SIE)),
    (control("max-age=1, stale-while-revalidate=7"), (7, SIE)),
    (control("max-age=1, stale-if-error=8"), (SWR, 8)),
    (control("max-age=1, stale-while-revalidate=0, stale-if-error=0"), (0, 0)),
    (control("max-age=1, stale-while-revalidate=soon"), (0, SIE)),
    (control("max-age=1, must-revalidate"), (0, 0)),
    (control("max-age=1, proxy-revalidate"), (0, 0)),
    (control("max-age=1, must-revalidate, stale-while-revalidate=7"), (0, 0)),
    (control("s-maxage=1"), (0, 0)),
    (control("s-maxage=1, stale-while-revalidate=7"), (7, 0)),
    (control("max-age=1", ("cdn-cache-control", "max-age=1, stale-if-error=5")), (SWR, 5)),
    (control("must-revalidate", ("cdn-cache-control", "max-age=1")), (SWR, SIE)),
]


@pytest.mark.parametrize(("headers", "seconds"), STALE)
def test_stale(headers: HeaderPairs, seconds: tuple[int, int]):
    """The origin's own limits beat the zone's; what must be revalidated is never served stale."""
    fresh = compute_freshness(headers, URL, CONFIG)
    assert (fresh.while_revalidate_s, fresh.if_error_s) == seconds


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
    """The tier decides; a static file is kept for at most a day."""
    assert compute_freshness((), "https://e.com/a.js", CONFIG).lifetime_s == 86_400
    minimal = parse_config({"site_url": "https://e.com", "cache_tier": "minimal"})
    assert compute_freshness((), "https://e.com/", minimal).lifetime_s == 60


def test_rule_for_a_path():
    """The zone's rule for a path beats the origin's lifetime, but not its prohibitions."""
    ruled = parse_config({"site_url": "https://e.com", "cache_ttl_by_path": {"/a/*": 5, "/*": 50}})
    assert compute_freshness(control("max-age=600"), "https://e.com/a/b", ruled).lifetime_s == 5
    assert compute_freshness((), "https://e.com/b", ruled).lifetime_s == 50
    assert isinstance(judge_response(200, control("no-store"), "https://e.com/a/b", ruled), Unstorable)
    never = parse_config({"site_url": "https://e.com", "cache_ttl_by_path": {"/a": 0}})
    assert judge_response(200, (), "https://e.com/a", never) == Unstorable("expired", "it is stale at once")


def test_keyed_variants_may_vary():
    """A page may vary on headers that are part of the zone's cache key."""
    keyed = parse_config(
        {
            "site_url": "https://e.com",
            "cache_device_variants": True,
            "cache_languages": ["de"],
            "cache_vary_headers": ["X-Country"],
        }
    )
    assert unshareable_reason(200, (("vary", "User-Agent, Accept-Language, x-country"),), URL, keyed) is None


def test_age():
    """Age counts from its first value, and only if it is a number."""
    assert [initial_age_s((("age", text),)) for text in ("5", " 7 ", "3, 4", "x", "")] == [5, 7, 3, 0, 0]


def test_tags():
    """Tags from both headers, separated by spaces or commas, each once, at most 50, and only safe ones."""
    assert parse_tags((("surrogate-key", "post:1 site post:1"), ("cache-tag", "term:2,widget:sidebar-1"))) == [
        *("post:1", "site", "term:2", "widget:sidebar-1")
    ]
    assert parse_tags((("cache-tag", 'a\'b, "c", <d>, ok'),)) == ["ok"]
    assert len(parse_tags((("cache-tag", ",".join(f"post:{n}" for n in range(99))),))) == 50


def test_stale_serving():
    """After its freshness a copy may be served while it is revalidated, and longer on errors."""
    fresh = Freshness(100, 10, 50)
    ages = (99, 100, 109, 110, 149, 150)
    assert [fresh.is_fresh(age_s) for age_s in ages] == [True, False, False, False, False, False]
    revalidating = [fresh.may_serve_while_revalidating(age_s) for age_s in ages]
    assert revalidating == [True, True, True, False, False, False]
    assert [fresh.may_serve_on_error(age_s) for age_s in ages] == [True, True, True, True, True, False]
