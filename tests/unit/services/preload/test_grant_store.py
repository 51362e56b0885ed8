"""Grants: no window of the origin ever holds more than the limit, however requests travel."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.objects import FakeStorage
from sluice.core.preload.rate_limits import MARGIN_S, OriginLimits
from sluice.platform.durable_objects import Sql
from sluice.services.preload.warming.grant_store import GrantStore
from sluice.services.preload.zone.schema import create_tables


def build_store() -> tuple[GrantStore, Sql]:
    sql = Sql(FakeStorage())
    create_tables(sql)
    return GrantStore(sql), sql


def simulate(
    limits: OriginLimits, seed: int, count: int, slow_s: float
) -> tuple[list[float], list[tuple[float, float]]]:
    """Return when the origin saw each request, and from when to when it worked on it; travel times are random."""
    (store, _), draw = build_store(), random.Random(seed)
    now = 0.0
    arrivals: list[float] = []
    spans: list[tuple[float, float]] = []
    under_way: list[tuple[float, int]] = []
    while len(arrivals) < count:
        wait_s = store.next_wait_s(limits, now)
        if wait_s == 0:
            grant_id = store.grant(now)
            arrival = now + draw.random() * slow_s
            worked_until = arrival + draw.random() * slow_s
            arrivals.append(arrival)
            spans.append((arrival, worked_until))
            under_way.append((worked_until + draw.random() * slow_s, grant_id))
            continue
        ends_at, grant_id = min(under_way, default=(float("inf"), 0))
        if wait_s is None or ends_at <= now + wait_s:
            under_way.remove((ends_at, grant_id))
            now = max(now, ends_at)
            store.end(grant_id, now)
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
    """In any second, in any minute and at any time, the origin sees no more requests than the limits allow."""
    arrivals, spans = simulate(OriginLimits(concurrency, per_second, per_minute), seed, 60, slow_s)
    assert most_within(arrivals, 1.0) <= per_second
    assert most_within(arrivals, 60.0) <= per_minute
    assert max(sum(began <= at < ended for began, ended in spans) for at in arrivals) <= concurrency


def test_defaults_are_used_up():
    """The default limits are used up: 120 pages take little more than the 12 s that 10 per second need."""
    arrivals, _ = simulate(OriginLimits(6, 10, 120), 1, 121, 0.05)
    assert arrivals[119] < 20
    assert arrivals[120] >= 60


def test_crash():
    """Requests whose end nobody saw keep counting for a while after a crash, then no more."""
    store, sql = build_store()
    limits = OriginLimits(2, 10, 120)
    for _ in range(2):
        store.grant(100)
    assert store.next_wait_s(limits, 100) is None
    restarted = GrantStore(sql)
    restarted.abandon(103, 5)
    assert restarted.count_in_flight(103) == 2
    assert restarted.next_wait_s(limits, 103) == 2
    assert restarted.next_wait_s(limits, 105.1) == 0


def wait_by_sql(sql: Sql, limits: OriginLimits, now: float) -> float | None:
    """Return the wait by the same arithmetic, as counts in SQL over the stored grants."""

    def count(condition: str, *params: object) -> int:
        return int(sql.value(f"SELECT count(*) FROM flight WHERE {condition}", *params) or 0)  # noqa: S608

    def wait_for(column: str, limit: int, window_s: float) -> float | None:
        over = count(f"{column} > ?", now - window_s)
        excess = count("ended_at IS NULL") + over - limit
        if excess < 0:
            return 0.0
        if excess >= over:
            return None
        ends = f"SELECT {column} FROM flight WHERE {column} > ? ORDER BY {column} LIMIT 1 OFFSET ?"  # noqa: S608
        return max(0.0, float(sql.value(ends, now - window_s, excess) or 0) + window_s - now)

    slow = count("ended_at IS NULL AND ? - granted_at >= 2", now)
    timed_out = "slot_until > ? AND slot_until - ended_at > 1"
    # Of the places of requests that timed out, those beyond the share of slow ones do not count.
    ignored = max(0, count(timed_out, now) - max(0, max(1, limits.concurrency // 2) - slow))
    first = f"SELECT id FROM flight WHERE {timed_out} ORDER BY slot_until LIMIT {ignored}"  # noqa: S608

    def wait_for_slot() -> float | None:
        held = f"slot_until > ? AND id NOT IN ({first})"
        excess = count("ended_at IS NULL") + (over := count(held, now, now)) - limits.concurrency
        if excess < 0:
            return 0.0
        if excess >= over:
            return None
        ends = f"SELECT slot_until FROM flight WHERE {held} ORDER BY slot_until LIMIT 1 OFFSET ?"  # noqa: S608
        return max(0.0, float(sql.value(ends, now, now, excess) or 0) - now)

    waits = [
        wait_for_slot(),
        wait_for("ended_at", limits.per_second, 1.0 + MARGIN_S),
        wait_for("ended_at", limits.per_minute, 60.0 + MARGIN_S),
    ]
    known = [wait for wait in waits if wait is not None]
    return max(known) if len(known) == len(waits) else None


@settings(max_examples=60)
@given(
    st.builds(OriginLimits, st.integers(1, 4), st.integers(1, 5), st.integers(1, 8)),
    st.lists(
        st.tuples(
            st.sampled_from(["grant", "end", "slow end", "crash", "forget"]),
            st.sampled_from([0.0, 0.1, 0.9, 14.0, 59.0]),
        ),
        max_size=30,
    ),
)
def test_same_as_sql(limits: OriginLimits, operations: list[tuple[str, float]]):
    """The wait over the grants in memory is the wait that SQL counts, after any operations and after a restart."""
    store, sql = build_store()
    under_way: list[int] = []
    now = 1000.0
    for name, passed_s in operations:
        now += passed_s
        match name:
            case "grant":
                under_way.append(store.grant(now))
            case "end" if under_way:
                store.end(under_way.pop(0), now)
            case "slow end" if under_way:
                store.end(under_way.pop(0), now, settle_s=15.0)
            case "crash":
                under_way.clear()
                store = GrantStore(sql)
                store.abandon(now, 5)
            case "forget":
                store.forget_old(now)
        for ahead_s in (0.0, 0.5, 20.0):
            assert store.next_wait_s(limits, now + ahead_s) == wait_by_sql(sql, limits, now + ahead_s)
    assert GrantStore(sql).next_wait_s(limits, now) == wait_by_sql(sql, limits, now)


def test_new_object_knows_the_order_of_the_ends():
    """After a restart the requests that count are those that counted before, ordered by their end, those under way last."""
    store, sql = build_store()
    first, second, third = (store.grant(at) for at in (0.0, 1.0, 2.0))
    store.end(second, 3.0)
    store.end(first, 5.0)
    known = [(grant.granted_at, grant.ended_at) for grant in store.grants]
    assert known == [(1.0, 3.0), (0.0, 5.0), (2.0, None)]
    again = GrantStore(sql)
    assert [(grant.granted_at, grant.ended_at) for grant in again.grants] == known
    again.end(third, 6.0)
    again.forget_old(63.5)
    assert [grant.granted_at for grant in GrantStore(sql).grants] == [1.0, 0.0, 2.0]
    again.forget_old(64.5)
    assert [grant.granted_at for grant in GrantStore(sql).grants] == [0.0, 2.0]
