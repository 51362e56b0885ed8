"""Purges, visitors and warming in every order: in the end nobody gets content from before the last purge."""

import asyncio
import random
from collections.abc import Awaitable
from typing import Any

import pytest

from sluice.core.json_text import encode_json
from sluice.core.ports import Content, HeaderPairs
from sluice.platform.storage.r2 import R2
from sluice.services.preload.discovery.page_index import Page, PageIndex
from sluice.services.preload.purge_lists.marks import KEPT_S
from sluice.services.preload.purge_lists.purge_reader import PurgeMemory, PurgeReader, ZonePurges
from sluice.services.preload.serving.copies import build_copy
from sluice.services.preload.serving.copy_store import CopyStore
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.serving.purging import PAGES
from sluice.web import Headers, Reply, Request
from sluice.web.messages import Native
from unit.services.preload.world import (
    SITE,
    ZONE,
    OriginReply,
    VisitorsOrigin,
    World,
    read_data,
    read_reply,
)

PAGE = Page(f"{SITE}/", "")
SCOPES = ({"global": True}, {"tags": ["home"]}, {"urls": [PAGE.url]}, {"prefixes": [f"{SITE}/"]})
TAGGED = (("cache-control", "max-age=86400"), ("cache-tag", "home"), ("content-type", "text/html"))


class Site:
    """An origin whose page says which edition it is, a zone before it, and isolates with memories of their own."""

    def __init__(self, here: World, chance: random.Random) -> None:
        self.here = here
        self.chance = chance
        self.edition = 1
        here.origin.default = self.show
        for part, names in (
            (here.database, ("all", "batch", "run", "value")),
            (here.services.outside.bucket, ("put", "delete", "open", "head", "get_bytes")),
            (here.edge, ("put", "match", "delete", "get_text", "put_text")),
            (here, ("_send",)),
        ):
            for name in names:
                self._delay(part, name)

    def _delay(self, part: Any, name: str) -> None:
        """Let other tasks run before and after each call to the platform, a random number of steps."""
        call = getattr(part, name)

        async def delayed(*arguments: Any, **named: Any) -> Any:
            await self.pause()
            result = await call(*arguments, **named)
            await self.pause()
            return result

        setattr(part, name, delayed)

    async def pause(self) -> None:
        for _ in range(self.chance.choice((0, 0, 1, 2, 5, 15))):
            await asyncio.sleep(0)

    async def show(self, _headers: HeaderPairs) -> OriginReply:
        edition = self.edition
        await self.pause()
        etag = ("etag", f'"{edition}"')
        return OriginReply(headers=(*TAGGED, etag), body=str(edition).encode())

    async def visit(self, memory: IsolateMemory, purges: PurgeMemory) -> Reply:
        deferred: list[Awaitable[None]] = []
        server = self.here.build_page_server(VisitorsOrigin(self.here.origin), deferred.append, memory, purges)
        reply = await server.handle(Request("GET", PAGE.url, Headers({})))
        for each in deferred:
            await each
        return reply

    async def change(self, what: dict[str, Any], *, soft: bool) -> None:
        """The page changes at the origin, and then it is purged."""
        await self.pause()
        self.edition += 1
        body = {"zone_id": ZONE, "idempotency_key": f"purge-7f6c4a3e-0000-4000-8000-{self.edition:012d}", **what}
        await self.here.zone.purge(
            self.here.sign(body, "/api/v1/purge"), encode_json(body | ({"soft": True} if soft else {}))
        )
        await self.here.zone.settle()

    async def read(self) -> str:
        """Return what a visitor sees who comes to an isolate that knows nothing yet."""
        return await read_body(await self.visit(IsolateMemory(), PurgeMemory()))


@pytest.mark.parametrize("seed", range(30))
async def test_every_order(seed: int):
    """Two isolates, the drain and a purge at once: after the delay, and when its row is gone, all see the last edition."""
    chance = random.Random(seed)
    here = await World(preload_post_purge=chance.random() < 0.5).register()
    site = Site(here, chance)
    isolates = [(IsolateMemory(), PurgeMemory()) for _ in range(2)]
    if chance.random() < 0.7:
        await site.visit(*isolates[0])
    for _ in range(2):
        here.clock.advance(chance.choice((0, 0.5, 3)))
        await here.zone.enqueue(encode_json({"urls": [PAGE.url]}))
        scope, soft = chance.choice(SCOPES), chance.random() < 0.4
        await asyncio.gather(
            site.change(scope, soft=soft),
            here.object.handle_alarm(),
            *(site.visit(*isolate) for isolate in isolates for _ in range(2)),
        )
    here.clock.advance(here.zone_config.cache_purge_delay_s)
    for isolate in (*isolates, (IsolateMemory(), PurgeMemory())):
        reply = await site.visit(*isolate)
        assert await read_body(reply) == str(site.edition)
    here.services.state.put(paused=True)
    while here.services.purger.load_next():
        await here.object.calls(ZONE).background.carry_out_purges()
    here.edge.stored.clear()
    for _ in range(3):
        here.clock.advance(KEPT_S + 1)
        await here.zone.tick()
        assert await site.read() == str(site.edition)


