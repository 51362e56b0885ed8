"""The run lease: one holder at a time, expiry, and announced versions."""

import pytest

from fakes.objects import FakeStorage
from sluice.core.errors import Conflict
from sluice.platform.durable_objects import Sql
from sluice.services.news.run_lease.lease import SETTLE_MS, RunLease
from sluice.services.news.run_lease.run_lock import RunLock


def test_one_holder():
    """While one run holds the lease, no other acquires it; after the release it is free."""
    lock = RunLock(Sql(FakeStorage()))
    assert lock.acquire("a", 0, 100) == {"version": 0, "announced_at_ms": 0}
    assert lock.acquire("b", 99, 100) is None
    lock.release("b")
    assert lock.acquire("b", 99, 100) is None
    lock.release("a")
    assert lock.acquire("b", 99, 100) is not None


def test_lease_ends():
    """After a crash the lease expires, another run acquires it, and the first may not write any more."""
    lock = RunLock(Sql(FakeStorage()))
    lock.acquire("a", 0, 100)
    lock.announce("a", 7, 50, 100)
    assert lock.acquire("b", 149, 100) is None
    assert lock.acquire("b", 150, 100) == {"version": 7, "announced_at_ms": 50}
    with pytest.raises(Conflict, match="longer than its lease"):
        lock.announce("a", 8, 151, 100)
    lock.release("a")
    assert lock.acquire("c", 160, 100) is None


def test_state_outlives_the_object():
    """The announced version is stored."""
    storage = FakeStorage()
    RunLock(Sql(storage)).acquire("a", 0, 100)
    RunLock(Sql(storage)).announce("a", 7, 50, 100)
    assert RunLock(Sql(storage)).acquire("b", 1000, 100) == {"version": 7, "announced_at_ms": 50}


def test_stale():
    """A version older than the announced one is stale, until it is certain that the newer one was never written."""
    lease = RunLease("a", announced=10, announced_at_ms=1000)
    assert lease.is_stale(9, 1000 + SETTLE_MS - 1)
    assert not lease.is_stale(9, 1000 + SETTLE_MS)
    assert not lease.is_stale(10, 1000)
