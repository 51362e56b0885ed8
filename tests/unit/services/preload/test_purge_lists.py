"""Purges that hold everywhere: what isolates know, for how long, and what they serve when the zone's object is silent."""

from itertools import pairwise
from typing import Any

import pytest

from sluice.core.errors import Unavailable
from sluice.core.json_text import encode_json
from sluice.core.ports import Content
from sluice.core.preload.purge_list import MAX_MARKS, Mark, PurgeList, PurgeVerdict, list_scopes
from sluice.core.preload.purges import Purge
from sluice.core.preload.zone_config import parse_config
from sluice.platform.storage.r2 import R2
from sluice.services.preload.discovery.page_index import Page, PageIndex
from sluice.services.preload.purge_lists.marks import KEPT_S
from sluice.services.preload.purge_lists.purge_reader import PurgeMemory, PurgeReader, ZonePurges
from sluice.services.preload.serving.copies import build_copy
from sluice.services.preload.serving.copy_store import CopyStore
from unit.services.preload.world import SITE, ZONE, World

PAGE = Page(f"{SITE}/a", "")


class Isolate:
    """A memory of its own, in the same data centre as the others."""

    def __init__(self, here: World) -> None:
        self.here = here
        self.reader = here.build_reader(PurgeMemory())
        index = PageIndex(here.database, ZONE)
        self.copies = CopyStore(ZONE, R2(here.bucket), here.edge, index, here.clock, self.reader)

    async def ask(self) -> int:
        """Ask the origin; return the number that the copy will carry."""
        await self.reader.read()
        return self.copies.latest_seq()

    async def store(self, seq: int | None = None, tags: str = "") -> None:
        now = self.here.clock.now()
        if seq is None:
            seq = await self.ask()
        headers = (("cache-control", "max-age=3600"), ("cache-tag", tags))
        copy = build_copy(PAGE, 200, headers, Content(b"x", 1), config=self.here.zone_config, now=now, seq=seq)
        await self.copies.store(copy, self.here.zone_config)

    async def is_served(self) -> bool:
        return await self.copies.load_from_edge(PAGE) is not None


async def accept(here: World, **what: Any) -> None:
    """Accept a purge without removing anything yet."""
    key = f"purge-7f6c4a3e-0000-4000-8000-{int(here.clock.now() * 1000) % 10**12:012d}"
    body = {"zone_id": ZONE, "idempotency_key": key, **what}
    await here.zone.purge(here.sign(body, "/api/v1/purge"), encode_json(body))


async def meet(**config: Any) -> tuple[World, Isolate, Isolate]:
    here = await World(**config).register()
    return here, Isolate(here), Isolate(here)


@pytest.mark.parametrize(
    "what",
    [{"global": True}, {"tags": ["post:1"]}, {"urls": [PAGE.url]}, {"prefixes": [f"{SITE}/"]}],
    ids=["everything", "tag", "url", "prefix"],
)
async def test_purge_holds_in_every_isolate(what: dict[str, Any]):
    """Two seconds after a purge no isolate serves the old copy, though nothing was removed and each has its own memory."""
    here, first, second = await meet()
    await first.store(tags="post:1")
    assert await first.is_served()
    assert await second.is_served()
    here.clock.advance(0.5)
    await accept(here, **what)
    here.clock.advance(2)
    assert not await first.is_served()
    assert not await second.is_served()
    await second.store(tags="post:1")
    assert await first.is_served()


async def test_other_pages_stay():
    """A purge of another tag, URL or prefix leaves the copy alone."""
    here, first, second = await meet()
    await first.store(tags="post:1")
    for what in ({"tags": ["post:2"]}, {"urls": [f"{SITE}/b"]}, {"prefixes": [f"{SITE}/a/"]}):
        here.clock.advance(3)
        await accept(here, **what)
    here.clock.advance(3)
    assert await first.is_served()
    assert await second.is_served()


async def test_number_of_the_time_when_the_origin_was_asked():
    """A copy whose origin was asked before the purge is not valid, however late it is stored."""
    here, first, second = await meet()
    asked = await first.ask()
    here.clock.advance(1)
    await accept(here, urls=[PAGE.url])
    here.clock.advance(5)
    await first.store(asked)
    assert not await first.is_served()
    assert not await second.is_served()