async def read_body(reply: Reply) -> str:
    assert isinstance(reply.body, Native)
    return (await read_data(Content(reply.body.value, None))).decode()


def open_copies(here: World) -> CopyStore:
    reader = here.build_reader(PurgeMemory())
    return CopyStore(ZONE, R2(here.bucket), here.edge, PageIndex(here.database, ZONE), here.clock, reader)


def reader_of(copies: CopyStore) -> PurgeReader:
    assert isinstance(copies.numbers, PurgeReader)
    return copies.numbers


async def store(here: World, copies: CopyStore, seq: int) -> None:
    now, config = here.clock.now(), here.zone_config
    copy = build_copy(PAGE, 200, TAGGED, Content(b"x", 1), config=config, now=now, seq=seq)
    await copies.store(copy, config)


async def die(*_: object) -> bool:
    raise asyncio.CancelledError


async def test_list_that_arrives_after_the_origin_was_asked():
    """A list that was asked for earlier and arrives later may name a purge that came in between: it says nothing about the copy."""
    here = await World().register()
    copies = open_copies(here)
    load, answer = reader_of(copies).load, asyncio.Event()

    async def load_slowly() -> ZonePurges:
        await answer.wait()
        return await load()

    await reader_of(copies).read()
    here.clock.advance(3)
    object.__setattr__(reader_of(copies), "load", load_slowly)
    reading = asyncio.ensure_future(reader_of(copies).read())
    await asyncio.sleep(0)
    here.clock.advance(0.1)
    asked = copies.latest_seq()
    here.clock.advance(0.1)
    await here.purge(tags=["home"])
    answer.set()
    await reading
    await store(here, copies, asked)
    assert await copies.load_from_edge(PAGE) is None
    assert await copies.load_from_bucket(PAGE) is None


async def test_purge_at_the_same_tick_of_the_clock():
    """A Worker's clock stands still between two events, so that no time tells which of two came first."""
    here = await World(preload_post_purge=False).register()

    body = {"zone_id": ZONE, "idempotency_key": "purge-7f6c4a3e-0000-4000-8000-000000000001", "tags": ["home"]}

    async def purge_meanwhile(_headers: HeaderPairs) -> OriginReply:
        here.origin.default = OriginReply(headers=TAGGED, body=b"new")
        await here.zone.purge(here.sign(body, "/api/v1/purge"), encode_json(body))
        return OriginReply(headers=TAGGED, body=b"old")

    here.origin.default = purge_meanwhile
    await here.enqueue("/")
    await here.drain()
    copy = await open_copies(here).load_from_bucket(PAGE)
    assert copy is None or await read_data(copy.content) == b"new"


async def test_copy_that_is_stored_when_its_purge_is_over():
    """The isolate dies before it looks into the log: the row of the purge stays until that copy is gone."""
    here = await World(preload_post_purge=False).register()
    copies = open_copies(here)
    await reader_of(copies).read()
    asked = copies.latest_seq()
    await here.purge(tags=["home"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CopyStore, "_is_purged", die)
        with pytest.raises(asyncio.CancelledError):
            await store(here, copies, asked)
    here.edge.stored.clear()
    for _ in range(4):
        here.clock.advance(KEPT_S + 1)
        assert await open_copies(here).load_from_bucket(PAGE) is None
        await here.zone.tick()
    assert not here.services.marks.load().marks
    assert not here.bucket._objects


async def test_copy_that_is_stored_while_its_purge_removes_it():
    """Between the deletion of the object and that of the row an isolate stores the old copy again, and dies: nobody ever gets it."""
    here = await World(preload_post_purge=False).register()
    copies = open_copies(here)
    await reader_of(copies).read()
    asked, remove = copies.latest_seq(), PageIndex.remove
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CopyStore, "_put_into_bucket", die)
        with pytest.raises(asyncio.CancelledError):
            await store(here, copies, asked)

    async def remove_late(index: PageIndex, *arguments: Any, **named: Any) -> None:
        copy = build_copy(PAGE, 200, TAGGED, Content(b"x", 1), config=here.zone_config, now=here.clock.now(), seq=asked)
        assert await copies._put_into_bucket(copy)
        await remove(index, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PageIndex, "remove", remove_late)
        await here.purge(tags=["home"])
    assert here.bucket._objects
    for _ in range(5):
        here.clock.advance(KEPT_S + 1)
        await here.zone.tick()
        assert await open_copies(here).load_from_bucket(PAGE) is None
    assert not here.services.marks.load().marks
    assert not here.bucket._objects
    assert await here.rows("SELECT 1 FROM removed_pages") == []


