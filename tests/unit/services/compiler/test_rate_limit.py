"""A fixed window for each client: exact in its object, lenient while only KV is available."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from fakes.kv import FakeKV
from fakes.objects import FakeObjects, FakeStorage
from sluice.core.errors import TooManyRequests, Unavailable
from sluice.platform.durable_objects import Alarm, Sql, erase_storage
from sluice.platform.storage.kv import KV
from sluice.services.compiler.guard.rate_limit import (
    MAX_RECENT_CLIENTS,
    KvRateLimit,
    RecentCounts,
    RequestRateLimiter,
)
from sluice.services.compiler.guard.rate_limit_window import (
    ClientRateLimit,
    RateLimitCalls,
    RateLimitDecision,
    RateLimitWindow,
    decide,
)
from sluice.web.clients import NETWORK_CLIENTS, Client, find_client
from unit.services.compiler.listeners import ListLog
from unit.services.compiler.remote_objects import Answering, connect_named


def window(clock: ManualClock, storage: FakeStorage | None = None) -> RateLimitWindow:
    return RateLimitWindow(Sql(storage or FakeStorage()), clock)


def client_limit(clock: ManualClock, storage: FakeStorage) -> ClientRateLimit:
    return ClientRateLimit(RateLimitWindow(Sql(storage), clock), Alarm(storage), lambda: erase_storage(storage))


class Later:
    """Background work, run when the test says so."""

    def __init__(self) -> None:
        self.work: list[Coroutine[Any, Any, None]] = []

    def __call__(self, work: Coroutine[Any, Any, None]) -> None:
        self.work.append(work)

    async def run(self) -> None:
        while self.work:
            await self.work.pop(0)


def limiter(
    clock: ManualClock, object_named: Callable[[str], RateLimitCalls], kv: Any, later: Later, log: ListLog | None = None
) -> RequestRateLimiter:
    return RequestRateLimiter(
        object_named=object_named,
        open_fallback=lambda: KvRateLimit(KV(kv, clock), clock, later),
        clock=clock,
        log=log or ListLog(),
        background=later,
        recent=RecentCounts(),
        max_requests=10,
        window_s=60,
    )


async def count_allowed(limit: RequestRateLimiter, client: str, tries: int, later: Later | None = None) -> int:
    count = 0
    for _ in range(tries):
        try:
            await limit.charge(Client(client))
        except TooManyRequests:
            continue
        finally:
            if later:
                await later.run()
        count += 1
    return count


def no_object(_client: str) -> RateLimitCalls:
    """Fail as an object that cannot be reached."""
    raise Unavailable("no object today")


class Silent:
    """An object that never answers."""

    async def count_request(
        self, _max_requests: int, _window_s: int, *, cost: int = 1, owed: int = 0
    ) -> RateLimitDecision:
        del cost, owed
        await asyncio.Event().wait()
        raise AssertionError("unreachable")


def open_limits(clock: ManualClock) -> Callable[[str], RateLimitCalls]:
    objects = FakeObjects(lambda _name: Answering(RateLimitCalls, client_limit(clock, FakeStorage())))
    return connect_named(RateLimitCalls, objects)


def test_limit_is_exact():
    """Ten requests are allowed, the eleventh is not, and refused ones do not lengthen the window."""
    clock = ManualClock()
    counted = window(clock)
    decisions = [counted.count_request(10, 60) for _ in range(15)]
    assert [decision.allowed for decision in decisions] == [True] * 10 + [False] * 5
    assert {decision.reset_at for decision in decisions} == {clock.now() + 60}
    assert decisions[-1].count == 10


def test_new_window_begins_at_the_reset():
    """A client that waits as long as it was told may go on at once, with a whole window."""
    clock = ManualClock()
    counted = window(clock)
    for _ in range(10):
        counted.count_request(10, 60)
    clock.advance(59.9)
    assert not counted.count_request(10, 60).allowed
    clock.advance(0.1)
    assert [counted.count_request(10, 60).allowed for _ in range(11)] == [True] * 10 + [False]


def test_shorter_window_counts_at_once():
    """After the operator has shortened the window, no client waits for the end of a long one."""
    clock = ManualClock()
    counted = window(clock)
    assert counted.count_request(1, 3600).allowed
    assert not counted.count_request(1, 3600).allowed
    assert counted.count_request(1, 60).allowed


@given(st.lists(st.integers(0, 100), max_size=60), st.integers(1, 5), st.integers(1, 100))
def test_never_more_than_the_limit(gaps: list[int], most: int, span_s: int):
    """Whatever the timing, no window allows more than the limit, and a finished one is never extended."""
    now, known = 1_000, None
    passed: dict[float, int] = {}
    for gap in gaps:
        now += gap
        decision = decide(known, now, most, span_s)
        assert now < decision.reset_at <= now + span_s
        if decision.allowed:
            known = (decision.count, decision.reset_at)
            passed[decision.reset_at] = passed.get(decision.reset_at, 0) + 1
        else:
            assert passed[decision.reset_at] == most
    assert all(count <= most for count in passed.values())
    ends = sorted(passed)
    assert all(later - earlier >= span_s for earlier, later in pairwise(ends))


async def test_object_is_erased():
    """Some time after the window the alarm erases the object; before that, the count stays."""
    clock, storage = ManualClock(), FakeStorage()
    limit = client_limit(clock, storage)
    decision = await limit.count_request(1, 60)
    assert storage.alarm_ms == (decision.reset_at + 60) * 1000
    await limit.erase_if_over()
    assert not (await limit.count_request(1, 60)).allowed
    clock.advance(121)
    await limit.erase_if_over()
    assert Sql(storage).rows("select name from sqlite_master") == []
    assert storage.alarm_ms is None
    assert (await limit.count_request(1, 60)).allowed


async def test_alarm_follows_the_window():
    """A new window moves the alarm; further requests of the same window do not."""
    clock, storage = ManualClock(), FakeStorage()
    limit = client_limit(clock, storage)
    for _ in range(3):
        await limit.count_request(5, 60)
    assert storage.operations.count(("alarm", "set")) == 1
    clock.advance(61)
    await limit.count_request(5, 60)
    assert storage.alarm_ms == (clock.now() + 120) * 1000


async def test_clients_are_limited_separately():
    """Twenty clients have ten requests each."""
    clock = ManualClock()
    limit = limiter(clock, open_limits(clock), FakeKV(clock), Later())
    clients = [f"198.51.100.{number}" for number in range(20)]
    assert [await count_allowed(limit, client, 12) for client in clients] == [10] * 20


async def test_refusal_tells_when_to_come_back():
    """The refusal says the limit and the seconds until the reset."""
    clock = ManualClock()
    limit = limiter(clock, open_limits(clock), FakeKV(clock), Later())
    assert await count_allowed(limit, "a", 10) == 10
    clock.advance(20.5)
    with pytest.raises(TooManyRequests, match=r"^Rate limit exceeded. Maximum 10 requests per minute.$") as refusal:
        await limit.charge(Client("a"))
    assert refusal.value.retry_after_s == 40
    clock.advance(40)
    await limit.charge(Client("a"))


async def test_kv_decides_without_objects():
    """While no object answers, the count in KV limits, in the documented form."""
    clock, later, log = ManualClock(), Later(), ListLog()
    kv = FakeKV(clock)
    limit = limiter(clock, no_object, kv, later, log)
    began = clock.now()
    for _ in range(10):
        await limit.charge(Client("203.0.113.9"))
        await later.run()
        clock.advance(1.1)
    with pytest.raises(TooManyRequests):
        await limit.charge(Client("203.0.113.9"))
    assert await KV(kv, clock).get_json("ratelimit:203.0.113.9") == {"count": 10, "resetAt": (began + 60) * 1000}
    assert {name for name, _ in log.errors} == {"rate_limit.degraded"}
    clock.advance(60)
    await limit.charge(Client("203.0.113.9"))
    await later.run()


async def test_silent_object_is_not_waited_for():
    """An object that never answers delays the request for a moment and does not fail it: KV counts it."""
    clock, later = ManualClock(), Later()
    kv = FakeKV(clock)
    limit = RequestRateLimiter(
        object_named=lambda _client: Silent(),
        open_fallback=lambda: KvRateLimit(KV(kv, clock), clock, later),
        background=later,
        recent=RecentCounts(),
        clock=clock,
        log=ListLog(),
        patience_s=0,
    )
    await limit.charge(Client("a"))
    await later.run()
    assert (await KV(kv, clock).get_json("ratelimit:a"))["count"] == 1


class BrokenKV(KV):
    """A broken KV: with `hang` it never answers, else it refuses."""

    def __init__(self, *, hang: bool) -> None:
        super().__init__(None, ManualClock())
        self.hang = hang

    async def get_json(self, _key: str) -> Any:
        return await self._fail()

    async def put_json(self, _key: str, _value: object, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        del ttl_s, metadata
        await self._fail()

    async def _fail(self) -> None:
        if self.hang:
            await asyncio.Event().wait()
        raise Unavailable("KV PUT failed: 500")


@pytest.mark.parametrize("hang", [False, True])
async def test_failing_kv_lets_everyone_pass(hang: bool):
    """With neither objects nor KV, no request fails and none waits for the write."""
    clock, later = ManualClock(), Later()
    fallback = KvRateLimit(BrokenKV(hang=hang), clock, later, patience_s=0)
    limit = RequestRateLimiter(
        object_named=no_object,
        open_fallback=lambda: fallback,
        clock=clock,
        log=ListLog(),
        background=later,
        recent=RecentCounts(),
    )
    assert await count_allowed(limit, "a", 15) == 15
    await later.run()


@pytest.mark.parametrize("stored", ["text", 5, [], {}, {"count": "many", "resetAt": 1}, {"count": 99}])
async def test_odd_count_in_kv(stored: object):
    """Whatever is stored under the key, it never fails a request."""
    clock, later = ManualClock(), Later()
    kv = FakeKV(clock)
    await KV(kv, clock).put_json("ratelimit:a", stored)
    clock.advance(2)
    decision = await KvRateLimit(KV(kv, clock), clock, later).count_request("a", 10, 60)
    assert decision.allowed
    await later.run()


async def test_short_window_in_kv():
    """A window shorter than KV's shortest TTL is still counted."""
    clock, later = ManualClock(), Later()
    kv = FakeKV(clock)
    shared = KvRateLimit(KV(kv, clock), clock, later)
    await shared.count_request("a", 1, 5)
    await later.run()
    assert not (await shared.count_request("a", 1, 5)).allowed


