"""The short memory before the edge cache: what is served from it, for how long, and what ends it."""

from fakes.clock import ManualClock
from sluice.core.ports import Content
from sluice.services.preload.ports import CachedResponse
from sluice.services.preload.serving.hot_edge import MAX_BODY_BYTES, MAX_PAGES, REMEMBERED_S, HotEdge, HotPages
from unit.services.preload.world import FakeEdge, PlainBodies

URL = "https://shop.example/"
NOW = 1_800_000_000.0


class CountingEdge(FakeEdge):
    """Counts how often it is read."""

    reads = 0

    async def match(self, url: str) -> CachedResponse | None:
        self.reads += 1
        return await super().match(url)


class Shop:
    def __init__(self) -> None:
        self.clock = ManualClock(NOW)
        self.edge = CountingEdge(self.clock)
        self.memory = HotPages()
        self.hot = HotEdge(self.edge, PlainBodies(), self.clock, self.memory)

    async def store(self, text: bytes, url: str = URL) -> None:
        content = Content(text, len(text))
        await self.hot.put(url, status=200, headers=(("cache-control", "max-age=300"),), content=content)

    async def read(self, url: str = URL) -> bytes:
        found = await self.hot.match(url)
        assert found is not None
        assert isinstance(found.content.data, bytes)
        return found.content.data


async def open_shop() -> Shop:
    shop = Shop()
    await shop.store(b"first")
    return shop


async def test_third_visit_reads_no_cache():
    """A page that is asked for twice is remembered, and not before: most pages are asked for once."""
    shop = await open_shop()
    assert [await shop.read() for _ in range(5)] == [b"first"] * 5
    assert shop.edge.reads == 2


async def test_memory_ends():
    """After two seconds the cache is read again, so that what another isolate has stored is seen."""
    shop = await open_shop()
    for _ in range(3):
        await shop.read()
    await shop.edge.put(URL, status=200, headers=(("cache-control", "max-age=300"),), content=Content(b"second", 6))
    assert await shop.read() == b"first"
    shop.clock.advance(REMEMBERED_S)
    assert await shop.read() == b"second"


async def test_own_changes_are_seen_at_once():
    """What this isolate stores or deletes replaces what it remembers."""
    shop = await open_shop()
    for _ in range(3):
        await shop.read()
    await shop.store(b"second")
    assert await shop.read() == b"second"
    await shop.hot.delete(URL)
    assert await shop.hot.match(URL) is None


async def test_large_pages_are_not_remembered():
    """Memory is bounded in bytes for each page and in pages."""
    shop = await open_shop()
    await shop.store(b"x" * (MAX_BODY_BYTES + 1))
    for _ in range(4):
        await shop.read()
    assert shop.edge.reads == 4
    for number in range(3 * MAX_PAGES):
        await shop.store(b"page", f"{URL}{number}")
        await shop.read(f"{URL}{number}")
    assert len(shop.memory.pages) <= MAX_PAGES
