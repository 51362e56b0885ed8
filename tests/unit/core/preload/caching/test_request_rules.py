"""Which requests a copy may answer, and which of them may make one."""

from typing import Any

import pytest

from sluice.core.preload.caching.request_rules import Lookup, Pass, decide_request, fits_path, page_bypass_reason
from sluice.core.preload.zone_config import ZoneConfig, parse_config

SITE = "https://e.com"


def build_config(**config: Any) -> ZoneConfig:
    return parse_config({"site_url": SITE, **config})


def decide(path: str = "/a", method: str = "GET", *, config: ZoneConfig | None = None, **headers: str) -> Pass | Lookup:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return decide_request(method, SITE + path, named, config or build_config())


def detail(decision: Pass | Lookup) -> str:
    return decision.detail if isinstance(decision, Pass) else f"lookup:{decision.obstacle}"


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/wp-admin/x",
            "/wp-login.php",
            "/checkout/",
            "/cart",
            "/shop/cart/",
            "/my-account/orders/",
            "/wp-json/wp/v2/posts",
        ),
        *("/?nocache", "/?nocache=1", "/?p=1&preview=true", "/p/?unapproved=3&moderation-hash=x", "/?add-to-cart=5"),
        *("/?wc-ajax=get_refreshed_fragments", "//double", "/a?sluice-variant=device%3Amobile", "/a?PREVIEW=1"),
    ],
)
def test_passed_pages(path: str):
    """Pages of one visitor, of the administration and of the API, and addresses that only the origin understands."""
    assert isinstance(decide(path), Pass)
    assert page_bypass_reason(SITE + path, build_config())


@pytest.mark.parametrize("path", ["/", "/cartoons/", "/?preview=false", "/a?ref=x&source=y"])
def test_plain_pages(path: str):
    """A page that only looks like one of them is cached."""
    assert page_bypass_reason(SITE + path, build_config()) is None


@pytest.mark.parametrize(
    ("method", "headers", "expected"),
    [
        ("GET", {}, "lookup:"),
        ("HEAD", {}, "lookup:head"),
        ("POST", {}, "method"),
        ("PROPFIND", {}, "method"),
        ("GET", {"authorization": "Basic x"}, "authorization"),
        ("GET", {"upgrade": "websocket"}, "upgrade"),
        ("GET", {"if-match": '"1"'}, "if-match"),
        ("GET", {"range": "bytes=0-1"}, "lookup:range"),
        ("GET", {"cache-control": "no-store"}, "lookup:no-store"),
        ("GET", {"cache-control": "no-cache", "pragma": "no-cache"}, "lookup:"),
        ("GET", {"cookie": "_ga=1; _gid=2; __utma=3"}, "lookup:"),
        ("GET", {"cookie": "_ga=1; theme=dark"}, "lookup:cookie"),
        ("GET", {"cookie": "wordpress_logged_in_ab=1"}, "cookie"),
        ("GET", {"cookie": "wordpress_sec_ab=1"}, "cookie"),
        ("GET", {"cookie": "laravel_session=x"}, "cookie"),
        ("GET", {"cookie": "sessionid=x"}, "cookie"),
        ("GET", {"cookie": "X-Magento-Vary=x"}, "cookie"),
        ("GET", {"cookie": "PHPSESSID=x"}, "cookie"),
        ("GET", {"cookie": "woocommerce_cart_hash="}, "lookup:cookie"),
        ("GET", {"cookie": "woocommerce_cart_hash=abc"}, "cookie"),
        ("GET", {"cookie": "woocommerce_items_in_cart=0"}, "lookup:cookie"),
        ("GET", {"cookie": "woocommerce_items_in_cart=2"}, "cookie"),
        ("GET", {"x-requested-with": "XMLHttpRequest"}, "lookup:header"),
        ("GET", {"x-original-url": "/admin"}, "lookup:header"),
        ("GET", {"forwarded": "for=1"}, "lookup:header"),
        ("GET", {"origin": "https://evil.example"}, "lookup:header"),
        ("GET", {"x-forwarded-host": "evil.example"}, "lookup:header"),
        ("GET", {"x-forwarded-for": "1.1.1.1"}, "lookup:header"),
        ("GET", {"x-forwarded-for": "1.1.1.1", "cf-connecting-ip": "1.1.1.1"}, "lookup:"),
        ("GET", {"x-forwarded-for": "6.6.6.6, 1.1.1.1", "cf-connecting-ip": "1.1.1.1"}, "lookup:header"),
        (
            "GET",
            {
                "host": "e.com",
                "user-agent": "x",
                "accept": "*/*",
                "accept-language": "de",
                "accept-encoding": "br",
                "referer": "x",
                "dnt": "1",
                "priority": "u=0",
                "save-data": "on",
                "sec-fetch-mode": "navigate",
                "sec-ch-ua-platform": "x",
                "cf-ray": "x",
                "cdn-loop": "x",
                "x-real-ip": "1.1.1.1",
                "connection": "x",
                "if-none-match": "x",
                "if-modified-since": "x",
                "upgrade-insecure-requests": "1",
            },
            "lookup:",
        ),
    ],
)
def test_requests(method: str, headers: dict[str, str], expected: str):
    """Only a request that could be anybody's fills the cache."""
    assert detail(decide_request(method, f"{SITE}/a", headers, build_config())) == expected


@pytest.mark.parametrize(
    ("path", "canonical", "obstacle"),
    [
        ("/a?x=1&y=2", "/a?x=1&y=2", ""),
        ("/a?y=2&x=1", "/a?x=1&y=2", "spelling"),
        ("/a?utm_source=mail", "/a", "spelling"),
        ("/a?a[]=2&a[]=1", "/a?a[]=2&a[]=1", ""),
        ("/%7euser", "/~user", "spelling"),
    ],
)
def test_spellings(path: str, canonical: str, obstacle: str):
    """A page is found in every spelling, but only the canonical one fills the cache."""
    assert decide(path) == Lookup(SITE + canonical, "", obstacle)


def test_rules_of_a_zone():
    """A zone says which paths, parameters and cookies are cached, and which headers make variants."""
    config = build_config(
        cache_include_paths=["/blog/*", "/shop/*"],
        cache_exclude_paths=["/shop/my*"],
        cache_bypass_params=["token"],
        cache_bypass_cookies=["member_*"],
        cache_kept_params=["page"],
        cache_vary_headers=["X-Country"],
    )
    assert detail(decide("/about", config=config)) == "not-included"
    assert detail(decide("/shop/mycart", config=config)) == "excluded"
    assert detail(decide("/blog/a?token=1", config=config)) == "parameter"
    assert detail(decide("/blog/a", config=config, cookie="member_1=x")) == "cookie"
    assert detail(decide("/blog/a", config=config, cookie="PHPSESSID=x")) == "lookup:cookie"
    assert decide("/blog/a?page=2&other=1", config=config) == Lookup(f"{SITE}/blog/a?page=2", "", "spelling")
    assert decide("/blog/a", config=config, x_country="AT") == Lookup(f"{SITE}/blog/a", "x-country:AT")
    assert detail(decide("/blog/a", config=config, x_country="x" * 65)) == "url"
    assert detail(decide(config=build_config(cache_enabled=False))) == "disabled"


def test_path_patterns():
    """A * stands for anything; every other character for itself."""
    assert fits_path("/a/b/c", "/a/*")
    assert fits_path("/a[1]", "/a[1]")
    assert not fits_path("/ab", "/a?")
    assert not fits_path("/b", "/a*")
