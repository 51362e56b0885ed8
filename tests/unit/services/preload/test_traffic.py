"""What the cache is worth: visits counted while serving, their use for the priority, and what is told to operators."""

from collections.abc import Awaitable
from typing import Any

import pytest

from sluice.core.json_text import encode_json
from sluice.platform.storage.r2 import R2
from sluice.services.preload.http.prometheus import format_figures
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.zone.housekeeping import FACTS_KEPT_S, FORGET_INTERVAL_S
from sluice.services.preload.zone.operator_calls import TrafficReply
from sluice.web import Headers, Reply, Request
from unit.services.metric_rules import find_violations
from unit.services.preload.world import SITE, ZONE, OriginReply, VisitorsOrigin, World

PAGE = OriginReply(headers=(("cache-control", "max-age=3600"), ("content-type", "text/html")), body=b"<html>")


class Isolate:
    """An isolate with visitors, whose deferred work runs after each."""

    def __init__(self, here: World) -> None:
        self.here = here
        self.memory = IsolateMemory()

    async def visit(self, path: str, **headers: str) -> Reply:
        deferred: list[Awaitable[None]] = []
        server = self.here.build_page_server(VisitorsOrigin(self.here.origin), deferred.append, self.memory)
        reply = await server.handle(Request("GET", SITE + path, Headers(headers)))
        for each in deferred:
            await each
        return reply


async def start(**config: Any) -> tuple[World, Isolate]:
    here = await World(**config).register()
    here.origin.default = PAGE
    return here, Isolate(here)


async def test_visits_by_layer():
    """Each visit counts for what answered it; the object hears of them now and then, not each time."""
    here, isolate = await start()
    await isolate.visit("/a")
    for _ in range(8):
        await isolate.visit("/a")
    here.edge.stored.clear()
    await isolate.visit("/a")
    await isolate.visit("/a", cookie="wordpress_logged_in_x=1")
    assert (await here.zone.show_traffic())["visits"] == 1
    here.clock.advance(10)
    await isolate.visit("/a")
    traffic = await here.zone.show_traffic()
    visits = {name: each["visits"] for name, each in traffic["layers"].items()}
    assert visits == {"edge": 9, "r2": 1, "shared": 0, "origin": 1, "pass": 1}
    assert traffic["hit_ratio"] == round(10 / 12, 4)
    assert (await here.zone.show_status())["hit_ratio"] == traffic["hit_ratio"]
    assert (traffic["origin_requests_saved"], traffic["bytes_saved"]) == (10, 60)
    assert traffic["layers"]["edge"]["mean_ttfb_ms"] is not None


async def test_visits_feed_the_priority():
    """A page that visitors ask for is warmed before one that nobody visits, though nobody told its pageviews."""
    here, isolate = await start(preload_post_purge=False)
    for path in ("/quiet", "/busy"):
        await isolate.visit(path)
    for _ in range(200):
        await isolate.visit("/busy")
    here.clock.advance(10)
    await isolate.visit("/busy")
    here.clock.advance(FORGET_INTERVAL_S)
    await here.zone.tick()
    facts = await here.services.load_facts([f"{SITE}/busy", f"{SITE}/quiet", f"{SITE}/never"])
    assert facts[f"{SITE}/busy"].monthly_pageviews == 202
    assert facts[f"{SITE}/quiet"].monthly_pageviews == 1
    here.services.state.put(paused=True)
    await here.enqueue("/quiet", "/busy")
    summary = await here.zone.show_queue()
    assert summary["next"][0]["url"] == f"{SITE}/busy"
    assert not here.services.traffic.list_pages(10)


async def test_invented_pages_leave_nothing():
    """Visits of pages that have no copy are not kept, and old ones fade and go."""
    here, isolate = await start()
    here.origin.default = OriginReply(headers=(("cache-control", "private"),))
    for n in range(20):
        await isolate.visit(f"/?invented={n}")
    here.origin.default = PAGE
    here.clock.advance(10)
    await isolate.visit("/real")
    here.clock.advance(FORGET_INTERVAL_S)
    await here.zone.tick()
    assert [row["url"] for row in await here.rows("SELECT url FROM page_facts")] == [f"{SITE}/real"]
    here.clock.advance(FACTS_KEPT_S)
    await here.zone.tick()
    await here.zone.tick()
    here.clock.advance(FORGET_INTERVAL_S)
    await here.zone.tick()
    assert await here.rows("SELECT url FROM page_facts") == []


async def test_coverage():
    """Warm, stale and cold pages of all that are known, and how many the limits can keep warm."""
    here, isolate = await start(preload_rpm_limit=2, preload_rps_limit=1, preload_schedule_interval_s=2_592_000)
    for path in ("/a", "/b"):
        await isolate.visit(path)
    await here.zone.store_page_facts(encode_json({"pages": [{"url": f"{SITE}/told", "monthly_pageviews": 9}]}))
    traffic = await here.zone.show_traffic()
    assert traffic["coverage"] == {"pages": 3, "warm": 2, "stale": 0, "cold": 1}
    assert traffic["keep_warm"] == {"capacity": 120, "is_enough": True}
    here.clock.advance(3601)
    assert (await here.zone.show_traffic())["coverage"] == {"pages": 3, "warm": 0, "stale": 2, "cold": 1}


