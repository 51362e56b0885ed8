"""The index of stored pages: what a purge finds, what analytics know, and that zones never see each other's pages."""

from collections.abc import Sequence
from typing import Any

import pytest

from fakes.d1 import FakeD1
from fakes.objects import FakeStorage
from sluice.core.preload.priority import Facts
from sluice.core.preload.purge_list import Mark
from sluice.core.preload.purges import Purge
from sluice.core.preload.zone_config import parse_config
from sluice.platform.durable_objects import Sql
from sluice.platform.storage.d1 import D1
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import MONTH_S, KnownFacts, Page, PageIndex
from sluice.services.preload.http.configure import CONFIGURE
from sluice.services.preload.purge_lists.log import PurgeLog
from sluice.services.preload.traffic.coverage import Coverage, load_coverage
from sluice.services.preload.zone.schema import create_tables
from unit.services.preload.world import MIGRATIONS

SITE = "https://example.com"
NOW = 1_800_000_000.0


class Zones:
    """Two zones in one database; the other one has the same pages, and nothing that is done to the first may show there."""

    def __init__(self) -> None:
        fake = FakeD1()
        for path in MIGRATIONS:
            fake.migrate(path.read_text())
        self.database = D1(fake)
        self.index, self.other = PageIndex(self.database, "one"), PageIndex(self.database, "other")
        self.log, self.other_log = PurgeLog(self.database, "one"), PurgeLog(self.database, "other")

    async def remove(self, pages: Sequence[Page], below_seq: int | None = None) -> None:
        """Remove the pages of the first zone."""
        await self.index.remove(pages, below_seq=below_seq, latest_seq=below_seq or 0, removed_at=NOW)

    async def store(self, path: str, *tags: str, variant: str = "", seq: int = 0, fresh_s: float = 600) -> Page:
        """Store a page in both zones."""
        page = Page(SITE + path, variant)
        for index in (self.index, self.other):
            await index.store(page, hashed="h", stored_at=NOW, fresh_until=NOW + fresh_s, size=1, tags=tags, seq=seq)
        return page

    async def dump(self, zone_id: str = "other") -> list[object]:
        """Return all rows of a zone."""
        tables = ("cached_pages", "page_tags", "page_facts", "purge_log")
        return [
            await self.database.all(f"select * from {table} where zone_id = ?", zone_id)  # noqa: S608 - only constants
            for table in tables
        ]


async def test_tagged_pages():
    """Those with one of the tags whose copies are older than the purge; a copy that is stored anew has its new tags."""
    zones = Zones()
    old = await zones.store("/old", "a", "b")
    await zones.store("/new", "a", seq=5)
    await zones.store("/plain", "c")
    retagged = await zones.store("/retagged", "a")
    assert set(await zones.index.list_tagged(["a", "b"], 10, below_seq=5)) == {old, retagged}
    await zones.store("/retagged", "c", variant="mobile")
    await zones.index.store(retagged, hashed="h", stored_at=NOW, fresh_until=NOW, size=1, tags=["c"], seq=0)
    assert await zones.index.list_tagged(["a", "b"], 10, below_seq=5) == [old]
    assert len(await zones.index.list_tagged(["a", "c"], 10, below_seq=6)) == 5
    assert len(await zones.index.list_tagged(["a", "c"], 3, below_seq=6)) == 3
    assert retagged in await zones.other.list_tagged(["a"], 10, below_seq=1)


async def test_pages_below_a_url():
    """The page itself, what follows a slash, and its queries; not what merely begins with the same letters."""
    zones = Zones()
    below = [await zones.store(path) for path in ("/blog", "/blog/post", "/blog?page=2")]
    await zones.store("/blogroll")
    await zones.store("/blog/newer", seq=7)
    assert set(await zones.index.list_prefixed([f"{SITE}/blog"], 10, below_seq=7)) == set(below)
    assert set(await zones.index.list_prefixed([f"{SITE}/blog/"], 10, below_seq=7)) == {below[1]}
    assert len(await zones.index.list_prefixed([f"{SITE}/blog", f"{SITE}/blog/"], 10, below_seq=8)) == 4
    assert len(await zones.index.list_prefixed([f"{SITE}/"], 2, below_seq=8)) == 2