@pytest.mark.parametrize(
    ("address", "client", "network"),
    [
        ("203.0.113.7", "203.0.113.7", ""),
        (" 203.0.113.7 ", "203.0.113.7", ""),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:0DB8:0001:0002::", "2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("::ffff:203.0.113.7", "203.0.113.7", ""),
        ("fe80::1%eth0", "fe80::/64", "fe80::/48"),
        (None, "unknown", ""),
        ("", "unknown", ""),
        ("1.2.3.4, 5.6.7.8", "unknown", ""),
        ("x" * 1000, "unknown", ""),
    ],
)
def test_who_is_charged(address: str | None, client: str, network: str):
    """An IPv4 address, the /64 of an IPv6 address and the /48 around it, or one key for all others; a scope has keys of its own."""
    assert find_client(address) == Client(client, network)
    assert find_client(address, "validate:") == Client(f"validate:{client}", network and f"validate:{network}")


class Counted:
    """The objects of clients and networks; notes which are asked."""

    def __init__(self, clock: ManualClock) -> None:
        self.asked: list[str] = []
        self._open = open_limits(clock)

    def __call__(self, name: str) -> RateLimitCalls:
        self.asked.append(name)
        return self._open(name)


async def test_many_clients_of_one_network():
    """Somebody with 65,536 clients in one /48 makes as many requests as ten clients, and the refusal says why; neighbours go on."""
    clock = ManualClock()
    limit = limiter(clock, open_limits(clock), FakeKV(clock), Later())
    allowed = 0
    for number in range(200):
        try:
            await limit.charge(find_client(f"2001:db8:1:{number:x}::1"))
        except TooManyRequests as error:
            assert "Maximum 100 requests per minute from one network." in str(error)  # noqa: PT017
            continue
        allowed += 1
    # The first one came before its network was known to have several.
    assert allowed == 10 * NETWORK_CLIENTS + 1
    await limit.charge(find_client("2001:db8:2::1"))
    clock.advance(60)
    await limit.charge(find_client("2001:db8:1::1"))