async def test_prometheus():
    """The figures of each zone as gauges, named as Prometheus wants them, times in seconds."""
    here, isolate = await start()
    await isolate.visit("/a")
    traffic = await here.zone.show_traffic()
    traffic["layers"]["origin"]["mean_ttfb_ms"] = 12.3
    other: TrafficReply = {**traffic, "zone_id": "other"}
    page = format_figures([traffic, other])
    assert find_violations(page) == []
    assert f'sluice_preload_time_to_first_byte_seconds{{zone="{ZONE}",layer="origin"}} 0.0123\n' in page
    assert 'sluice_preload_time_to_first_byte_seconds{zone="other",layer="edge"}' not in page, "no visit, no mean"
    assert f'sluice_preload_visits{{zone="{ZONE}",layer="origin"}} 1\n' in page
    assert f'sluice_preload_hit_ratio{{zone="{ZONE}"}} 0.0\n' in page
    assert f'sluice_preload_pages{{zone="{ZONE}",state="warm"}} 1\n' in page
    assert page.count("# TYPE") == page.count("# HELP") == 9


async def test_query_variants():
    """Of one path so many queries are stored; the others come from the origin or for a while from the edge."""
    here, isolate = await start(cache_max_query_variants=3)
    for n in range(6):
        await isolate.visit(f"/list?page={n}")
    await isolate.visit("/list")
    rows = await here.rows("SELECT url FROM cached_pages ORDER BY url")
    assert [row["url"].removeprefix(SITE) for row in rows] == ["/list", "/list?page=0", "/list?page=1", "/list?page=2"]
    assert len(here.bucket._objects) == 4
    here.clock.advance(3601)
    here.origin.default = OriginReply(headers=PAGE.headers, body=b"new")
    here.edge.stored.clear()
    await here.enqueue("/list?page=1")
    await here.drain()
    assert await here.statuses("/list?page=1") == ["warmed"]


@pytest.mark.parametrize("length", [100, 5000, 7000, 30_000])
async def test_long_headers(length: int):
    """A page with long headers reaches R2 like any other, is confirmed by a 304, and leaves nothing behind."""
    here, isolate = await start()
    headers = (*PAGE.headers, ("etag", '"1"'), ("content-security-policy", "x" * length), ("cache-tag", "post:1"))
    here.origin.default = OriginReply(headers=headers)
    await isolate.visit("/a")
    here.edge.stored.clear()
    reply = await isolate.visit("/a")
    assert (reply.header("x-cache-layer"), reply.header("x-cache")) == ("R2", "HIT")
    assert reply.header("content-security-policy") == "x" * length
    here.clock.advance(3601)
    here.origin.default = OriginReply(304, headers=(("etag", '"1"'),))
    assert (await isolate.visit("/a")).header("x-cache") == "STALE"
    here.edge.stored.clear()
    assert (await isolate.visit("/a")).header("x-cache") == "HIT"
    here.clock.advance(1)
    await here.purge(tags=["post:1"])
    assert not here.bucket._objects


async def test_headers_of_another_copy():
    """The headers beside a copy are believed only if they are that copy's own."""
    here, isolate = await start()
    here.origin.default = OriginReply(headers=(*PAGE.headers, ("x-long", "x" * 9000)))
    await isolate.visit("/a")
    here.edge.stored.clear()
    key = next(key for key in here.bucket._objects if key.endswith(".headers"))
    await R2(here.bucket).put(key, b'{"headers":[],"tags":[]}')
    assert (await isolate.visit("/a")).header("x-cache") == "MISS"


async def test_purge_by_hand():
    """The operator purges without a signature; everything counts against the same limit."""
    here, isolate = await start(preload_post_purge=False)
    await isolate.visit("/a")
    here.clock.advance(1)
    reply = await here.zone.purge_by_hand(encode_json({"urls": [f"{SITE}/a"]}))
    assert reply["estimated_completion_ms"] == 2000
    await here.drain()
    assert (await here.zone.show_purge(reply["purge_id"]))["pages_removed"] == 1
    assert not here.bucket._objects


async def test_delay_of_the_free_plan():
    """A zone that does not say its delay gets the one of the deployment."""
    here = World()
    here.restart()
    object.__setattr__(here.object._settings, "purge_delay_s", 30)
    await here.register()
    assert (await here.zone.show_config())["config"]["cache_purge_delay_s"] == 30
    await here.zone.configure(encode_json({**here.config, "cache_purge_delay_s": 5}))
    assert (await here.zone.show_config())["config"]["cache_purge_delay_s"] == 5
