"""Headers on their way through the proxy."""

import pytest

from sluice.core.preload.caching.proxy_headers import change_request_headers, hide_origin, list_changed_urls
from sluice.core.preload.zone_config import parse_config

SITE = "https://www.shop.com"


@pytest.mark.parametrize(
    ("origin", "value", "shown"),
    [
        ("https://origin.net", "https://origin.net/a", f"{SITE}/a"),
        ("https://origin.net", "http://origin.net/a", f"{SITE}/a"),
        ("https://origin.net", "HTTPS://ORIGIN.NET/a", f"{SITE}/a"),
        ("https://origin.net", "https://origin.net:443/a", f"{SITE}/a"),
        ("https://origin.net", "https://origin.net:8443", SITE),
        ("https://origin.net", "//origin.net/a", "//www.shop.com/a"),
        ("https://origin.net", "0; url=https://origin.net/a?u=http://origin.net", f"0; url={SITE}/a?u={SITE}"),
        ("https://origin.net", "<https://origin.net/a>; rel=next", f"<{SITE}/a>; rel=next"),
        ("https://origin.net", "a=1; Domain=origin.net; Path=/", "a=1; Domain=www.shop.com; Path=/"),
        ("https://origin.net", "a=1; Domain=.origin.net", "a=1; Domain=.www.shop.com"),
        ("https://origin.net", "https://my-origin.net/ https://origin.net.evil.com/", None),
        ("https://origin.net", "https://www.shop.com/a", None),
        ("https://shop.com", "https://www.shop.com/a", None),
        ("https://shop.com", "https://shop.com/a", f"{SITE}/a"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/a, http://127.0.0.1/b", f"{SITE}/a, {SITE}/b"),
        ("http://www.shop.com:8080", "http://www.shop.com:8080/a https://www.shop.com/b", f"{SITE}/a {SITE}/b"),
        ("http://[::1]:8080", "http://[::1]:8080/a", f"{SITE}/a"),
    ],
)
def test_origin_is_hidden(origin: str, value: str, shown: str | None):
    """The origin's name is replaced in every spelling, and names that only contain it are left alone."""
    config = parse_config({"site_url": SITE, "origin_url": origin})
    assert hide_origin((("location", value),), config, "www.shop.com") == (("location", shown or value),)


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("Location", "/b", [f"{SITE}/b"]),
        ("content-location", f"{SITE}/b?c=1", [f"{SITE}/b?c=1"]),
        ("location", f"{SITE}/a", []),
        ("location", "https://other.shop.com/b", []),
        ("location", "https://www.shop.com:8443/b", []),
        ("location", "http://www.shop.com/b", []),
        ("content-location", "//evil.net/b", []),
        ("link", "/b", []),
    ],
)
def test_pages_that_a_write_changes(name: str, value: str, named: list[str]):
    """A write drops the copies of its page and of those that its reply names on the same host, never of another host."""
    assert list_changed_urls(f"{SITE}/a", ((name, value),)) == [f"{SITE}/a", *named]


def test_headers_of_one_connection():
    """What Connection names, and the wish to be asked for the body, stay on the visitor's connection."""
    headers = {
        "connection": "X-Hop, Upgrade",
        "x-hop": "1",
        "expect": "100-continue",
        "upgrade": "websocket",
        "te": "x",
    }
    changes = change_request_headers(headers, host="a.com", scheme="https", drop_analytics=False)
    assert {name for name, value in changes.items() if value is None} == {"x-hop", "expect", "te"}
