"""The pacing of KV writes, with a clock that advances only by sleeping."""

import asyncio

import pytest

from fakes.binding import JsError
from fakes.clock import ManualClock
from fakes.kv import FakeKV
from sluice.core.errors import SluiceError, Unavailable
from sluice.platform.storage.kv import KV, MAX_TRACKED_KEYS, THROTTLE_WAITS_S, WRITE_GAP_S, WritePacer


class Busy:
    """A namespace that refuses the first writes, as when another isolate writes the same key."""

    def __init__(self, refusals: int, message: str = "KV PUT failed: 429 Too Many Requests") -> None:
        self.refusals = refusals
        self.message = message
        self.tries = 0

    async def put(self, *_: object) -> None:
        self.tries += 1
        if self.tries <= self.refusals:
            raise JsError(self.message)


async def test_writes_to_one_key_are_spaced():
    """The second write to a key waits out the second; one to another key does not wait."""
    clock = ManualClock()
    kv = KV(FakeKV(clock), clock)
    await kv.put_text("a", "1")
    await kv.put_text("b", "1")
    assert clock.slept == []
    await kv.put_text("a", "2")
    assert clock.slept == [pytest.approx(WRITE_GAP_S)]


async def test_deletion_is_a_write():
    """A deletion after a write waits as well, since the platform counts it."""
    clock = ManualClock()
    kv = KV(FakeKV(clock), clock)
    await kv.put_text("a", "1")
    await kv.delete("a")
    assert len(clock.slept) == 1


async def test_late_write_does_not_wait():
    """After a second, a write does not wait."""
    clock = ManualClock()
    kv = KV(FakeKV(clock), clock)
    await kv.put_text("a", "1")
    clock.advance(WRITE_GAP_S)
    await kv.put_text("a", "2")
    assert clock.slept == []


async def test_waiting_writers_take_turns():
    """Concurrent writers each wait for their own second."""
    pace = WritePacer()
    waits = [pace.reserve("a", 100.0) for _ in range(4)]
    assert waits == [pytest.approx(turn * WRITE_GAP_S) for turn in range(4)]


async def test_two_adapters_share_a_pace():
    """Two requests in one isolate, each with its own adapter, keep one pace."""
    clock, pace = ManualClock(), WritePacer()
    fake = FakeKV(clock)
    await KV(fake, clock, pace).put_text("a", "1")
    await KV(fake, clock, pace).put_text("a", "2")
    assert len(clock.slept) == 1


async def test_memory_of_keys_is_bounded():
    """The pacer remembers a bounded number of keys."""
    pace = WritePacer()
    for n in range(MAX_TRACKED_KEYS + 10):
        pace.reserve(f"key-{n}", 100.0)
    assert len(pace._free_at) == MAX_TRACKED_KEYS
    assert pace.reserve(f"key-{MAX_TRACKED_KEYS + 9}", 100.0) > 0


async def test_throttled_write_is_tried_again():
    """A throttled write is retried after growing waits."""
    clock, busy = ManualClock(), Busy(refusals=2)
    await KV(busy, clock).put_text("a", "1")
    assert busy.tries == 3
    assert clock.slept == list(THROTTLE_WAITS_S[:2])


async def test_throttling_without_end_is_unavailable():
    """After the last retry the caller gets a retryable error."""
    clock, busy = ManualClock(), Busy(refusals=99)
    with pytest.raises(Unavailable, match="429"):
        await KV(busy, clock).put_text("a", "1")
    assert busy.tries == len(THROTTLE_WAITS_S) + 1


async def test_other_failures_are_not_tried_again():
    """Only throttling is retried."""
    clock, busy = ManualClock(), Busy(refusals=1, message="KV PUT failed: 500 Internal Server Error")
    with pytest.raises(Unavailable, match="500"):
        await KV(busy, clock).put_text("a", "1")
    assert busy.tries == 1
    assert clock.slept == []


async def test_bulk_get_costs_one_operation_per_hundred():
    """205 keys cost three operations, and a repeated key costs nothing."""
    fake = FakeKV(ManualClock())
    await KV(fake, ManualClock()).get_many([f"{n}" for n in range(205)] * 2)
    assert [name for name, _ in fake.operations] == ["bulk get"] * 3


async def test_value_that_is_not_json_is_told():
    """A text that is no JSON is an error that names the key, not None."""
    clock = ManualClock()
    kv = KV(FakeKV(clock), clock)
    await kv.put_text("a", "{")
    with pytest.raises(SluiceError, match="'a' is not JSON"):
        await kv.get_json("a")


async def test_concurrent_writes_all_arrive():
    """Writes to one key at the same time are all taken by a namespace that allows one per second."""
    clock = ManualClock()
    kv = KV(FakeKV(clock), clock)
    await asyncio.gather(*(kv.put_text("a", str(n)) for n in range(4)))
    assert await kv.get_text("a") in {"0", "1", "2", "3"}