async def test_pages_that_a_soft_purge_has_seen():
    """Its own round does not find them again; a later purge does."""
    zones = Zones()
    page, unseen = await zones.store("/a", "t"), await zones.store("/b", "t")
    await zones.store("/c", "t", seq=9)
    before = await zones.dump()
    await zones.index.mark_seen([page], 5)
    await zones.index.mark_seen([page], 4)
    assert await zones.index.list_any(10, below_seq=5) == [unseen]
    assert await zones.index.list_tagged(["t"], 10, below_seq=5) == [unseen]
    assert await zones.index.list_prefixed([SITE], 10, below_seq=5) == [unseen]
    assert await zones.index.list_variants([page.url, unseen.url], below_seq=5) == [unseen]
    assert await zones.index.list_any(10, below_seq=6) == [page, unseen]
    assert len(await zones.index.list_any(1, below_seq=6)) == 1
    assert await zones.dump() == before


async def test_variants():
    """All variants of the pages that are named, and of no others."""
    zones = Zones()
    plain, mobile = await zones.store("/a"), await zones.store("/a", variant="mobile")
    await zones.store("/b")
    assert await zones.index.list_variants([plain.url]) == [plain, mobile]


async def test_removal():
    """The pages go with their tags; with a number, those stay whose copy is newer, and other zones keep theirs."""
    zones = Zones()
    old, new = await zones.store("/old", "t"), await zones.store("/new", "t", seq=5)
    kept = await zones.store("/kept", "t")
    before = await zones.dump()
    await zones.remove([old, new], below_seq=5)
    assert set(await zones.index.list_tagged(["t"], 10, below_seq=99)) == {new, kept}
    await zones.remove([old, new])
    assert await zones.index.list_tagged(["t"], 10, below_seq=99) == [kept]
    assert await zones.index.list_any(10, below_seq=99) == [kept]
    tags = await zones.database.all("select url from page_tags where zone_id = 'one'")
    assert [row["url"] for row in tags] == [kept.url]
    assert await zones.dump() == before


async def test_removal_spares_only_the_newer_variant():
    """Of a page with two variants the one whose copy is newer stays, although the other one has no number."""
    zones = Zones()
    old, new = await zones.store("/a", "t"), await zones.store("/a", "t", variant="mobile", seq=5)
    await zones.store("/b", seq=9)
    await zones.remove([old, new], below_seq=5)
    assert await zones.index.list_variants([old.url]) == [new]


async def test_renewal():
    """A copy that has not changed is fresh for longer, unless it was stored anew meanwhile."""
    zones = Zones()
    page, bystander = await zones.store("/a"), await zones.store("/a", variant="mobile")
    before = await zones.dump()
    assert not await zones.index.renew(page, renewed_at=NOW + 9, fresh_until=NOW + 900, stored_before=NOW - 1)
    assert await zones.index.load_renewed_at(page) is None
    assert await zones.index.renew(page, renewed_at=NOW + 9, fresh_until=NOW + 900, stored_before=NOW)
    assert await zones.index.load_renewed_at(page) == NOW + 9
    assert await zones.index.load_renewed_at(bystander) is None
    assert await zones.index.load_renewed_at(Page(f"{SITE}/none", "")) is None
    assert await zones.index.list_expired(10, before=NOW + 900) == [bystander]
    assert await zones.dump() == before


async def test_unreadable_copy():
    """It counts as missing and is still found; a newer copy is left alone."""
    zones = Zones()
    page, bystander = await zones.store("/a"), await zones.store("/b")
    before = await zones.dump()
    await zones.index.mark_unreadable(page, stored_before=NOW - 1)
    assert await zones.index.list_expired(10, before=1) == []
    await zones.index.mark_unreadable(page, stored_before=NOW)
    assert await zones.index.list_expired(10, before=1) == [page]
    assert await zones.index.list_any(10, below_seq=1) == [page, bystander]
    assert await zones.dump() == before


