"""Purges of any size, a few pages in each round; and what is stored has an end."""

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from sluice.core.errors import LimitReached, NotFound, Unavailable
from sluice.core.json_text import encode_json
from sluice.core.ports import FetchResponse
from sluice.core.preload.incidents import Incident
from sluice.core.preload.purges import is_below
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.serving.purging import CALLS
from unit.services.preload.world import SITE, ZONE, OriginReply, World, read_reply

FREE_SUBREQUESTS = 50
FREE_QUERIES = 50
PAID_QUERIES = 1000

ALERT: Incident = {
    "incident_id": "a",
    "zone_id": ZONE,
    "kind": "failure_rate",
    "level": "critical",
    "message": "begun",
    "raised_at": 1.25,
    "resolved_at": None,
}


class Platform:
    """Counts the calls to D1, R2 and the edge, and the queries: D1 counts each statement of a batch."""

    def __init__(self, here: World) -> None:
        self.calls: Counter[str] = Counter()
        self.queries = 0
        services = here.services
        for part in (services.outside.database, services.outside.edge, services.outside.bucket):
            for name in ("all", "batch", "run", "value", "delete", "put", "get", "head", "match"):
                self._watch(part, name)

    def _watch(self, part: Any, name: str) -> None:
        if not (call := getattr(part, name, None)):
            return

        async def count(*arguments: Any, **named: Any) -> Any:
            self.calls[name] += 1
            if name in {"run", "batch"}:  # all others call `run`
                self.queries += len(arguments[0]) if name == "batch" else 1
            return await call(*arguments, **named)

        setattr(part, name, count)


async def store_pages(here: World, count: int) -> None:
    """Store copies as visitors do, without the queue."""
    services, now = here.services, here.clock.now()
    for n in range(count):
        await services.pages.store(
            Page(f"{SITE}/{n}", ""),
            hashed=str(n),
            stored_at=now,
            fresh_until=now + 60,
            size=1,
            tags=["post:1"],
            seq=0,
        )


async def accept_purge(here: World, **what: Any) -> str:
    body = {"zone_id": ZONE, "idempotency_key": "purge-7f6c4a3e-0000-4000-8000-000000000000", **what}
    return str(read_reply(await here.zone.purge(here.sign(body, "/api/v1/purge"), encode_json(body))).reply["purge_id"])


@pytest.mark.parametrize("count", [60, 1000])
@pytest.mark.parametrize("what", [{"global": True}, {"tags": ["post:1"]}])
async def test_no_round_exceeds_the_free_plan(count: int, what: dict[str, Any]):
    """However many pages a purge has, each alarm makes at most 40 calls for it, and all pages go."""
    here = await World(subrequests=FREE_SUBREQUESTS, preload_post_purge=False).register()
    await store_pages(here, count)
    here.clock.advance(1)
    purge_id = await accept_purge(here, **what)
    while here.services.purger.load_next():
        platform = Platform(here)
        await here.object.calls(ZONE).background.carry_out_purges()
        assert platform.calls.total() <= CALLS
        here.restart()
    progress = await here.zone.show_purge(purge_id)
    assert (progress["state"], progress["pages_removed"]) == ("done", count)
    assert await here.rows("SELECT 1 FROM cached_pages") == []


async def test_crash_in_every_round():
    """A purge that is interrupted after each round is complete in the end, and every page is warmed again once."""
    here = await World(preload_rps_limit=1000, preload_rpm_limit=60_000).register()
    paths = [f"/{n}" for n in range(70)]
    await here.enqueue(*paths)
    await here.drain()
    here.origin.requests.clear()
    here.clock.advance(1)
    await accept_purge(here, **{"global": True})
    while here.services.purger.load_next():
        await here.object.calls(ZONE).background.carry_out_purges()
        here.restart()
    assert not here.bucket._objects
    await here.services.wake()
    await here.drain(500)
    assert here.origin.counts == dict.fromkeys(paths, 1)
    assert len(here.bucket._objects) == 70


