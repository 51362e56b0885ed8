"""Priorities, retries, the breaker's table and the bypass rules."""

import pytest

from sluice.core.identifiers import format_uuid4
from sluice.core.preload.cache_bypass import bypassed_page, bypassed_request
from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.priority import NOTHING_KNOWN, Facts, compute_priority
from sluice.core.preload.retry_backoff import delay_s, judge, retry_after_s

NOW = 1_800_000_000.0
HOUR = 3600.0


@pytest.mark.parametrize(
    ("trigger", "base"), [("post-purge", 80), ("scheduled", 50), ("sitemap", 30), ("manual", 100), ("deployment", 40)]
)
def test_base_priority(trigger: str, base: int):
    """Each trigger has its base."""
    assert compute_priority(trigger, NOTHING_KNOWN, NOW) == base


@pytest.mark.parametrize(
    ("facts", "bonus"),
    [
        (Facts(published_at=NOW), 20),
        (Facts(published_at=NOW - 5 * HOUR), 15),
        (Facts(published_at=NOW - 20 * HOUR), 0),
        (Facts(published_at=NOW - 900 * HOUR), 0),
        (Facts(published_at=NOW + HOUR), 20),
        (Facts(monthly_pageviews=0), 0),
        (Facts(monthly_pageviews=1), 0),
        (Facts(monthly_pageviews=10), 10),
        (Facts(monthly_pageviews=100), 20),
        (Facts(monthly_pageviews=1000), 30),
        (Facts(monthly_pageviews=10**9), 30),
        (Facts(published_at=NOW, monthly_pageviews=10**6), 50),
    ],
)
def test_bonuses(facts: Facts, bonus: int):
    """Up to 20 for a fresh post, up to 30 for traffic; the sum may exceed 100."""
    assert compute_priority("manual", facts, NOW) == 100 + bonus


def test_delays():
    """5, 25, 125 s, and never more than an hour."""
    assert [delay_s(attempt) for attempt in range(4)] == [5, 25, 125, 625]
    assert delay_s(9) == 3600


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [
        ("120", 120),
        ("0", 0),
        ("999999", 3600),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0),
        ("soon", None),
        ("-5", None),
    ],
)
def test_retry_after(value: str, wait_s: float | None):
    """Seconds or a date, as far as we believe it."""
    assert retry_after_s((("retry-after", value),), NOW) == wait_s


@pytest.mark.parametrize(
    ("status", "kind", "health"),
    [
        (200, "store", "good"),
        (204, "skipped", "good"),
        (301, "redirect", "neutral"),
        (304, "unchanged", "good"),
        (401, "failed", "neutral"),
        (404, "gone", "neutral"),
        (410, "gone", "neutral"),
        (429, "retry", "neutral"),
        (500, "retry", "trouble"),
        (599, "retry", "trouble"),
    ],
)
def test_verdicts(status: int, kind: str, health: str):
    """What each status means for the page and for the breaker."""
    verdict = judge(status, (), NOW)
    assert (verdict.kind, verdict.health) == (kind, health)


def test_breaker_ignores_more_failures_while_open():
    """What comes back while it is open neither prolongs the pause nor ends it."""
    breaker = Breaker()
    for _ in range(3):
        breaker = breaker.failed(NOW, threshold=3, max_backoff_s=1800)
    assert (breaker.state, breaker.open_until) == ("open", NOW + 30)
    assert breaker.failed(NOW + 1, threshold=3, max_backoff_s=1800) == breaker
    assert breaker.answered() == breaker
    assert breaker.at(NOW + 29.9).state == "open"
    probing = breaker.at(NOW + 30)
    assert (probing.state, probing.may_fetch(0), probing.may_fetch(1)) == ("half-open", True, False)
    assert probing.answered() == Breaker(era=probing.era + 1)
    assert Breaker.from_json(probing.as_json()) == probing


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
    assert bypassed_page(url)


@pytest.mark.parametrize("url", ["https://e.com/", "https://e.com/cartoons/", "https://e.com/?preview=false"])
def test_plain_pages(url: str):
    """What only looks like one of them is cached."""
    assert bypassed_page(url) is None


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
    """Requests that only the origin may answer."""
    assert bool(bypassed_request(method, headers)) == bypassed


def test_uuid4():
    """Chance becomes a UUID of version 4."""
    assert format_uuid4("0123456789abcdef0123456789abcdef") == "01234567-89ab-4def-8123-456789abcdef"