async def test_queries_of_a_path():
    """Each query counts once, whatever its variants; the path itself, other paths and the named query do not."""
    zones = Zones()
    for path in ("/s", "/s?q=1", "/s?q=2", "/s?q=3", "/s/x", "/st?q=1"):
        await zones.store(path)
    await zones.store("/s?q=1", variant="mobile")
    assert await zones.index.count_queries(f"{SITE}/s", but=f"{SITE}/s?q=3") == 2
    assert await zones.index.count_queries(f"{SITE}/none", but="") == 0


def purge(purge_id: str, seq: int, scope: dict[str, tuple[str, ...]] | None = None) -> Purge:
    """Build a purge of what is named, or of everything."""
    lists: dict[str, Any] = {"tags": (), "urls": (), "prefixes": (), **(scope or {})}
    return Purge(
        purge_id=purge_id, idempotency_key=purge_id, nonce="n", created_at=NOW, everything=not scope, seq=seq, **lists
    )


async def test_newest_purges():
    """Those with a higher number, the newest first, as they were logged; a purge is logged once."""
    zones = Zones()
    scopes: list[dict[str, tuple[str, ...]]] = [
        {"tags": ("a",)},
        {"urls": (f"{SITE}/u",)},
        {},
        {"prefixes": (f"{SITE}/p",)},
    ]
    for seq, scope in enumerate(scopes, 1):
        await zones.log.add(purge(f"p{seq}", seq, scope))
        await zones.other_log.add(purge(f"other{seq}", seq + 10, scope))
    await zones.log.add(purge("p4", 9))
    found = await zones.index.load_purges(1, 10)
    assert [(scope.prefixes, scope.everything, scope.urls) for scope in found] == [
        ((f"{SITE}/p",), False, frozenset()),
        ((), True, frozenset()),
        ((), False, frozenset({f"{SITE}/u"})),
    ]
    assert [scope.prefixes for scope in await zones.index.load_purges(0, 1)] == [(f"{SITE}/p",)]


@pytest.mark.parametrize(
    ("scope", "replaced"),
    [
        ({}, 3),
        ({"urls": (f"{SITE}/blog",)}, 1),
        ({"tags": ("t",)}, 1),
        ({"prefixes": (f"{SITE}/blog",)}, 2),
        ({"prefixes": (f"{SITE}/blog/",)}, 1),
        ({"tags": ("none",)}, 0),
    ],
    ids=str,
)
async def test_pages_that_a_purge_has_replaced(scope: dict[str, tuple[str, ...]], replaced: int):
    """A page counts if it had a copy before the purge and has one from after it."""
    zones = Zones()
    await zones.log.add(purge("p", 5, scope))
    for path, tags in (("/blog", ()), ("/blog/post", ("t",)), ("/blogroll", ())):
        await zones.store(path, *tags, seq=4)
        await zones.store(path, *tags, seq=5)
    await zones.store("/blog/waits", "t", seq=4)
    await zones.store("/blog/first", "t", seq=5)
    assert await zones.log.count_replaced("p", soft=False) == replaced
    assert await zones.log.count_replaced("p", soft=True) == 0
    assert await zones.other_log.count_replaced("p", soft=False) == 0
    assert await zones.log.count_replaced("q", soft=False) == 0