async def test_a_batch_is_not_over_before_the_last_round():
    """The pages of a round may all be dropped from a full queue: the batch of the purge still waits for the rounds to come."""
    here = await World(preload_queue_max_depth=1).register()
    await here.enqueue("/wanted", priority=100)
    purge_id = await accept_purge(here, urls=[f"{SITE}/a"])
    batch_id = purge_id.replace("purge-", "preload-")
    states = []
    while here.services.purger.load_next():
        await here.object.calls(ZONE).background.carry_out_purges()
        states.append((await here.batch(batch_id))["state"])
    assert states == ["crawling", "finished"]
    assert (await here.batch(batch_id))["dropped"] == 1


async def test_a_batch_ends_after_a_change_of_settings():
    """If the zone stops warming what is purged between two rounds, the batch of the first round ends all the same."""
    here = await World().register()
    purge_id = await accept_purge(here, urls=[f"{SITE}/a"])
    await here.object.calls(ZONE).background.carry_out_purges()
    here.config["preload_post_purge"] = False
    await here.register()
    await here.drain()
    assert (await here.batch(purge_id.replace("purge-", "preload-")))["state"] == "finished"


@pytest.mark.parametrize(
    ("prefix", "covered", "spared"),
    [
        ("/blog/", ["/blog/", "/blog/a", "/blog/a/b?c=1"], ["/blogroll", "/", "/other/blog/"]),
        ("/blog", ["/blog", "/blog/a", "/blog?page=2"], ["/blogroll", "/blog-2", "/"]),
    ],
)
async def test_prefixes(prefix: str, covered: list[str], spared: list[str]):
    """A purge by prefix removes the pages below it; /blog/ spares /blogroll."""
    here = await World(preload_post_purge=False).register()
    await here.enqueue(*covered, *spared)
    await here.drain()
    here.clock.advance(1)
    await here.purge(prefixes=[SITE + prefix])
    rows = await here.rows("SELECT url FROM cached_pages")
    assert sorted(row["url"].removeprefix(SITE) for row in rows) == sorted(spared)
    assert all(is_below(SITE + path, SITE + prefix) for path in covered)
    assert not any(is_below(SITE + path, SITE + prefix) for path in spared)


async def test_deleted_zone_leaves_nothing():
    """Deleting a zone removes its copies and what was known about its pages; registered again, it has none of them."""
    here = await World().register()
    await here.enqueue(*(f"/{n}" for n in range(40)))
    await here.zone.store_page_facts(encode_json({"pages": [{"url": f"{SITE}/a", "monthly_pageviews": 9}]}))
    await here.zone.count_visits({"edge": [1, 2, 3.0]}, {f"{SITE}/1": 1})
    await here.drain()
    here.clock.advance(1)
    await here.zone.unregister()
    await here.drain()
    assert (here.bucket._objects, here.edge.stored) == ({}, {})
    for table in ("cached_pages", "page_tags", "page_facts", "config_snapshots", "zones", "zone_hosts"):
        assert await here.rows(f"SELECT 1 FROM {table}") == []  # noqa: S608
    for table in ("entry", "batch", "membership", "page", "visit", "page_visit", "observed"):
        assert here.sql.rows(f"SELECT 1 FROM {table}") == []  # noqa: S608


@pytest.mark.parametrize("failing", range(1, 8))
async def test_deletion_that_fails_halfway(failing: int):
    """Wherever deleting a zone fails, it is asked for again or is done: no copy stays, and the zone works when it is registered again."""
    here = await World().register()
    await here.enqueue("/a")
    await here.drain()
    here.clock.advance(10)
    await accept_purge(here, tags=["other"])
    delete, calls = here.kv.delete, 0

    async def fail_once(key: str) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise Unavailable("KV")
        await delete(key)

    here.kv.delete = fail_once  # type: ignore[method-assign]
    for _ in range(2):
        with suppress(Unavailable, NotFound):
            await here.zone.unregister()
    with pytest.raises(NotFound):
        await here.zone.show_status()
    await here.drain()
    assert (here.bucket._objects, here.edge.stored) == ({}, {})
    await here.register()
    await here.enqueue("/b")
    await here.drain()
    assert here.origin.counts["/b"] == 1