async def test_object_is_asked_seldom():
    """100 isolates of a data centre ask the object at most once a second; each knows a list for two seconds."""
    here = await World().register()
    asked: list[float] = []

    async def load() -> ZonePurges:
        asked.append(here.clock.now())
        return await here.zone.show_purges()

    readers = [
        PurgeReader(zone_id=ZONE, texts=here.edge, clock=here.clock, log=here.log, memory=PurgeMemory(), load=load)
        for _ in range(100)
    ]
    for _ in range(40):
        for reader in readers:
            assert await reader.read()
        here.clock.advance(0.25)
    assert len(asked) <= 10
    assert all(after - before >= 1 for before, after in pairwise(asked))


@pytest.mark.parametrize("by_s", [30.0, 86_400.0])
async def test_list_of_an_isolate_whose_clock_is_ahead(by_s: float):
    """A list that claims to be from the future is not believed: a purge holds for the other isolates of the data centre."""
    here, first, second = await meet()
    await first.store()
    here.clock.advance(by_s)
    await first.reader.read()
    here.clock.advance(-by_s)
    await accept(here, urls=[PAGE.url])
    here.clock.advance(here.zone_config.cache_purge_delay_s)
    assert not await second.is_served()


async def test_clock_that_goes_back():
    """An isolate whose clock goes back asks again at once, instead of when it has caught up."""
    here, first, _ = await meet()
    here.edge.get_text = keep_nothing  # type: ignore[method-assign]  # there is no other isolate
    await first.store()
    here.clock.advance(-3600)
    await accept(here, urls=[PAGE.url])
    here.clock.advance(here.zone_config.cache_purge_delay_s)
    assert not await first.is_served()


async def keep_nothing(url: str) -> str | None:
    del url
    return None


async def test_silent_object():
    """While the object does not answer, copies are served as unchecked, for at most 300 s, and few visitors wait for it."""
    here, first, _ = await meet()
    await first.store()

    asked: list[float] = []

    async def fail() -> dict[str, Any]:
        asked.append(here.clock.now())
        raise Unavailable("the object is away")

    object.__setattr__(first.reader, "load", fail)
    here.clock.advance(60)
    for _ in range(5):
        copy = await first.copies.load_from_edge(PAGE)
        assert copy is not None
        assert copy.is_unchecked
    assert len(asked) == 1
    here.clock.advance(250)
    assert not await first.is_served()


async def test_soft_purge():
    """After a soft purge the old copy may be served only while the origin fails; a later hard one ends that."""
    here, first, _ = await meet()
    await first.store()
    here.clock.advance(1)
    await accept(here, urls=[PAGE.url], soft=True)
    here.clock.advance(2)
    copy = await first.copies.load_from_edge(PAGE)
    assert copy is not None
    now = here.clock.now()
    assert (copy.may_serve_while_revalidating(now), copy.may_serve_on_error(now)) == (False, True)
    await accept(here, urls=[PAGE.url])
    here.clock.advance(2)
    assert not await first.is_served()


@pytest.mark.parametrize("soft", [True, False])
async def test_page_that_was_purged_while_it_was_fetched(soft: bool):
    """Visitors who wait for another's request of a page do not get what it brings if a purge came meanwhile, soft or not."""
    here, first, _ = await meet()
    seq, now = await first.ask(), here.clock.now()
    copy = build_copy(PAGE, 200, (), Content(b"x", 1), config=here.zone_config, now=now, seq=seq)
    assert await first.copies.is_valid(copy)
    await accept(here, urls=[PAGE.url], soft=soft)
    here.clock.advance(here.zone_config.cache_purge_delay_s)
    assert not await first.copies.is_valid(copy)


async def test_configuration_travels_with_the_list():
    """A change of the configuration holds in every isolate after the same delay, however old KV's value is."""
    here, first, _ = await meet()
    old = here.zone_config
    assert (await first.reader.read_config(old)).cache_enabled is True
    here.clock.advance(1)
    await here.zone.configure(encode_json({**here.config, "cache_enabled": False}))
    here.clock.advance(2)
    assert (await first.reader.read_config(old)).cache_enabled is False


async def test_delay_is_told():
    """The 202 says how long the purge takes to hold everywhere."""
    here = await World(cache_purge_delay_s=30).register()
    assert (await here.purge(urls=[PAGE.url])).reply["estimated_completion_ms"] == 30_000