async def test_covered_copies():
    """Each scope finds the copies that are older than its purge, and names those that may not be served any more."""
    zones = Zones()
    paths = ("/blog", "/blog/post", "/blog?p=2", "/blogroll")
    for path in paths:
        await zones.store(path, *(["t"] if path == "/blogroll" else []), seq=3)
    await zones.store("/blog/newer", "t", seq=8)

    async def find(scope: str, seq: int = 5, hard_seq: int = 5) -> tuple[set[str], set[str]]:
        scopes, pages = await zones.log.find_covered({scope: Mark(seq, hard_seq)}, 10)
        return scopes, {page.url.removeprefix(SITE) for page in pages}

    assert await find("*") == ({"*"}, set(paths))
    assert await find("*", hard_seq=3) == ({"*"}, set())
    assert await find("*", seq=3, hard_seq=3) == (set(), set())
    assert await find("t:t") == ({"t:t"}, {"/blogroll"})
    assert await find("t:none") == (set(), set())
    for scope, covered in (
        (f"u:{SITE}/blog", {"/blog"}),
        (f"p:{SITE}/blog", {"/blog", "/blog/post", "/blog?p=2"}),
        (f"p:{SITE}/blog/", {"/blog/post"}),
    ):
        assert await find(scope) == ({scope}, covered)
    assert len((await zones.log.find_covered({"*": Mark(5, 5)}, 2))[1]) == 2


async def test_finished_purges():
    """The number of pages that a purge removed is that purge's alone."""
    zones = Zones()
    await zones.log.add(purge("p", 5))
    await zones.log.add(purge("q", 6))
    await zones.log.finish("p", 7)
    rows = await zones.database.all("select purge_id, pages_purged from purge_log order by purge_id")
    assert [tuple(row.values()) for row in rows] == [("p", 7), ("q", None)]


async def test_facts_are_merged():
    """What somebody tells replaces what was known; what nobody tells stays, and other pages and zones keep theirs."""
    zones = Zones()
    urls = [f"{SITE}/a", f"{SITE}/b"]
    for index in (zones.index, zones.other):
        await index.merge_facts([KnownFacts(urls[0], 7, NOW, 3), KnownFacts(urls[1], None, None, None)])
    before = await zones.dump()
    await zones.index.merge_facts([KnownFacts(urls[0], None, NOW + 1, None)])
    await zones.index.merge_facts([KnownFacts(urls[0], 9, None, 4)])
    known = {
        urls[0]: Facts(published_at=NOW + 1, monthly_pageviews=9, post_id=4),
        urls[1]: Facts(published_at=None, monthly_pageviews=0, post_id=None),
    }
    assert await zones.index.load_facts([*urls, f"{SITE}/c"]) == known
    assert await zones.index.load_facts(urls[1:]) == {urls[1]: known[urls[1]]}
    assert await zones.dump() == before
    await zones.index.forget_facts()
    assert await zones.index.load_facts(urls) == {}
    assert await zones.dump() == before


async def test_visits_fade():
    """A page without a copy is not counted; within half a month half of its visits are left, after a month none."""
    zones = Zones()
    page = await zones.store("/a")
    await zones.index.merge_facts([KnownFacts(f"{SITE}/told", 5, None, None)])
    elsewhere = Page(f"{SITE}/unknown", "")
    await zones.other.store(elsewhere, hashed="h", stored_at=NOW, fresh_until=NOW, size=1, tags=(), seq=0)
    await zones.other.merge_facts([KnownFacts(elsewhere.url, 5, None, None)])
    before = await zones.dump()

    async def views() -> dict[str, int]:
        return {
            url.removeprefix(SITE): facts.monthly_pageviews
            for url, facts in (await zones.index.load_busiest(9)).items()
        }

    await zones.index.add_visits({page.url: 100, f"{SITE}/told": 3, f"{SITE}/unknown": 50}, NOW)
    assert await views() == {"/a": 100, "/told": 5}
    await zones.index.add_visits({page.url: 20}, NOW + MONTH_S / 2)
    assert await views() == {"/a": 70, "/told": 5}
    await zones.index.add_visits({f"{SITE}/told": 1}, NOW + 2 * MONTH_S)
    await zones.index.add_visits({page.url: 1}, NOW + 2 * MONTH_S)
    assert await views() == {"/a": 1, "/told": 5}
    assert await zones.dump() == before


