"""Whose a host is: a zone's, the API's, or nobody's."""

import json
from typing import Any

import pytest

from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from sluice.core.errors import NotFound, Unavailable
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.services.preload.serving.failure_pages import build_failure_reply
from sluice.services.preload.serving.host_directory import MAX_HOSTS, HostCache, HostDirectory, Zone
from sluice.web import Headers, Request
from unit.services.preload.world import MIGRATIONS, ZONE, ListLog, World


class BrokenKV(FakeKV):
    """Fails while it is down."""

    is_down = False

    async def get(self, *arguments: Any) -> Any:
        if self.is_down:
            raise Unavailable("KV is down")
        return await super().get(*arguments)


class Hosts:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.bound = BrokenKV(self.clock)
        self.kv = KV(self.bound, self.clock)
        self.d1 = FakeD1()
        for path in MIGRATIONS:
            self.d1.migrate(path.read_text())
        self.objects: dict[str, Any] = {}
        self.cache = HostCache()
        self.directory = HostDirectory(
            read_api_hosts=lambda: ("*.workers.dev", "*.localhost", "api.example.com"),
            kv=self.kv,
            database=D1(self.d1),
            clock=self.clock,
            log=ListLog(),
            cache=self.cache,
            load_config=self.load_config,
        )

    async def load_config(self, zone_id: str) -> Any:
        if zone_id not in self.objects:
            raise NotFound("not registered")
        return {"config": self.objects[zone_id]}

    async def register(self, zone_id: str, host: str) -> None:
        self.clock.advance(2)  # one write a second for each key
        await self.kv.put_text(f"host:{host}", zone_id)
        await self.kv.put_text(f"config:{zone_id}", json.dumps({"site_url": f"https://{host}"}))

    async def break_config(self, zone_id: str, text: str) -> None:
        self.clock.advance(40)
        await self.kv.put_text(f"config:{zone_id}", text)
        self.clock.advance(70)

    async def find(self, url: str) -> str | None:
        zone = await self.directory.find_zone(url)
        return None if zone is None else zone.zone_id

    async def dispatch(self, url: str) -> str:
        async def to_zone(zone: Zone) -> str:
            return f"page of {zone.config.site_url}"

        async def to_api() -> str:
            return "api"

        async def to_nobody() -> str:
            return "nobody"

        return await self.directory.dispatch(url, to_zone=to_zone, to_api=to_api, to_nobody=to_nobody)

    @property
    def reads(self) -> int:
        return sum(name == "get" for name, _ in self.bound.operations)


async def test_dispatch():
    """A zone's URL goes to its pages, the Worker's own hosts to the API, and unknown hosts to their own server."""
    hosts = Hosts()
    await hosts.register("z", "www.example.com")
    for url, reply in (
        ("https://www.example.com/health", "page of https://www.example.com"),
        ("https://WWW.example.com/a", "page of https://www.example.com"),
        ("https://edge-preload.localhost:8787/health", "api"),
        ("https://edge-preload.someone.workers.dev/", "api"),
        ("https://api.example.com/", "api"),
        ("https://workers.dev.evil.example/", "nobody"),
        ("https://unknown.example/", "nobody"),
        ("http://127.0.0.1:8787/", "nobody"),
        ("nonsense", "nobody"),
    ):
        assert await hosts.dispatch(url) == reply, url


async def test_a_zone_wins():
    """A host of a zone is the zone's, even if it is among the API's; on another port it is nobody's."""
    hosts = Hosts()
    await hosts.register("z", "shop.localhost:8080")
    hosts.d1.migrate("INSERT INTO zone_hosts VALUES ('shop.localhost:8080', 'z', 'shop.localhost', 1)")
    assert await hosts.dispatch("http://shop.localhost:8080/") == "page of https://shop.localhost:8080"
    assert await hosts.dispatch("http://shop.localhost:9999/") == "nobody"


async def test_new_isolate_without_kv():
    """Without KV an isolate that knows nothing finds the zone in D1 and the configuration in the zone's object."""
    hosts = Hosts()
    hosts.d1.migrate("INSERT INTO zone_hosts VALUES ('www.example.com', 'z', 'www.example.com', 1)")
    hosts.objects["z"] = {"site_url": "https://www.example.com"}
    hosts.bound.is_down = True
    assert await hosts.dispatch("https://www.example.com/") == "page of https://www.example.com"
    assert await hosts.dispatch("https://unknown.example/") == "nobody"


async def test_d1_is_down():
    """The API answers on the Worker's own hosts without D1."""
    hosts = Hosts()
    hosts.d1.migrate("DROP TABLE zone_hosts")
    assert await hosts.dispatch("https://api.example.com/health") == "api"


