"""One canonical URL for each page, and one key for each of its variants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.core.preload.caching.cache_keys import (
    bucket_key,
    cache_key,
    canonical_url,
    choose_variant,
    edge_url,
    key_hash,
    list_variants,
)
from sluice.core.preload.zone_config import ZoneConfig, parse_config


def build_config(**config: object) -> ZoneConfig:
    return parse_config({"site_url": "https://example.com", "hosts": ["www.example.com", "bücher.example"], **config})


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://EXAMPLE.com", "https://example.com/"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("https://www.example.com./a", "https://www.example.com/a"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://example.com//a///b/../c/./d", "https://example.com/a/c/d"),
        ("https://example.com/../../a", "https://example.com/a"),
        ("https://example.com/a/", "https://example.com/a/"),
        ("https://example.com/%7euser/%e4%bd", "https://example.com/~user/%E4%BD"),
        ("https://example.com/ä?q=ö", "https://example.com/%C3%A4?q=%C3%B6"),
        ("https://example.com/100%", "https://example.com/100%25"),
        ("https://example.com/a#part", "https://example.com/a"),
        ("https://example.com/a?", "https://example.com/a"),
        ("https://example.com/?b=2&a=2&a=1", "https://example.com/?a=2&a=1&b=2"),
        ("https://example.com/?utm_source=x&utm_anything=y&fbclid=z&p=1", "https://example.com/?p=1"),
        ("https://example.com/?UTM_Source=x&ref=1&source=2", "https://example.com/?ref=1&source=2"),
        ("https://example.com/?%75tm_source=x", "https://example.com/"),
        ("https://example.com/?&&p", "https://example.com/?p"),
    ],
)
def test_spellings(url: str, canonical: str):
    """Every spelling of a URL is the same page."""
    assert canonical_url(url, build_config()) == canonical


@pytest.mark.parametrize(
    "url",
    [
        *("https://other.com/", "https://example.com.evil.com/", "https://example.com:8443/", "ftp://example.com/"),
        *("https://user@example.com/", "https://example.com\\@evil.com/", "//example.com/", "/a", "", "https://"),
        *("https://example.com/a b", "https://example.com/\n", "https://[::1]/", "https://127.0.0.1/", "javascript:1"),
        *(
            "https://example.com/" + "ä" * 1000,
            "https://example.com/" + "a" * 2048,
            "https://example.com@169.254.169.254/",
            "https://[bad",
            "http://a:99999/",
        ),
    ],
)
def test_no_page_of_the_zone(url: str):
    """A URL that is not a page of one of the zone's hosts is refused."""
    with pytest.raises(Invalid):
        canonical_url(url, build_config())


def test_trailing_slash():
    """A zone may add or strip all trailing slashes; a file name stays as it is."""
    adding, stripping = build_config(cache_trailing_slash="add"), build_config(cache_trailing_slash="strip")
    assert canonical_url("https://example.com/a", adding) == "https://example.com/a/"
    assert canonical_url("https://example.com/a.css", adding) == "https://example.com/a.css"
    assert canonical_url("https://example.com/a/", stripping) == "https://example.com/a"
    assert canonical_url("https://example.com/", stripping) == "https://example.com/"


def test_ports():
    """A host without a port has the port of the site, as a local site needs it."""
    local = parse_config({"site_url": "http://127.0.0.1:9000", "hosts": ["localhost", "other.localhost:9001"]})
    for host in ("127.0.0.1:9000", "localhost:9000", "localhost", "other.localhost:9001"):
        assert canonical_url(f"http://{host}/a", local) == f"http://{host}/a"
    with pytest.raises(Invalid):
        canonical_url("http://127.0.0.1:9001/", local)


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.text(st.characters(codec="utf-8"), max_size=40))
def test_idempotent(path: str, query: str):
    """A canonical URL is its own canonical URL."""
    try:
        once = canonical_url(f"https://example.com/{path}?{query}", build_config())
    except Invalid:
        return
    assert canonical_url(once, build_config()) == once
    assert once.isascii()


def test_keys():
    """The key, its hash, and the places of the copies."""
    hashed = key_hash("https://example.com/", "")
    assert cache_key("https://example.com/", "") == "https://example.com/|enc:identity"
    assert cache_key("https://example.com/", "lang:de") == "https://example.com/|enc:identity|lang:de"
    assert bucket_key("z", hashed) == f"cache/z/{hashed[:2]}/{hashed[2:4]}/{hashed}"
    assert edge_url("https://example.com/", "") == "https://example.com/"
    assert edge_url("https://example.com/?p=1", "lang:de") == "https://example.com/?p=1&sluice-variant=lang%3Ade"


def test_variants():
    """Every visitor gets one of the variants that are warmed."""
    mobile = "Mozilla/5.0 (iPhone) Mobile/15E148"
    both = build_config(cache_device_variants=True, cache_languages=["en", "de"])
    assert list_variants(build_config()) == [""]
    assert list_variants(both) == ["lang:en", "lang:en|device:mobile", "lang:de", "lang:de|device:mobile"]
    assert choose_variant(build_config(), {"user-agent": mobile, "accept-language": "de"}) == ""
    assert choose_variant(both, {"user-agent": mobile, "accept-language": "de-AT, en;q=0.5"}) == "lang:de|device:mobile"
    assert choose_variant(both, {"accept-language": "fr"}) == "lang:en"


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({}, "site_url"),
        ({"site_url": "example.com"}, "site_url"),
        ({"site_url": "https://example.com/blog"}, "site_url"),
        ({"hosts": ["not a host"]}, "hosts"),
        ({"preload_rps_limit": 0}, "preload_rps_limit"),
        ({"preload_rps_limit": "10"}, "preload_rps_limit"),
        ({"preload_enabled": "yes"}, "preload_enabled"),
        ({"preload_queue_backend": "redis"}, "preload_queue_backend"),
        ({"preload_unknown": 1}, "preload_unknown"),
        ({"cache_languages": ["de", "?"]}, "cache_languages"),
    ],
)
def test_bad_configuration(config: dict[str, object], path: str):
    """Each bad value is named."""
    with pytest.raises(Invalid) as raised:
        parse_config(config if not config or "site_url" in config else {"site_url": "https://example.com", **config})
    assert [bad.field for bad in raised.value.fields] == [path]


def test_sitemap_of_another_site():
    """A sitemap on another host is refused."""
    with pytest.raises(Invalid, match="preload_sitemap_url is not on one of the zone's hosts"):
        build_config(preload_sitemap_url="https://other.com/sitemap.xml")
    assert build_config().sitemap_url == "https://example.com/sitemap.xml"


def test_defaults():
    """The defaults are the documented ones."""
    documented = {
        "preload_enabled": True,
        "preload_post_purge": True,
        "preload_schedule_interval_s": 1800,
        "preload_max_concurrency": 6,
        "preload_rps_limit": 10,
        "preload_rpm_limit": 120,
        "preload_queue_max_depth": 10_000,
        "preload_queue_backend": "kv",
        "preload_retry_max": 3,
        "preload_circuit_breaker_threshold": 3,
        "preload_circuit_breaker_max_backoff_s": 1800,
        "preload_sitemap_crawl_enabled": False,
        "preload_sitemap_url": "{site_url}/sitemap.xml",
    }
    assert {name: getattr(build_config(), name) for name in documented} == documented