async def test_busiest_pages():
    """The pages with the most visits first, counted here or told by the site."""
    zones = Zones()
    for path, told in (("/a", 5), ("/b", 50), ("/c", 10)):
        await zones.index.merge_facts([KnownFacts(SITE + path, told, None, None)])
        await zones.other.merge_facts([KnownFacts(SITE + path, 100, None, None)])
    await zones.index.add_visits({f"{SITE}/a": 20}, NOW)
    assert list(await zones.index.load_busiest(2)) == [f"{SITE}/b", f"{SITE}/a"]


async def test_unvisited_pages_are_forgotten():
    """What is only known from visits goes when nobody comes any more; a page with a copy, or that the site told of, stays."""
    zones = Zones()
    stored = await zones.store("/stored")
    gone = await zones.store("/gone")
    for path, facts in (("/views", (1, None, None)), ("/date", (None, NOW, None)), ("/post", (None, None, 2))):
        await zones.index.merge_facts([KnownFacts(SITE + path, *facts)])
        await zones.other.merge_facts([KnownFacts(SITE + path, None, None, None)])
    every = [f"{SITE}{path}" for path in ("/views", "/date", "/post")]
    await zones.index.add_visits(dict.fromkeys([stored.url, gone.url, *every], 1), NOW)
    await zones.remove([gone])
    before = await zones.dump()
    await zones.index.forget_unvisited(NOW)
    assert set(await zones.index.load_facts([stored.url, gone.url, *every])) == {stored.url, gone.url, *every}
    await zones.index.forget_unvisited(NOW + 1)
    assert set(await zones.index.load_facts([stored.url, gone.url, *every])) == {stored.url, *every}
    assert await zones.dump() == before


async def test_expiring_pages():
    """The most visited first, then those that expire first; a copy that lives only shortly is not warmed ahead."""
    zones = Zones()
    for path, fresh_s in (("/late", 900), ("/soon", 300), ("/visited", 600), ("/short", 20), ("/fresh", 5000)):
        await zones.store(path, fresh_s=fresh_s)
    await zones.store("/soon", variant="mobile", fresh_s=800)
    await zones.index.merge_facts([KnownFacts(f"{SITE}/visited", 10, None, None)])
    await zones.other.merge_facts([KnownFacts(f"{SITE}/late", 10, None, None)])

    async def find(**more: float) -> list[str]:
        arguments = {"now": NOW, "before": NOW + 1000, "min_life_s": 60.0, **more}
        return [url.removeprefix(SITE) for url in await zones.index.list_expiring(9, **arguments)]

    assert await find() == ["/visited", "/soon", "/late"]
    assert await find(before=NOW + 900) == ["/visited", "/soon"]
    assert await find(min_life_s=300) == ["/visited", "/soon", "/late"]
    assert "/fresh" in await find(now=NOW - 86_400)
    await zones.index.renew(Page(f"{SITE}/late", ""), renewed_at=NOW + 860, fresh_until=NOW + 900, stored_before=NOW)
    assert await find() == ["/visited", "/soon"]
    assert len(await zones.index.list_expiring(1, now=NOW, before=NOW + 1000, min_life_s=60)) == 1


async def test_expired_pages():
    """Those whose copies have not been fresh since a time."""
    zones = Zones()
    old = await zones.store("/old", fresh_s=10)
    await zones.store("/edge", fresh_s=20)
    assert await zones.index.list_expired(10, before=NOW + 20) == [old]
    assert len(await zones.index.list_expired(1, before=NOW + 21)) == 1


