"""The fakes are at least as strict as the platform: what would fail there fails here, adapter or not."""

import pytest

from fakes.binding import Crash, JsError
from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.queues import FakeQueue
from fakes.r2 import FakeR2
from fakes.transport import FakeTransport
from fakes.workflows import FakeStep, FakeWorkflows
from sluice.core.net.transport import TransportRequest
from sluice.core.timestamps import iso


async def test_kv_takes_one_write_per_second():
    """A second write within the second is refused as KV refuses it, and changes nothing."""
    clock = ManualClock()
    kv = FakeKV(clock)
    await kv.put("a", "1")
    clock.advance(0.9)
    for write in (kv.put("a", "2"), kv.delete("a")):
        with pytest.raises(JsError, match="failed: 429 Too Many Requests"):
            await write
    clock.advance(0.2)
    await kv.put("a", "3")
    assert await kv.get("a") == "3"


async def test_kv_shows_writes_late():
    """With staleness, a read and a listing show the past: the old value, and a new key as still missing."""
    clock = ManualClock()
    kv = FakeKV(clock, stale_s=60)
    await kv.put("a", "1")
    assert await kv.get("a") is None
    clock.advance(60)
    await kv.put("a", "2")
    await kv.put("b", "1")
    assert await kv.get(["a", "b"]) == {"a": "1", "b": None}
    assert [key["name"] for key in (await kv.list({}))["keys"]] == ["a"]
    clock.advance(60)
    assert await kv.get("a") == "2"


async def test_kv_forgets_expired_keys():
    """A key is gone once its lifetime is over."""
    clock = ManualClock()
    kv = FakeKV(clock)
    await kv.put("a", "1", {"expirationTtl": 60})
    clock.advance(59)
    assert await kv.get("a") == "1"
    clock.advance(1)
    assert await kv.get("a") is None


@pytest.mark.parametrize(
    ("key", "value", "options"),
    [
        ("", "v", {}),
        ("..", "v", {}),
        ("k" * 513, "v", {}),
        ("k", bytes(25 * 1024 * 1024 + 1), {}),
        ("k", {"a": 1}, {}),
        ("k", "v", {"expirationTtl": 59}),
        ("k", "v", {"metadata": "x" * 1023}),
    ],
)
async def test_kv_refuses_what_kv_refuses(key, value, options):
    """Keys, values, lifetimes and metadata beyond the limits are refused."""
    with pytest.raises(JsError):
        await FakeKV(ManualClock()).put(key, value, options)


async def test_nothing_uncrossable_crosses():
    """A tuple or bytearray is refused by every binding, at any depth."""
    clock = ManualClock()
    for call in (
        FakeKV(clock).put("a", bytearray()),  # type: ignore[arg-type]
        FakeKV(clock).put("a", "v", {"metadata": {"a": [(1,)]}}),
        FakeR2(clock).put("a", bytearray(), {}),  # type: ignore[arg-type]
        FakeQueue().send([(1,)], {}),
        FakeWorkflows().create({"id": "a", "params": {"a": (1,)}}),
        FakeD1().prepare("select ?").bind((1,)).all(),
    ):
        with pytest.raises(TypeError, match="cannot be sent over RPC"):
            await call


async def test_queue_refuses_what_queues_refuse():
    """Messages, batches and delays beyond the limits are refused."""
    queue = FakeQueue()
    for call in (
        queue.send("x" * 127_999, {}),
        queue.send("x", {"delaySeconds": 86_401}),
        queue.sendBatch([{"body": 1}] * 101, {}),
        queue.sendBatch([], {}),
        queue.sendBatch([{"body": "x" * 90_000}] * 3, {}),
    ):
        with pytest.raises(JsError):
            await call
    assert queue.waiting == []


async def test_r2_refuses_what_r2_refuses():
    """Keys, metadata, listings and deletions beyond the limits are refused."""
    r2 = FakeR2(ManualClock())
    for call in (
        r2.put("k" * 1025, b"", {}),
        r2.put("k", b"", {"customMetadata": {"a": "x" * 8192}}),
        r2.list({"limit": 1001}),
        r2.delete(["k"] * 1001),
    ):
        with pytest.raises(JsError):
            await call


async def test_r2_body_is_read_once():
    """A body can be read once."""
    r2 = FakeR2(ManualClock())
    await r2.put("k", b"x", {})
    found = await r2.get("k")
    assert found is not None
    await found.arrayBuffer()
    with pytest.raises(JsError, match="already been used"):
        await found.arrayBuffer()


async def test_step_result_is_bounded():
    """A step result over 1 MiB or with a tuple fails the step."""
    for result in ("x" * 2**20, [(1,)]):

        async def work(result: object = result) -> object:
            return result

        with pytest.raises(JsError):
            await FakeStep().do("big", config={"retries": {"limit": 0}})(work)()


async def test_unknown_url_fails():
    """A URL without a scripted response is an error of the test, not an outage."""
    with pytest.raises(AssertionError, match="no response is scripted"):
        async with FakeTransport({})(TransportRequest("GET", "https://a.example/", (), None)):
            pass


async def put_all(kv: FakeKV) -> None:
    for key in ("1", "2", "3"):
        await kv.put(key, "v")


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3])
async def test_crash_at_any_operation(n, before):
    """A crash comes at the n-th operation from now, before or after its effect, and only once."""
    kv = FakeKV(ManualClock())
    await kv.put("earlier", "v")
    kv.fail_at(n, before=before)
    with pytest.raises(Crash):
        await put_all(kv)
    written = [key for key in ("1", "2", "3") if await kv.get(key)]
    assert len(written) == (n - 1 if before else n)


async def test_operations_are_counted():
    """Each operation is recorded by name and subject; a bulk get is one."""
    kv = FakeKV(ManualClock())
    await kv.put("a", "v")
    await kv.get(["a", "b"])
    assert kv.operations == [("put", "a"), ("bulk get", "a")]


async def test_manual_clock_moves_only_by_sleeping():
    """Time passes by sleeping and by nothing else."""
    clock = ManualClock(1_000.0)
    await clock.sleep(2.5)
    assert clock.now() == 1_002.5
    assert iso(clock.now()) == iso(1_002.5) == "1970-01-01T00:16:42.500Z"
