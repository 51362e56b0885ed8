"""The circuit breaker: open, half-open, closed."""

from sluice.core.preload.circuit_breaker import Breaker

NOW = 1_800_000_000.0


def test_more_failures_while_open():
    """Three different pages open it. A response that arrives while the breaker is open neither prolongs the backoff nor ends it."""
    breaker = Breaker()
    for page in "aabc":
        assert breaker.state == "closed"
        breaker = breaker.after_failure(NOW, page, threshold=3, max_backoff_s=1800)
    assert (breaker.state, breaker.open_until) == ("open", NOW + 30)
    assert breaker.after_failure(NOW + 1, "d", threshold=3, max_backoff_s=1800) == breaker
    assert breaker.after_success() == breaker
    assert breaker.at(NOW + 29.9).state == "open"
    probing = breaker.at(NOW + 30)
    assert (probing.state, probing.may_fetch(0), probing.may_fetch(1)) == ("half-open", True, False)
    assert probing.after_success() == Breaker(era=probing.era + 1)
    assert Breaker.from_json(probing.as_json()) == probing


def test_half_open():
    """A probe that fails doubles the backoff up to the maximum; a 404 proves nothing; a good one closes the breaker."""
    breaker = Breaker(state="half-open", backoff_s=30, era=4)
    failed = breaker.after_failure(NOW, "a", threshold=3, max_backoff_s=50)
    assert (failed.state, failed.backoff_s, failed.open_until, failed.era) == ("open", 50, NOW + 50, 5)
    assert breaker.after_refusal() == breaker
    assert breaker.after_success() == Breaker(era=5)


def test_value_of_an_earlier_version():
    """A stored breaker that counted failures instead of pages is still read."""
    stored = {"state": "open", "failures": 3, "backoff_s": 30.0, "open_until": NOW, "era": 2}
    assert Breaker.from_json(stored) == Breaker(state="open", backoff_s=30.0, open_until=NOW, era=2)
