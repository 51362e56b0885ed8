"""Sitemaps of large sites: taken in by slices, resumed after a crash, and what is left out is said."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from sluice.core.json_text import encode_json
from sluice.services.preload.discovery.sitemap_crawl import SLICE
from unit.services.preload.world import SITE, OriginReply, World

PAGES = 4 * SLICE + 7


def build_sitemap(*urls: str) -> bytes:
    return ("<urlset>" + "".join(f"<url><loc>{url}</loc></url>" for url in urls) + "</urlset>").encode()


async def serve_sitemap(here: World, body: bytes) -> str:
    here.origin.scripts[f"{SITE}/sitemap.xml"] = OriginReply(body=body)
    return str((await here.zone.crawl_sitemap(encode_json({})))["preload_batch_id"])


async def large_site(**config: Any) -> tuple[World, str]:
    here = await World(**{"preload_queue_max_depth": 100_000, **config}).register()
    batch = await serve_sitemap(here, build_sitemap(*(f"{SITE}/{n}" for n in range(PAGES))))
    return here, batch


async def read_file(here: World) -> None:
    await here.services.crawl.read_next_file(here.zone_config)


async def test_slices():
    """Other calls are answered while a large sitemap is taken in: each sees at most one slice more."""
    here, batch = await large_site()
    crawl = asyncio.ensure_future(read_file(here))
    depths = [0]
    while not crawl.done():
        await asyncio.sleep(0)
        depth = (await here.zone.show_status())["queue_depth"]
        if depth != depths[-1]:
            depths.append(depth)
    await crawl
    assert depths[-1] == PAGES
    assert max(after - before for before, after in pairwise(depths)) == SLICE
    assert (await here.batch(batch))["total"] == PAGES


async def test_crash_between_slices():
    """After a crash the next attempt goes on with the next slice, and every page is counted once."""
    here, batch = await large_site()

    async def crash(_seconds: float) -> None:
        if here.services.queue.depth == 2 * SLICE:
            raise SystemError("the isolate was killed")

    sleep = here.clock.sleep
    here.clock.sleep = crash  # type: ignore[assignment,method-assign]
    with pytest.raises(SystemError):
        await read_file(here)
    here.clock.sleep = sleep  # type: ignore[method-assign]
    assert (await here.zone.show_status())["queue_depth"] == 2 * SLICE
    here.restart()
    here.clock.advance(10)
    await read_file(here)
    done = await here.batch(batch)
    assert (done["total"], done["queued"], done["state"]) == (PAGES, PAGES, "running")


async def test_file_that_crashes():
    """A sitemap that takes the Worker down at each attempt is given up."""
    here = await World(preload_retry_max=1).register()
    batch = await serve_sitemap(here, b"")

    def kill(_headers: object) -> OriginReply:
        raise SystemError("the isolate was killed")

    here.origin.scripts[f"{SITE}/sitemap.xml"] = kill
    for _ in range(2):
        with pytest.raises(SystemError):
            await read_file(here)
        here.restart()
        here.clock.advance(1000)
    await read_file(here)
    assert here.origin.counts["/sitemap.xml"] == 2
    assert (await here.batch(batch))["state"] == "finished"


async def test_other_hosts_are_said():
    """Addresses on another host are counted in the log, with the way out."""
    here = await World().register()
    foreign = [f"https://example.com/{n}" for n in range(3)]
    batch = await serve_sitemap(here, build_sitemap(f"{SITE}/a", *foreign, "https://cdn.example.net/x"))
    await here.drain()
    assert (await here.batch(batch))["skipped"] == 4
    rows = await here.rows("SELECT detail FROM preload_log WHERE status = 'sitemap_skipped' ORDER BY id")
    assert [row["detail"].partition(",")[0] for row in rows] == [
        "3 addresses are on example.com",
        "1 addresses are on cdn.example.net",
    ]


async def test_overflow_of_a_sitemap():
    """What finds no room is dropped in one step, and counted in every batch that wanted it."""
    here = await World(preload_queue_max_depth=10).register()
    here.services.state.put(paused=True)
    first = await here.enqueue(*(f"/first{n}" for n in range(8)), priority=1)
    batch = await serve_sitemap(here, build_sitemap(*(f"{SITE}/{n}" for n in range(12))))
    await read_file(here)
    before, after = await here.batch(first), await here.batch(batch)
    assert (before["queued"], before["dropped"], before["state"]) == (0, 8, "finished")
    assert (after["queued"], after["dropped"], after["total"]) == (10, 2, 12)
