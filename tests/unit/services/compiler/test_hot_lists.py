"""Lists that are asked for often: answered from memory, counted all the same, and never older than what is stored."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fakes.objects import FakeObjects, FakeStorage
from sluice.core.errors import TooManyRequests
from sluice.platform.durable_objects import Alarm, Sql, erase_storage
from sluice.services.compiler.cache.hot_replies import (
    FRESH_S,
    MAX_BYTES,
    MAX_REPLY_BYTES,
    MAX_REQUEST_BYTES,
    HotReplies,
    request_key,
)
from sluice.services.compiler.guard.guard import Guard
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
)
from sluice.services.compiler.guard.turnstile import Turnstile
from sluice.services.compiler.http.compile import CompileApi
from sluice.services.compiler.http.hot_lists import HotListApi
from sluice.web import Headers, Reply, Request
from unit.services.compiler.listeners import ListAnalytics
from unit.services.compiler.remote_objects import Answering, connect_named
from unit.services.compiler.test_rate_limit import Later
from unit.services.compiler.world import URL, World, order
from unit.web.calls import content

BODY = json.dumps({"configuration": {"name": "T", "sources": [{"source": URL}]}}).encode()


class Service:
    """POST /compile of one isolate; several share the object of the client."""

    def __init__(self, world: World | None = None, objects: FakeObjects | None = None, *, secret: str = "") -> None:
        self.world = world or World()
        clock = self.world.clock
        self.objects = objects or FakeObjects(lambda _client: Answering(RateLimitCalls, CountedLimit(self.world)))
        self.later = Later()
        self.recent = RecentCounts()
        limiter = RequestRateLimiter(
            object_named=connect_named(RateLimitCalls, self.objects),
            open_fallback=lambda: KvRateLimit(self.world.cache.store, clock, self.later),
            clock=clock,
            log=self.world.log,
            background=self.later,
            recent=self.recent,
            max_requests=10,
            window_s=60,
        )
        turnstile = Turnstile(secret=secret, fetch=_fetch_nothing, log=self.world.log)
        guard = Guard(limiter=limiter, turnstile=turnstile, analytics=ListAnalytics())
        api = CompileApi(guard=guard, lists=self.world.lists)
        self.api = HotListApi(
            guard=guard,
            hot_replies=self.world.hot_replies,
            count=self.world.count,
            find_compiler=lambda: api.compile,
        )

    async def post(self, body: bytes = BODY, **headers: str) -> Reply:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = Headers({"Content-Length": str(len(body)), "CF-Connecting-IP": "192.0.2.1", **names})

        async def read_body(_max_bytes: int) -> bytes:
            return body

        return await self.api.compile(Request("POST", "https://sluice.test/compile", sent, read_body))


Make = Callable[..., Service]


class CountedLimit(ClientRateLimit):
    """The object of a client, and how often it was called."""

    def __init__(self, world: World) -> None:
        storage = FakeStorage()
        super().__init__(RateLimitWindow(Sql(storage), world.clock), Alarm(storage), lambda: erase_storage(storage))
        self.count = 0

    async def count_request(
        self, max_requests: int, window_s: int, *, cost: int = 1, owed: int = 0
    ) -> RateLimitDecision:
        self.count += 1
        return await super().count_request(max_requests, window_s, cost=cost, owed=owed)


@pytest.fixture(name="make")
def _make() -> Iterator[Make]:
    made: list[Service] = []

    def make(*arguments: Any, **options: Any) -> Service:
        made.append(Service(*arguments, **options))
        return made[-1]

    yield make
    for service in made:
        for work in service.later.work:
            work.close()


async def _fetch_nothing(*_arguments: Any, **_options: Any) -> Any:
    raise AssertionError("nothing is fetched")


async def test_third_request_reads_nothing(make: Make):
    """A list that was just found in the cache is sent again without a read of KV, byte for byte."""
    service = make()
    miss, hit = await service.post(), await service.post()
    reads = len(service.world.kv_fake.operations)
    hot = await service.post()
    assert (miss.header("X-Cache"), hit.header("X-Cache")) == ("MISS", "HIT")
    assert (hot.headers, content(hot)) == (hit.headers, content(hit))
    assert len(service.world.kv_fake.operations) == reads
    assert service.world.counts["cache", "hit"] == 2


async def test_forms_are_told_apart(make: Make):
    """A reply is only for requests that accept the same."""
    service = make()
    for _ in range(2):
        await service.post()
    text = await service.post(accept="text/plain")
    packed = await service.post(accept_encoding="gzip")
    assert (text.header("Content-Type"), packed.header("Content-Encoding")) == ("text/plain; charset=utf-8", "gzip")


async def test_new_version_replaces_it(make: Make):
    """As soon as a list is stored anew, its copy in memory is dropped."""
    service = make(World({URL: ["||old.example^\n", "||new.example^\n"]}))
    for _ in range(3):
        assert b"old.example" in content(await service.post())
    await service.world.lists.refresh(order(ttl_s=60))
    assert b"new.example" in content(await service.post())


async def test_memory_is_short(make: Make):
    """After half a minute the cache is read again."""
    service = make()
    for _ in range(3):
        await service.post()
    reads = len(service.world.kv_fake.operations)
    service.world.clock.advance(FRESH_S)
    assert (await service.post()).header("X-Cache") == "HIT"
    assert len(service.world.kv_fake.operations) > reads


def test_memory_is_small():
    """However many lists are asked for, little is kept, and no large list."""
    world = World()
    hot = HotReplies(world.clock)
    for number in range(100):
        hot.keep(request_key({}, b"%d" % number), f"cache:{number}", Reply(body=bytes(MAX_REPLY_BYTES // 3)))
    kept = [number for number in range(100) if hot.find(request_key({}, b"%d" % number))]
    assert kept == list(range(100 - len(kept), 100))
    assert MAX_BYTES / 2 < len(kept) * MAX_REPLY_BYTES // 3 <= MAX_BYTES
    large = request_key({}, b"large")
    hot.keep(large, "cache:large", Reply(body=bytes(MAX_REPLY_BYTES + 1)))
    assert hot.find(large) is None


async def test_hits_are_counted_exactly(make: Make):
    """Ten requests are allowed within one isolate, the eleventh is not, whether or not they are hits."""
    service = make()
    for _ in range(10):
        await service.post()
    with pytest.raises(TooManyRequests):
        await service.post()
    with pytest.raises(TooManyRequests):
        await service.post(b'{"configuration": {}}')


async def test_hits_are_reported_in_one_call(make: Make):
    """The object learns of all hits together a second later, and another isolate then sees them."""
    service = make()
    for _ in range(8):
        await service.post()
    limit = service.objects.objects["192.0.2.1"].handlers
    calls = limit.count
    await service.later.run()
    assert limit.count == calls + 1
    other = make(service.world, service.objects)
    for _ in range(2):
        await other.post()
    await other.later.run()
    with pytest.raises(TooManyRequests):
        await other.post()


async def test_hits_of_other_isolates(make: Make):
    """An isolate learns of them when it reports its own; until then it allows no more than one limit."""
    service = make()
    other = make(service.world, service.objects)
    for _ in range(3):
        await service.post()
    await service.later.run()
    for _ in range(7):
        await other.post()
    await other.later.run()
    await service.post()
    await service.later.run()
    with pytest.raises(TooManyRequests):
        await service.post()


async def test_hits_of_a_new_window(make: Make):
    """What was counted in a window that is over counts no more."""
    service = make()
    for _ in range(10):
        await service.post()
    await service.later.run()
    service.world.clock.advance(60)
    for _ in range(10):
        await service.post()
    with pytest.raises(TooManyRequests):
        await service.post()


async def test_a_burst_after_a_pause_is_one_call(make: Make):
    """The object is not asked first: it hears of the hits together."""
    service = make()
    for _ in range(3):
        await service.post()
    await service.later.run()
    calls = service.objects.objects["192.0.2.1"].handlers.count
    service.world.clock.advance(20)
    for _ in range(5):
        await service.post()
    await service.later.run()
    assert service.objects.objects["192.0.2.1"].handlers.count == calls + 1


async def test_memory_is_not_used_with_turnstile(make: Make):
    """With Turnstile every body is checked: a token that was used once does not open the memory."""
    open_service = make()
    for _ in range(3):
        await open_service.post()
    guarded = make(open_service.world, open_service.objects, secret="s")
    with pytest.raises(Exception, match="token is required"):
        await guarded.post()


async def test_large_bodies_are_charged_before_they_are_read(make: Make):
    """Only a small body is read before the limit is charged."""
    service = make()
    for _ in range(10):
        await service.post()

    async def read_body(_max_bytes: int) -> bytes:
        raise AssertionError("the body was read")

    headers = Headers({"Content-Length": str(MAX_REQUEST_BYTES + 1), "CF-Connecting-IP": "192.0.2.1"})
    with pytest.raises(TooManyRequests):
        await service.api.compile(Request("POST", "https://sluice.test/compile", headers, read_body))


def test_few_clients_are_remembered():
    """The oldest of many clients is forgotten."""
    recent = RecentCounts()
    for number in range(MAX_RECENT_CLIENTS + 5):
        recent.get(str(number)).owed = 1
    assert len(recent.clients) == MAX_RECENT_CLIENTS
    assert recent.get("0").owed == 0