async def test_remembered_for_30_seconds():
    """A lookup, also one without a zone, is remembered for 30 s, and forgotten when a configuration changes."""
    hosts = Hosts()
    await hosts.register("z", "www.example.com")
    assert await hosts.find("https://www.example.com/") == "z"
    reads = hosts.reads
    await hosts.register("other", "www.example.com")
    hosts.clock.advance(27)
    assert (await hosts.find("https://www.example.com/"), hosts.reads) == ("z", reads)
    hosts.clock.advance(2)
    assert await hosts.find("https://www.example.com/") == "other"
    assert await hosts.find("https://new.example/") is None
    await hosts.register("new", "new.example")
    assert await hosts.find("https://new.example/") is None
    hosts.cache.clear()
    assert await hosts.find("https://new.example/") == "new"


async def test_bounded():
    """A flood of host names does not fill the memory."""
    hosts = Hosts()
    for number in range(MAX_HOSTS + 10):
        assert await hosts.find(f"https://h{number}.example/") is None
    assert len(hosts.cache.hosts) <= MAX_HOSTS


async def test_broken_configuration():
    """With bad JSON, an unknown key or nothing in KV, the configuration that the zone's object has serves."""
    hosts = Hosts()
    await hosts.register("z", "www.example.com")
    hosts.objects["z"] = {"site_url": "https://www.example.com", "cache_tier": "minimal"}
    for text in ("{", '{"site_url": "https://www.example.com", "unknown": 1}', "null"):
        await hosts.break_config("z", text)
        zone = await hosts.directory.find_zone("https://www.example.com/")
        assert zone is not None
        assert zone.config.cache_tier == "minimal"


async def test_kv_is_down():
    """The isolate's last good configuration serves; an isolate that has none sends requests to their own address."""
    hosts = Hosts()
    await hosts.register("z", "www.example.com")
    assert await hosts.find("https://www.example.com/") == "z"
    hosts.bound.is_down = True
    hosts.clock.advance(3600)
    assert await hosts.find("https://www.example.com/") == "z"
    hosts.cache.clear()
    assert await hosts.dispatch("https://www.example.com/") == "nobody"


async def test_host_of_several_zones_while_kv_is_down():
    """The zone that was configured for the host last serves it, as its object has it."""
    hosts = Hosts()
    for zone_id, host, at in (("first", "www", 1), ("last", "www", 3), ("second", "www", 2), ("other", "shop", 9)):
        name = f"{host}.example.com"
        hosts.d1.migrate(f"INSERT INTO zone_hosts VALUES ('{name}', '{zone_id}', '{name}', {at})")  # noqa: S608
        hosts.objects[zone_id] = {"site_url": f"https://{name}"}
    hosts.bound.is_down = True
    assert await hosts.find("https://www.example.com/") == "last"


async def test_shared_host():
    """Of two zones that name one host the one configured last serves it; without that one, the other does."""
    world = await World(hosts=["shared.example"]).register()
    world.clock.advance(2)
    assert await world.kv.get_text("host:shared.example") == "abc123xyz"
    await world.database.run("INSERT INTO zone_hosts VALUES ('shared.example', 'other', 'shared.example', 1)")
    world.clock.advance(60)
    await world.zone.unregister()
    world.clock.advance(60)
    assert await world.kv.get_text("host:shared.example") == "other"
    assert await world.kv.get_text("host:www.example.com") is None


async def test_released_host_goes_to_who_was_configured_last():
    """Of several other zones that want the host, the one that was configured last gets it."""
    world = await World(hosts=["shared.example"]).register()
    host = "shared.example"
    await world.kv.put_text(f"host:{host}", ZONE)
    for zone_id, at in (("first", 1), ("last", 3), ("second", 2)):
        world.d1.migrate(f"INSERT INTO zone_hosts VALUES ('{host}', '{zone_id}', '{host}', {at})")  # noqa: S608
    await world.services.publisher.erase(world.zone_config)
    assert await world.kv.get_text(f"host:{host}") == "last"
    rows = await world.rows("SELECT zone_id FROM zone_hosts WHERE host = ? ORDER BY zone_id", host)
    assert [row["zone_id"] for row in rows] == ["first", "last", "second"]


@pytest.mark.parametrize(("status", "retry_after"), [(503, "60"), (502, None)])
@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_failure_page(status: int, retry_after: str | None, accept: str):
    """A visitor is asked to come again after a failure of this cache, in whichever form he reads it."""
    request = Request("GET", "https://example.com/", Headers({"accept": accept}))
    reply = build_failure_reply(request, status, "example.com")
    assert (reply.status, reply.header("Retry-After")) == (status, retry_after)
    assert ("text/html" in (reply.header("Content-Type") or "")) == (accept == "text/html")
