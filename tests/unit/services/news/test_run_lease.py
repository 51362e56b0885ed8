"""Turns: one holder at a time, a lease that ends, and what was announced."""

import pytest

from fakes.objects import FakeStorage
from sluice.core.errors import Conflict
from sluice.services.news.run_lease.lease import SETTLE_MS, Turn
from sluice.services.news.run_lease.run_lock import RunLock


def test_one_holder():
    """While one holds the turn, no other takes it; given back, it is free."""
    lock = RunLock(FakeStorage())
    assert lock.take("a", 0, 100) == {"version": 0, "announced_at_ms": 0}
    assert lock.take("b", 99, 100) is None
    lock.release("b")
    assert lock.take("b", 99, 100) is None
    lock.release("a")
    assert lock.take("b", 99, 100) is not None


def test_lease_ends():
    """A holder that died is succeeded when its lease is over, and may not write any more."""
    lock = RunLock(FakeStorage())
    lock.take("a", 0, 100)
    lock.announce("a", 7, 50, 100)
    assert lock.take("b", 149, 100) is None
    assert lock.take("b", 150, 100) == {"version": 7, "announced_at_ms": 50}
    with pytest.raises(Conflict, match="longer than its lease"):
        lock.announce("a", 8, 151, 100)
    lock.release("a")
    assert lock.take("c", 160, 100) is None


def test_state_outlives_the_object():
    """What was announced is stored."""
    storage = FakeStorage()
    RunLock(storage).take("a", 0, 100)
    RunLock(storage).announce("a", 7, 50, 100)
    assert RunLock(storage).take("b", 1000, 100) == {"version": 7, "announced_at_ms": 50}


def test_stale():
    """A value older than announced is stale, until it is certain that the newer one was never written."""
    turn = Turn("a", announced=10, announced_at_ms=1000)
    assert turn.is_stale(9, 1000 + SETTLE_MS - 1)
    assert not turn.is_stale(9, 1000 + SETTLE_MS)
    assert not turn.is_stale(10, 1000)
