"""The run lease: one holder at a time, expiry, renewal, and announced values."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from fakes.objects import FakeStorage
from sluice.core.errors import Conflict
from sluice.platform.durable_objects import Sql
from sluice.services.news.run_lease import leased_run
from sluice.services.news.run_lease.lease import (
    SETTLE_MS,
    Announcement,
    CurrentValue,
    LastAnnouncement,
    LeaseGrant,
    RunLease,
)
from sluice.services.news.run_lease.run_lock import MAX_VALUE_BYTES, RunLock
from unit.services.news.harness import NewsHarness


async def is_granted(lock: RunLock, token: str, now_ms: int) -> bool:
    return (await lock.acquire(token, now_ms, 100)).is_granted


def announcement(**changes: Any) -> Announcement:
    return replace(Announcement(key="k", version=7, value="{}", was_present=False), **changes)


async def test_one_holder():
    """While one run holds the lease, no other acquires it; after the release it is free."""
    lock = RunLock(Sql(FakeStorage()))
    assert await lock.acquire("a", 0, 100) == LeaseGrant(is_granted=True)
    assert await lock.acquire("b", 99, 100) == LeaseGrant(is_granted=False, wait_ms=1)
    await lock.release("b")
    assert not await is_granted(lock, "b", 99)
    await lock.release("a")
    assert await is_granted(lock, "b", 99)


async def test_lease_ends():
    """After a crash the lease expires, another run acquires it, and the first may not write any more."""
    lock = RunLock(Sql(FakeStorage()))
    await lock.acquire("a", 0, 100)
    await lock.announce("a", 150, 50, [announcement()])
    assert not await is_granted(lock, "b", 149)
    granted = await lock.acquire("b", 150, 100)
    assert granted.announced == {"k": LastAnnouncement(7, 50, was_present=False)}
    with pytest.raises(Conflict, match="longer than its lease"):
        await lock.announce("a", 250, 50, [announcement(version=8)])
    await lock.release("a")
    assert not await is_granted(lock, "c", 160)


async def test_renewed_lease_lasts():
    """A run that renews its lease keeps it."""
    lock = RunLock(Sql(FakeStorage()))
    await lock.acquire("a", 0, 100)
    await lock.renew("a", 190)
    assert not await is_granted(lock, "b", 189)
    assert await is_granted(lock, "b", 190)


async def test_state_outlives_the_object():
    """The announced value is stored, also over the table of the version before."""
    storage = FakeStorage()
    Sql(storage).run("create table run_lock (id integer primary key, token text)")
    await RunLock(Sql(storage)).acquire("a", 0, 100)
    await RunLock(Sql(storage)).announce("a", 100, 50, [announcement(value="first")])
    await RunLock(Sql(storage)).announce("a", 100, 80, [announcement(version=9, value="second", was_present=True)])
    lock = RunLock(Sql(storage))
    assert await lock.load_announced("k") == "second"
    granted = await lock.acquire("b", 1000, 100)
    assert granted.announced == {"k": LastAnnouncement(9, 50, was_present=True)}
    await lock.announce("b", 2000, 50, [announcement(value="x" * (MAX_VALUE_BYTES + 1))])
    assert await lock.load_announced("k") is None


NEW, SEEN = LastAnnouncement(10, 1000, was_present=False), LastAnnouncement(10, 1000, was_present=True)


@pytest.mark.parametrize(
    ("announced", "version", "now_ms", "expected"),
    [
        (SEEN, 10, 1000, CurrentValue.KV),
        (SEEN, 11, 1000, CurrentValue.KV),
        (SEEN, 9, 1000, CurrentValue.ANNOUNCED),
        (SEEN, 9, 1000 + SETTLE_MS, CurrentValue.ANNOUNCED),
        (SEEN, 0, 1001, CurrentValue.KV),
        (SEEN, None, 1001, CurrentValue.KV),
        (NEW, None, 1001, CurrentValue.ANNOUNCED),
        (NEW, None, 1000 + SETTLE_MS, CurrentValue.KV),
    ],
)
def test_trust(announced: LastAnnouncement, version: int | None, now_ms: int, expected: CurrentValue):
    """An older version than the announced one is stale; a value without a version and a deletion are a person's."""
    assert RunLease("a", {"k": announced}).judge_read("k", version, now_ms) is expected
    assert RunLease("a", {}).judge_read("k", version, now_ms) is CurrentValue.KV


async def test_next_run_waits_for_a_crashed_one():
    """A run that finds the lease of a crashed run waits until it expires, and continues."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.leases("processor").acquire()
    started = news.clock.now()
    assert (await news.processor().run()).as_json()["outcome"] == "ok"
    assert news.clock.now() - started >= news.settings.lease_s


async def test_lease_is_renewed_while_work_goes_on(monkeypatch: pytest.MonkeyPatch):
    """However long the work takes, no other run begins."""
    news = NewsHarness(lease_s=20)
    leases = news.leases("processor")
    renewed = asyncio.Event()
    sleep = asyncio.sleep

    async def pass_time(seconds: float) -> None:
        await sleep(0)
        news.clock.advance(seconds)
        if news.clock.now() > begun + 100:
            renewed.set()

    begun = news.clock.now()
    with monkeypatch.context() as patch:
        patch.setattr("sluice.services.news.run_lease.leased_run.asyncio.sleep", pass_time)
        await leased_run.run_with_lease(leases, 20, lambda _lease: renewed.wait())
    lock = next(iter(news.objects["processor"].objects.values())).answers
    assert lock._sql.value("select until_ms from holder") == 0
    assert news.clock.now() > begun + 100