async def test_copy_that_is_stored_while_its_page_is_removed():
    """A copy that was stored while its page was found to be gone is in no index, so no purge would find it: it goes."""
    here = await World(preload_post_purge=False).register()
    copies, remove = open_copies(here), PageIndex.remove
    await store(here, copies, 0)

    async def remove_late(index: PageIndex, *arguments: Any, **named: Any) -> None:
        copy = build_copy(PAGE, 200, TAGGED, Content(b"x", 1), config=here.zone_config, now=here.clock.now(), seq=0)
        assert await copies._put_into_bucket(copy)
        await remove(index, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PageIndex, "remove", remove_late)
        await copies.remove([PAGE])
    assert here.bucket._objects
    here.clock.advance(KEPT_S + 1)
    await here.zone.tick()
    assert not here.bucket._objects


async def test_page_that_is_stored_again_stays():
    """What is stored after a removal is not removed by the second look."""
    here = await World(preload_post_purge=False).register()
    copies = open_copies(here)
    await store(here, copies, 0)
    await copies.remove([PAGE])
    await store(here, copies, 0)
    for _ in range(3):
        here.clock.advance(KEPT_S + 1)
        await here.zone.tick()
    assert await open_copies(here).load_from_bucket(PAGE)
    assert await here.rows("SELECT 1 FROM removed_pages") == []


async def test_soft_purge_lasts_beside_a_larger_one():
    """However many copies another purge still covers, the row of a purge stays as long as the copy that it covers."""
    here = await World(preload_post_purge=False).register()
    here.origin.default = OriginReply(headers=TAGGED)
    await here.enqueue(*(f"/{n}" for n in range(PAGES)))
    await here.drain()
    here.origin.default = OriginReply(headers=(TAGGED[0], TAGGED[2]))
    await here.enqueue("/")
    await here.drain()
    here.clock.advance(1)
    await here.purge(tags=["home"], soft=True)
    await here.purge(urls=[PAGE.url], soft=True)
    for _ in range(4):
        here.clock.advance(KEPT_S + 1)
        await here.zone.tick()
        copy = await open_copies(here).load_from_bucket(PAGE)
        assert copy is not None
        assert not copy.is_fresh(here.clock.now())


async def test_soft_purge_lasts():
    """The copy that a soft purge leaves is never fresh again, however long ago the purge was."""
    here = await World(preload_post_purge=False).register()
    await here.enqueue("/")
    here.origin.default = OriginReply(headers=TAGGED)
    await here.drain()
    here.clock.advance(1)
    await here.purge(tags=["home"], soft=True)
    for _ in range(3):
        here.clock.advance(KEPT_S + 1)
        await here.zone.tick()
        copy = await open_copies(here).load_from_bucket(PAGE)
        assert copy is not None
        assert not copy.is_fresh(here.clock.now())
        assert copy.may_serve_on_error(here.clock.now())
    await here.enqueue("/")
    await here.drain()
    here.clock.advance(KEPT_S + 1)
    await here.zone.tick()
    assert not here.services.marks.load().marks


async def test_newer_copy_stays():
    """What was fetched after a purge is not removed by it, and counts as replaced."""
    here = await World(preload_post_purge=False).register()
    copies = open_copies(here)
    await store(here, copies, 0)
    body = {"zone_id": ZONE, "idempotency_key": "purge-7f6c4a3e-0000-4000-8000-000000000001", "urls": [PAGE.url]}
    purge_id = read_reply(await here.zone.purge(here.sign(body, "/api/v1/purge"), encode_json(body))).reply["purge_id"]
    await store(here, copies, 1)
    await here.drain()
    assert await open_copies(here).load_from_bucket(PAGE)
    progress = await here.zone.show_purge(purge_id)
    assert (progress["state"], progress["pages_removed"]) == ("done", 1)


async def test_soft_purge_counts_what_is_replaced():
    """A page counts as removed when its old copy is replaced, not when the purge has looked at it."""
    here = await World(preload_post_purge=False).register()
    here.origin.default = OriginReply(headers=TAGGED)
    await here.enqueue("/", "/other")
    await here.drain()
    here.clock.advance(1)
    purge_id = (await here.purge(tags=["home"], soft=True)).reply["purge_id"]
    assert (await here.zone.show_purge(purge_id))["pages_removed"] == 0
    await here.enqueue("/")
    await here.drain()
    assert (await here.zone.show_purge(purge_id))["pages_removed"] == 1


async def test_purged_each_second():
    """Two isolates and a purge each second: no content older than the delay, and the origin is asked at most twice for each purge."""
    here = await World(preload_post_purge=False).register()
    site = Site(here, random.Random(0))
    isolates = [(IsolateMemory(), PurgeMemory()) for _ in range(2)]
    held: list[tuple[float, int]] = []
    here.origin.requests.clear()
    for tick in range(200):
        now = here.clock.now()
        if tick % 10 == 0:
            await site.change({"global": True}, soft=False)
            while here.services.purger.load_next():
                await here.object.calls(ZONE).background.carry_out_purges()
            held.append((now + here.zone_config.cache_purge_delay_s, site.edition))
        oldest = max((edition for at, edition in held if at <= now), default=1)
        for isolate in isolates:
            assert int(await read_body(await site.visit(*isolate))) >= oldest
        here.clock.advance(0.1)
    assert len(here.origin.requests) <= 2 * len(held)
