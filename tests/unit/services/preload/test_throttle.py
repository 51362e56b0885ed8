"""The throttle: no window of the origin ever holds more than the limit, however requests travel."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.objects import FakeStorage
from sluice.platform.durable_objects import Sql
from sluice.services.preload.warming.grants import Limits, Throttle
from sluice.services.preload.zone.schema import create_tables


def throttle() -> Throttle:
    sql = Sql(FakeStorage())
    create_tables(sql)
    return Throttle(sql)


def simulated(limits: Limits, seed: int, count: int, slow_s: float) -> tuple[list[float], list[tuple[float, float]]]:
    """When the origin saw each request, and from when to when it worked on it; travelling takes chance's time."""
    here, draw = throttle(), random.Random(seed)
    now = 0.0
    arrivals: list[float] = []
    spans: list[tuple[float, float]] = []
    under_way: list[tuple[float, int]] = []
    while len(arrivals) < count:
        wait_s = here.wait_s(limits, now)
        if wait_s == 0:
            flight = here.grant(now)
            arrival = now + draw.random() * slow_s
            worked_until = arrival + draw.random() * slow_s
            arrivals.append(arrival)
            spans.append((arrival, worked_until))
            under_way.append((worked_until + draw.random() * slow_s, flight))
            continue
        ends_at, flight = min(under_way, default=(float("inf"), 0))
        if wait_s is None or ends_at <= now + wait_s:
            under_way.remove((ends_at, flight))
            now = max(now, ends_at)
            here.end(flight, now)
        else:
            now += wait_s
    return sorted(arrivals), spans


def most_within(arrivals: list[float], window_s: float) -> int:
    return max(sum(at <= other < at + window_s for other in arrivals) for at in arrivals)


@settings(max_examples=25)
@given(
    st.integers(1, 6), st.integers(1, 12), st.integers(5, 60), st.integers(0, 10**6), st.sampled_from([0.0, 0.3, 3.0])
)
def test_never_more(concurrency: int, per_second: int, per_minute: int, seed: int, slow_s: float):
    """In any second, in any minute and at any moment, the origin sees no more than the limits."""
    arrivals, spans = simulated(Limits(concurrency, per_second, per_minute), seed, 60, slow_s)
    assert most_within(arrivals, 1.0) <= per_second
    assert most_within(arrivals, 60.0) <= per_minute
    assert max(sum(began <= at < ended for began, ended in spans) for at in arrivals) <= concurrency


def test_defaults_are_used_up():
    """The default limits are not merely kept: 120 pages take little more than the 12 s that 10 per second need."""
    arrivals, _ = simulated(Limits(6, 10, 120), 1, 121, 0.05)
    assert arrivals[119] < 20
    assert arrivals[120] >= 60


def test_crash():
    """Requests whose end nobody saw keep counting for a while after a crash, then no more."""
    here = throttle()
    limits = Limits(2, 10, 120)
    for _ in range(2):
        here.grant(100)
    assert here.wait_s(limits, 100) is None
    here.abandon(103, 5)
    assert here.in_flight(103) == 2
    assert here.wait_s(limits, 103) == 2
    assert here.wait_s(limits, 105.1) == 0