@pytest.mark.parametrize("what", ["round", "preload", "enqueue"])
async def test_zone_that_is_deleted_while_facts_are_read(what: str):
    """What waited for D1 while the zone was deleted puts nothing into its empty queue."""
    here = await World().register()
    await accept_purge(here, urls=[f"{SITE}/a"])
    all_rows = here.database.all
    deleted: list[bool] = []

    async def delete_first(sql: str, *params: object) -> Any:
        if "FROM page_facts" in sql and not deleted:
            deleted.append(True)
            await here.zone.unregister()
        return await all_rows(sql, *params)

    here.database.all = delete_first  # type: ignore[method-assign]
    if what == "round":
        await here.object.calls(ZONE).background.carry_out_purges()
    else:
        with pytest.raises(NotFound):
            await (here.preload("/b") if what == "preload" else here.enqueue("/b"))
    assert deleted
    for table in ("entry", "batch", "membership"):
        assert here.sql.rows(f"SELECT * FROM {table}") == []  # noqa: S608


async def test_zone_that_is_deleted_while_it_is_published():
    """A configuration that the alarm publishes while the zone is deleted does not come back."""
    here = await World().register()
    here.services.state.put(published=0)
    put = here.kv.put_text

    async def delete_first(key: str, text: str) -> None:
        if key.startswith("config:"):
            await here.zone.unregister()
        await put(key, text)

    here.kv.put_text = delete_first  # type: ignore[assignment,method-assign]
    await here.services.publisher.publish()
    here.clock.advance(120)
    assert await here.kv.get_text(f"config:{ZONE}") is None
    assert await here.rows("SELECT 1 FROM zone_hosts") == []


async def test_expired_copies():
    """A copy that may not be served any more, even while the origin fails, is removed from R2, D1 and the object."""
    here = await World(
        preload_schedule_interval_s=2_592_000, cache_stale_if_error_s=3600, cache_stale_while_revalidate_s=60
    ).register()
    here.origin.default = OriginReply(headers=(("cache-control", "max-age=60"),))
    await here.enqueue("/a", "/b")
    await here.drain()
    here.clock.advance(2 * 86_400)
    await here.zone.tick()
    assert not here.bucket._objects
    assert await here.rows("SELECT 1 FROM cached_pages") == []
    assert here.services.known_pages.count == 0


async def test_failing_webhook():
    """A webhook that fails is tried again later and later, and the mirror is written meanwhile."""
    here = await World(preload_retry_max=0, preload_circuit_breaker_threshold=1).register()
    posts: list[float] = []

    async def fail(_url: str, **_: object) -> FetchResponse:
        posts.append(here.clock.now())
        raise Unavailable("the webhook is down")

    here._post_webhook = fail  # type: ignore[assignment,method-assign]
    here.restart()
    here.origin.default = OriginReply(500)
    await here.enqueue("/a", "/b")
    for _ in range(60):
        await here.object.handle_alarm()
        here.clock.advance(60)
    assert len(posts) < 10
    assert (await here.kv.get_json(f"preload-queue:{ZONE}")) is not None


