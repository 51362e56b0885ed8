"""When an incident begins, and when it is over."""

from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.incidents import FetchRates, Finding, IncidentInputs, review_zone
from sluice.core.preload.site_agent import SiteAgent

OPEN = Breaker(state="open", backoff_s=30)


def review(
    attempts: int,
    failures: int,
    depth: int = 0,
    breaker: Breaker | None = None,
    *,
    looping: tuple[str, ...] = (),
    agent: SiteAgent | None = None,
    redirect_loop_url: str | None = None,
) -> dict[str, Finding]:
    rates = FetchRates(attempts=attempts, failures=failures, mean_ms=None, slowest_ms=None)
    watched = IncidentInputs(
        breaker=breaker or Breaker(), agent=agent or SiteAgent(), looping=looping, redirect_loop_url=redirect_loop_url
    )
    return {finding.kind: finding for finding in review_zone(rates, depth, watched)}


def test_failure_rate():
    """It begins with more than 10 % of at least three fetches; it is over only when fetches succeed again."""
    assert review(3, 1)["failure_rate"].message == "1 of 3 fetches failed in the last 5 minutes"
    for attempts, failures, is_over in ((2, 2, False), (10, 1, True), (0, 0, True)):
        finding = review(attempts, failures)["failure_rate"]
        assert (finding.message, finding.is_over) == (None, is_over)
    assert not review(0, 0, breaker=OPEN)["failure_rate"].is_over


def test_depth_and_breaker():
    """More than 5,000 pages and a breaker that is not closed are incidents."""
    assert review(0, 0, depth=5000)["queue_depth"].is_over
    assert review(0, 0, depth=5001)["queue_depth"].message == "5001 pages are waiting"
    opened = review(0, 0, breaker=OPEN)["breaker_open"]
    assert (opened.level, opened.is_over) == ("critical", False)
    assert "pauses for 30 s" in (opened.message or "")
    assert review(0, 0)["breaker_open"].is_over


def test_warming_loop():
    """It begins when requests come back, names the host and the way out, and is over when none does any more."""
    finding = review(1, 1, looping=("www.example.com",))["warming_loop"]
    assert finding.level == "critical"
    assert "www.example.com" in (finding.message or "")
    assert "origin_url" in (finding.message or "")
    assert review(1, 1)["warming_loop"].is_over


def test_agent_and_circle():
    """An agent that is away and a page that redirects to itself are incidents, with the way out."""
    away = review(0, 0, agent=SiteAgent().mark_away("deactivated", 7.0))["agent_away"]
    assert (away.level, away.is_over) == ("critical", False)
    assert "until it is active again" in (away.message or "")
    circle = review(0, 0, redirect_loop_url="https://a.example/x/")["redirect_circle"]
    assert (circle.message or "").startswith("https://a.example/x/ redirects to itself")
    assert review(0, 0)["agent_away"].is_over
    assert review(0, 0)["redirect_circle"].is_over
