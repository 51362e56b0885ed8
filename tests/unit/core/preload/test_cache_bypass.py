"""Pages and requests that no shared cache may handle."""

import pytest

from sluice.core.preload.cache_bypass import page_bypass_reason, request_bypass_reason


@pytest.mark.parametrize(
    "url",
    [
        *("https://e.com/wp-admin/x", "https://e.com/wp-login.php", "https://e.com/checkout/", "https://e.com/cart"),
        *("https://e.com/shop/cart/", "https://e.com/my-account/orders/", "https://e.com/wp-json/wp/v2/posts"),
        *("https://e.com/?nocache", "https://e.com/?nocache=1", "https://e.com/?p=1&preview=true"),
    ],
)
def test_bypassed_pages(url: str):
    """Pages of one visitor, of the administration and of the API are no shared pages."""
    assert page_bypass_reason(url)


@pytest.mark.parametrize("url", ["https://e.com/", "https://e.com/cartoons/", "https://e.com/?preview=false"])
def test_plain_pages(url: str):
    """A page that only looks like one of them is cached."""
    assert page_bypass_reason(url) is None


@pytest.mark.parametrize(
    ("method", "headers", "bypassed"),
    [
        ("GET", {}, False),
        ("HEAD", {}, False),
        ("POST", {}, True),
        ("GET", {"authorization": "Basic x"}, True),
        ("GET", {"range": "bytes=0-1"}, True),
        ("GET", {"cookie": "_ga=1; theme=dark"}, False),
        ("GET", {"cookie": "_ga=1; wordpress_logged_in_ab=1"}, True),
        ("GET", {"cookie": "wordpress_sec_ab=1"}, True),
        ("GET", {"cookie": "woocommerce_cart_hash="}, False),
        ("GET", {"cookie": "woocommerce_cart_hash=abc"}, True),
        ("GET", {"cookie": "woocommerce_items_in_cart=0"}, False),
        ("GET", {"cookie": "woocommerce_items_in_cart=2"}, True),
    ],
)
def test_bypassed_requests(method: str, headers: dict[str, str], bypassed: bool):
    """Requests that only the origin may answer are recognised."""
    assert bool(request_bypass_reason(method, headers)) == bypassed
