"""Which zone a host belongs to, and which hosts are the API's."""

import json

from fakes.clock import ManualClock
from fakes.kv import FakeKV
from sluice.platform.storage.kv import KV
from sluice.services.preload.serving.host_directory import MAX_HOSTS, HostCache, HostDirectory, Zone


class Hosts:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.bound = FakeKV(self.clock)
        self.kv = KV(self.bound, self.clock)
        self.cache = HostCache()
        self.directory = HostDirectory("edge-preload", self.kv, self.clock, self.cache)

    async def register(self, zone_id: str, host: str) -> None:
        self.clock.advance(2)  # one write a second for each key
        await self.kv.put_text(f"host:{host}", zone_id)
        await self.kv.put_text(f"config:{zone_id}", json.dumps({"site_url": f"https://{host}"}))

    async def find(self, url: str) -> str | None:
        zone = await self.directory.find_zone(url)
        return None if zone is None else zone.zone_id

    @property
    def reads(self) -> int:
        return sum(name == "get" for name, _ in self.bound.operations)


async def test_hosts():
    """A host in KV is a zone's; the Worker's own hosts, unknown hosts and unreadable URLs are the API's."""
    hosts = Hosts()
    await hosts.register("z", "www.example.com")
    assert await hosts.find("https://WWW.example.com/a") == "z"
    for url in (
        "https://edge-preload.localhost/",
        "https://unknown.example/",
        "nonsense",
        "https://u:p@www.example.com/",
    ):
        assert await hosts.find(url) is None


async def test_dispatch():
    """A zone's URL goes to its pages, any other to the API."""
    hosts = Hosts()
    await hosts.register("z", "www.example.com")

    async def to_zone(zone: Zone) -> str:
        return f"page of {zone.config.site_url}"

    async def to_api() -> str:
        return "api"

    for url, reply in (
        ("https://www.example.com/health", "page of https://www.example.com"),
        ("https://edge-preload.localhost/health", "api"),
    ):
        assert await hosts.directory.dispatch(url, to_zone=to_zone, to_api=to_api) == reply


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
    """However many hosts are asked for, an isolate remembers a bounded number."""
    hosts = Hosts()
    for number in range(MAX_HOSTS + 5):
        await hosts.find(f"https://h{number}.example/")
    assert len(hosts.cache.hosts) <= MAX_HOSTS