async def test_coverage():
    """Fresh pages are warm; those that may still serve are stale; those that are only told of, or wait, are cold."""
    zones = Zones()
    config = parse_config(
        {
            **CONFIGURE.example,
            "cache_stale_if_error_s": 100,
            "cache_stale_while_revalidate_s": 40,
            "preload_rpm_limit": 3,
        }
    )
    nothing = await load_coverage(zones.database, "none", config, queued=2, now=NOW)
    assert (nothing.warm, nothing.stale, nothing.cold) == (0, 0, 2)
    assert nothing.mean_life_s == config.preload_schedule_interval_s
    for path, fresh_s in (("/warm", 1), ("/stale", 0), ("/old", -99), ("/cold", -100), ("/long", 598)):
        await zones.store(path, fresh_s=fresh_s)
    await zones.other.store(Page("x", ""), hashed="", stored_at=0, fresh_until=NOW + 9, size=1, tags=(), seq=0)
    for path in ("/warm", "/told", "/told-too"):
        await zones.index.merge_facts([KnownFacts(SITE + path, 1, None, None)])
        await zones.other.merge_facts([KnownFacts(SITE + path + "/other", 1, None, None)])
    for queued, cold in ((0, 3), (2, 3), (7, 8)):
        found = await load_coverage(zones.database, "one", config, queued=queued, now=NOW)
        assert (found.warm, found.stale, found.cold) == (2, 2, cold)
    assert found.mean_life_s == (1 + 0 - 99 - 100 + 598) / 5
    assert found.as_json(config)["keep_warm"] == {"capacity": 4, "is_enough": False}
    enough = Coverage(warm=3, stale=0, cold=1, mean_life_s=80).as_json(config)
    assert enough == {
        "coverage": {"pages": 4, "warm": 3, "stale": 0, "cold": 1}, "keep_warm": {"capacity": 4, "is_enough": True},
    }  # fmt: skip


class TestKnownPages:
    """What a zone's object remembers of warmed pages."""

    def build(self) -> tuple[KnownPages, Page, Page]:
        sql = Sql(FakeStorage())
        create_tables(sql)
        known = KnownPages(sql)
        page, mobile = Page(f"{SITE}/a", ""), Page(f"{SITE}/a", "mobile")
        known.store(page, (("ETag", '"1"'), ("Last-Modified", "now")), now=100, fresh_until=200)
        known.store(mobile, (("ETag", '"2"'),), now=110, fresh_until=210)
        known.store(Page(f"{SITE}/b", ""), (), now=90, fresh_until=300)
        return known, page, mobile

    def test_validators(self):
        """A page is asked for with what its own copy came with."""
        known, page, mobile = self.build()
        assert known.load_validators(page) == (("if-none-match", '"1"'), ("if-modified-since", "now"))
        assert known.load_validators(mobile) == (("if-none-match", '"2"'),)
        assert known.load_validators(Page(f"{SITE}/b", "")) == ()
        assert known.load_validators(Page(f"{SITE}/c", "")) == ()
        known.distrust(page)
        assert (known.load_validators(page), known.load_validators(mobile)) == ((), (("if-none-match", '"2"'),))
        assert not known.is_current(page.url, "", 0, 150)
        assert known.is_current(mobile.url, "mobile", 0, 150)

    def test_current_pages(self):
        """A page is current if it was warmed after its last change, not in the future, and its copy is still fresh."""
        known, page, _ = self.build()
        for modified_at, now, expected in (
            (99, 150, True), (100, 150, False), (None, 150, False), (99, 100, True), (99, 99.5, False), (99, 199, True),
            (99, 200, False),
        ):  # fmt: skip
            assert known.is_current(page.url, "", modified_at, now) == expected, (modified_at, now)
            assert known.list_current([(page.url, modified_at)], now) == ({page.url} if expected else set())
        assert not known.is_current(f"{SITE}/none", "", 0, 150)
        assert known.list_current([(f"{SITE}/b", 95), (page.url, 95), (f"{SITE}/none", 1)], 150) == {page.url}

    def test_renewed_page(self):
        """It is fresh for longer; its other variant is not."""
        known, page, mobile = self.build()
        known.renew(page, now=190, fresh_until=400)
        assert known.is_current(page.url, "", 150, 399)
        assert not known.is_current(mobile.url, "mobile", 99, 399)

    def test_oldest_pages(self):
        """Those that were warmed longest ago come first, each once."""
        known, page, mobile = self.build()
        assert known.list_oldest(9) == [f"{SITE}/b", page.url]
        assert known.list_oldest(1) == [f"{SITE}/b"]
        known.forget([page])
        assert (known.count, known.load_validators(mobile)) == (2, (("if-none-match", '"2"'),))
        known.forget_all()
        assert known.count == 0