async def test_hits_of_one_network():
    """What is answered from memory is counted for the network too."""
    clock, later = ManualClock(), Later()
    limit = limiter(clock, open_limits(clock), FakeKV(clock), later)
    refused = 0
    for number in range(200):
        try:
            await limit.charge_hit(find_client(f"2001:db8:1:{number:x}::1"))
        except TooManyRequests:
            refused += 1
    await later.run()
    assert refused == 200 - 10 * NETWORK_CLIENTS - 1


async def test_a_network_with_one_client_costs_nothing():
    """Its object is asked only after a second client of it; for IPv4 there is none."""
    clock = ManualClock()
    objects = Counted(clock)
    limit = limiter(clock, objects, FakeKV(clock), Later())
    for address in ("203.0.113.7", "203.0.113.8", "2001:db8:1:1::1", "2001:db8:1:1::2"):
        await limit.charge(find_client(address))
    assert objects.asked == ["203.0.113.7", "203.0.113.8", "2001:db8:1:1::/64", "2001:db8:1:1::/64"]
    objects.asked.clear()
    await limit.charge(find_client("2001:db8:1:2::1"))
    await limit.charge(find_client("2001:db8:1:1::1"))
    assert objects.asked == ["2001:db8:1:2::/64", "2001:db8:1::/48", "2001:db8:1:1::/64", "2001:db8:1::/48"]


def test_few_networks_are_remembered():
    """The oldest of many networks is forgotten."""
    recent = RecentCounts()
    for number in range(MAX_RECENT_CLIENTS + 5):
        assert not recent.is_among_others(Client("a", str(number)))
    assert len(recent.networks) == MAX_RECENT_CLIENTS