async def test_everything_shares_the_subrequests():
    """Sitemaps, pages, log, mirror and webhooks: no alarm makes more calls to the platform than the free plan allows."""
    here = await World(
        subrequests=FREE_SUBREQUESTS, preload_rps_limit=1000, preload_rpm_limit=60_000, preload_retry_max=0
    ).register()
    children = [f"{SITE}/map{n}.xml" for n in range(5)]
    index = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in children)
    here.origin.scripts[f"{SITE}/sitemap.xml"] = OriginReply(body=f"<sitemapindex>{index}</sitemapindex>".encode())
    for n, url in enumerate(children):
        pages = "".join(f"<url><loc>{SITE}/{n}/{m}</loc></url>" for m in range(20))
        here.origin.scripts[url] = OriginReply(body=f"<urlset>{pages}</urlset>".encode())
    here.services.outbox.add_alert(ALERT)
    for n in range(300):
        here.services.outbox.add_log(ZONE, f"{SITE}/old{n}", "warmed", now=here.clock.now())
    await here.zone.crawl_sitemap(encode_json({}))
    platform = Platform(here)
    for _ in range(200):
        if here.storage.alarm_ms is None:
            break
        requests, posts = len(here.origin.requests), len(here.webhook)
        platform.calls.clear()
        platform.queries = 0
        await here.ring_alarm()
        fetched = len(here.origin.requests) - requests + len(here.webhook) - posts
        assert platform.calls.total() + fetched <= FREE_SUBREQUESTS
        assert platform.queries <= FREE_QUERIES
    assert len(here.bucket._objects) == 100
    assert await here.rows("SELECT count(*) AS n FROM preload_log WHERE status = 'warmed'") == [{"n": 400}]


async def test_limit_of_the_platform():
    """Pages that an alarm has no room for are warmed by the next one: no attempt counts, and the breaker stays closed."""
    here = await World(preload_rps_limit=1000, preload_rpm_limit=60_000, preload_circuit_breaker_threshold=2).register()
    paths = [f"/{n}" for n in range(20)]
    here.origin.default = LimitReached("Too many subrequests by single Worker invocation.")
    await here.enqueue(*paths)
    await here.ring_alarm()
    assert (await here.zone.show_status())["breaker"]["state"] == "closed"
    here.origin.default = OriginReply()
    store, here.database.batch = here.database.batch, refuse_batch  # type: ignore[assignment,method-assign]
    await here.ring_alarm()
    here.database.batch = store  # type: ignore[method-assign]
    await here.drain()
    assert len(here.bucket._objects) == 20
    assert (await here.zone.list_failed(10))["count"] == 0
    assert set(await here.statuses("/0")) == {"again", "warmed"}


async def test_queries_of_a_long_alarm():
    """However many subrequests the operator allows, an alarm stays within the queries that D1 allows on the paid plan."""
    here = await World(subrequests=10_000, preload_rps_limit=1000, preload_rpm_limit=60_000).register()
    await here.enqueue(*(f"/{n}?page=1" for n in range(250)))
    platform = Platform(here)
    while here.services.queue.depth:
        platform.queries = 0
        await here.ring_alarm()
        assert platform.queries <= PAID_QUERIES
    assert len(here.bucket._objects) == 250


async def refuse_batch(_statements: object) -> Any:
    raise LimitReached("Too many API requests by single Worker invocation.")


async def test_log_lines_and_alerts_arrive():
    """Rows on their way to D1 keep all their fields, and an alert that ends in the same batch has ended there too."""
    here = await World().register()
    outbox = here.services.outbox
    outbox.add_log(
        ZONE, f"{SITE}/é", "failed", now=1.5, http_status=503, latency_ms=7, attempt=2, detail='it\'s "down"'
    )
    outbox.add_alert(ALERT)
    outbox.add_alert({**ALERT, "message": "over", "resolved_at": 2.5})
    assert await outbox.flush(here.database)
    [line] = await here.rows("SELECT * FROM preload_log WHERE status = 'failed'")
    assert (line["url"], line["http_status"], line["latency_ms"], line["attempt"]) == (f"{SITE}/é", 503, 7, 2)
    assert (line["detail"], line["trigger_name"], line["created_at"]) == (
        'it\'s "down"',
        None,
        "1970-01-01T00:00:01.500Z",
    )
    [row] = await here.rows("SELECT message, raised_at, resolved_at FROM preload_alerts")
    assert row == {"message": "over", "raised_at": 1.25, "resolved_at": 2.5}


async def test_eta_knows_about_retries():
    """A batch is not over before its last page has had its next attempt."""
    here = await World().register()
    here.origin.default = OriginReply(503, headers=(("retry-after", "600"),))
    batch = await here.enqueue("/a")
    await here.ring_alarm()
    eta_s = (await here.batch(batch))["eta_s"]
    assert eta_s is not None
    assert eta_s >= 599
