"""Priorities, the retry backoff, and what each status of a response means."""

import pytest

from sluice.core.preload.priority import NOTHING_KNOWN, Facts, compute_priority
from sluice.core.preload.retry_backoff import backoff_s, parse_retry_after_s
from sluice.core.preload.warming_outcomes import (
    Failed,
    Gone,
    OriginHealth,
    Redirect,
    ResponseOutcome,
    Retry,
    Skipped,
    Storable,
    Unchanged,
    classify_response,
    health_of,
)

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


def test_backoff():
    """5, 25, 125 s, and never more than an hour."""
    assert [backoff_s(attempt) for attempt in range(4)] == [5, 25, 125, 625]
    assert backoff_s(9) == 3600


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
    """Seconds or a date, and never more than an hour."""
    assert parse_retry_after_s((("retry-after", value),), NOW) == wait_s


@pytest.mark.parametrize(
    ("status", "outcome", "health"),
    [
        (200, Storable(), OriginHealth.GOOD),
        (204, Skipped("status 204"), OriginHealth.GOOD),
        (301, Redirect("/new"), OriginHealth.NEUTRAL),
        (304, Unchanged(), OriginHealth.GOOD),
        (401, Failed("status 401"), OriginHealth.NEUTRAL),
        (404, Gone("status 404"), OriginHealth.NEUTRAL),
        (410, Gone("status 410"), OriginHealth.NEUTRAL),
        (429, Retry("status 429", 5, pauses_zone=True), OriginHealth.NEUTRAL),
        (500, Retry("status 500"), OriginHealth.TROUBLE),
        (599, Retry("status 599"), OriginHealth.TROUBLE),
    ],
)
def test_statuses(status: int, outcome: ResponseOutcome, health: OriginHealth):
    """What each status means for the page and for the breaker."""
    assert classify_response(status, (("location", "/new"),), NOW) == outcome
    assert health_of(status) is health