async def test_rows_end():
    """A row goes when its copies are removed and no edge can have an older one."""
    here = await World(preload_post_purge=False).register()
    await here.purge(tags=["post:1"])
    assert len(here.services.marks.load().marks) == 1
    for _ in range(3):
        here.clock.advance(KEPT_S + 1)
        await here.zone.tick()
    assert not here.services.marks.load().marks


def make_purge(**what: Any) -> Purge:
    fields = {"tags": (), "urls": (), "everything": False, "created_at": 0.0, **what}
    return Purge(purge_id="p", idempotency_key="k", nonce="n", **fields)


async def test_very_many_rows():
    """One row for each tag; beyond 2,000 rows a purge of everything takes their place."""
    here = await World().register()
    marks = here.services.marks
    for _ in range(2):
        marks.add(make_purge(tags=("post:0",)))
    assert len(marks.load().marks) == 1
    for start in range(0, MAX_MARKS + 30, 30):
        marks.add(make_purge(tags=tuple(f"post:{n}" for n in range(start, start + 30))))
    purges = marks.load()
    assert len(purges.marks) <= MAX_MARKS
    assert purges.judge(PAGE.url, [], 0) is PurgeVerdict.PURGED
    assert purges.judge(PAGE.url, [], purges.seq) is PurgeVerdict.VALID


def test_judging():
    """A copy is valid if no later purge covers it; the list survives its encoding."""
    purges = PurgeList(9, {"*": Mark(3, 3), "t:a": Mark(9, 5), "p:https://e.com/blog": Mark(7, 7)})
    assert PurgeList.from_json(purges.as_json()) == purges
    cases = [
        ("https://e.com/x", ["b"], 3, PurgeVerdict.VALID),
        ("https://e.com/x", ["b"], 2, PurgeVerdict.PURGED),
        ("https://e.com/x", ["a"], 4, PurgeVerdict.PURGED),
        ("https://e.com/x", ["a"], 5, PurgeVerdict.SOFT),
        ("https://e.com/x", ["a"], 9, PurgeVerdict.VALID),
        ("https://e.com/blog/x", [], 6, PurgeVerdict.PURGED),
        ("https://e.com/blogroll", [], 6, PurgeVerdict.VALID),
    ]
    assert [purges.judge(url, tags, seq) for url, tags, seq, _ in cases] == [verdict for *_, verdict in cases]
    assert list_scopes(make_purge(tags=("a",), prefixes=("https://e.com/b",))) == ["t:a", "p:https://e.com/b"]
    assert parse_config({"site_url": SITE}).cache_purge_delay_s == 2


def build_purge(number: int, *, soft: bool = False, at: float = 0, url: str = "") -> Purge:
    return Purge(
        purge_id=f"p{number}", idempotency_key="k", nonce="n", tags=(), urls=(url or f"{SITE}/{number}",),
        everything=False, created_at=at, soft=soft,
    )  # fmt: skip


def test_oldest_marks_are_looked_at_first():
    """Those of purges that no edge may have missed, up to a number, and none while a purge is carried out."""
    here = World()
    marks = here.services.purger.marks
    for number, at in ((1, 30.0), (2, 10.0), (3, 20.0), (4, 40.0)):
        assert marks.add(build_purge(number, at=at)) == number

    def find(now: float, limit: int = 9, latest_seq: int = 9) -> list[int]:
        return [mark.seq for mark in marks.list_old(now, limit, latest_seq=latest_seq).values()]

    assert find(KEPT_S + 31) == [2, 3, 1]
    assert find(KEPT_S + 30) == [2, 3]
    assert find(KEPT_S + 31, limit=1) == [2]
    assert find(KEPT_S + 31, latest_seq=2) == [2, 1]
    here.services.purger.accept(build_purge(5))
    assert find(KEPT_S + 31) == []


def test_mark_that_a_later_purge_has_changed():
    """It keeps the number of the latest purge, and of the latest that was not soft, and is not forgotten with the old one."""
    marks = World().services.purger.marks
    marks.add(build_purge(1, url=f"{SITE}/a"))
    marks.add(build_purge(2))
    old = marks.list_old(KEPT_S + 1, 9, latest_seq=9)
    marks.add(build_purge(3, soft=True, at=9, url=f"{SITE}/a"))
    marks.forget(old)
    assert marks.list_old(KEPT_S + 10, 9, latest_seq=9) == {f"u:{SITE}/a": Mark(3, 1)}
    assert marks.latest() == 3
