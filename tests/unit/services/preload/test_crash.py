"""Every operation of every flow fails once, before it has an effect and after it: nothing is lost, doubled or held for ever."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sluice.core.errors import NotFound
from sluice.core.json_text import encode_json
from sluice.core.preload.rate_limits import OriginLimits
from sluice.core.preload.request_signing import SignedRequest, sign_request
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.web import Headers, Reply, Request
from unit.services.preload.crash_world import CrashWorld
from unit.services.preload.test_page_server import read_body
from unit.services.preload.world import KEY, SITE, ZONE, OriginReply, VisitorsOrigin

UUID = "0b6f36d4-8a15-4bb2-8a05-30cd9b0a1b77"
MAX_OPERATIONS = 300
TAGGED = (("surrogate-key", "post:1"), ("cache-control", "max-age=3600"))
OLD, NEW = OriginReply(headers=TAGGED, body=b"old"), OriginReply(headers=TAGGED, body=b"new")
RESULTS = ("done", "failed", "gone", "skipped", "dropped", "cancelled")

Work = Callable[[CrashWorld], Awaitable[Any]]


async def crash_everywhere(
    prepare: Work, act: Work, check: Work, *, minutes: int = 6, repeats: bool = True, **config: Any
) -> int:
    """Crash at each operation of `act`, repeat it as its caller would, let time pass, and check; return the operations."""
    for before in (True, False):
        for n in range(1, MAX_OPERATIONS):
            world = CrashWorld(**config)
            await prepare(world)
            world.steps.fail_at(n, before=before)
            is_over = await world.attempt(lambda: act(world))  # noqa: B023
            if not is_over and repeats:
                assert await world.attempt(lambda: act(world))  # noqa: B023
            await world.run_for(minutes)
            await check_invariants(world)
            await check(world)
            if is_over:
                break
        else:
            raise AssertionError(f"more than {MAX_OPERATIONS} operations")
    return n


async def check_invariants(world: CrashWorld) -> None:
    """Nothing waits or is held any more, all counts add up, each stored copy is in the index, readers of KV see the truth."""
    sql = world.sql
    for table in ("entry", "late", "membership", "crawl", "crawl_progress", "purge", "purge_url", "outbox"):
        assert sql.value(f"SELECT count(*) FROM {table}") == 0, table  # noqa: S608
    assert sql.value("SELECT depth FROM queue_tally") == 0
    assert sql.value("SELECT count(*) FROM flight WHERE ended_at IS NULL") == 0
    assert world.services.grants.next_wait_s(OriginLimits(1, 1, 1), world.clock.now() + 120) == 0
    for batch in sql.rows("SELECT * FROM batch"):
        assert batch["total"] == sum(int(batch[name] or 0) for name in RESULTS), batch
        assert (batch["queued"], batch["crawling"]) == (0, 0)
        assert batch["finished_at"] is not None or not batch["total"]
    indexed = {str(row["key_hash"]) for row in await world.rows("SELECT key_hash FROM cached_pages")}
    assert {key.rpartition("/")[2] for key in world.bucket._objects} <= indexed
    if world.services.state.config is not None:
        assert await world.kv.get_json(f"preload-queue:{ZONE}") in (None, [])
        assert await world.kv.get_text(f"host:{SITE.partition('//')[2]}") == ZONE


async def nothing(_world: CrashWorld) -> None:
    pass


async def register(world: CrashWorld) -> None:
    await world.register()


async def warm_old(world: CrashWorld) -> None:
    """Register the zone and warm a page; its content changes then."""
    await world.register()
    world.origin.default = OLD
    await world.enqueue("/a")
    await world.run_for(1)
    world.origin.default = NEW


def sign(world: CrashWorld, body: dict[str, Any], path: str) -> SignedRequest:
    """Sign as a client does that sends the same request again: with another nonce."""
    content = encode_json(body).encode()
    headers = sign_request(
        KEY, "POST", path, content, now=world.clock.now(), nonce=f"{len(world.steps.operations):032x}"
    )
    return SignedRequest.from_request("POST", path, {name.lower(): value for name, value in headers.items()}, content)


async def visit(world: CrashWorld, path: str = "/a") -> tuple[Reply, bytes]:
    """Visit a page in a fresh isolate of another data centre, and do what is left to do afterwards."""
    deferred: list[Awaitable[None]] = []
    config = await world.build_reader().read_config(world.zone_config)
    server = world.build_page_server(VisitorsOrigin(world.origin), deferred.append, IsolateMemory(), config=config)
    try:
        reply = await server.handle(Request("GET", SITE + path, Headers({})))
        body = await read_body(reply)
        while deferred:
            await deferred.pop(0)
    finally:
        for each in deferred:
            asyncio.ensure_future(each).cancel()
    return reply, body


async def test_register():
    """A zone is registered once, and all its readers know it."""

    async def check(world: CrashWorld) -> None:
        assert world.services.state.version == 1
        assert len(await world.rows("SELECT 1 FROM config_snapshots")) == 1
        assert len(await world.rows("SELECT 1 FROM zones")) == 1
        assert await world.kv.get_json(f"config:{ZONE}") is not None

    assert await crash_everywhere(nothing, register, check, minutes=1) > 5


async def test_signed_preload():
    """A signed request is one batch however often it is sent, and its pages are warmed once."""
    body = {"zone_id": ZONE, "idempotency_key": f"preload-{UUID}", "urls": [f"{SITE}/a", f"{SITE}/b"]}

    async def preload(world: CrashWorld) -> None:
        await world.zone.preload(sign(world, body, "/api/v1/preload"), encode_json(body))
        await world.zone.settle()

    async def check(world: CrashWorld) -> None:
        [batch] = world.sql.rows("SELECT total, done FROM batch")
        assert batch == {"total": 2, "done": 2}
        assert world.origin.counts == {"/a": 1, "/b": 1}

    await crash_everywhere(register, preload, check)


async def test_warming():
    """Good, missing, failing and redirected pages end in one count each, and the log has each page's end once."""

    async def prepare(world: CrashWorld) -> None:
        await world.register()
        world.origin.scripts[f"{SITE}/gone"] = OriginReply(404)
        world.origin.scripts[f"{SITE}/away"] = OriginReply(301, (("location", f"{SITE}/target"),))
        world.origin.scripts[f"{SITE}/bad"] = OriginReply(403)
        await world.enqueue("/a", "/gone", "/away", "/bad")

    async def check(world: CrashWorld) -> None:
        [batch] = world.sql.rows("SELECT total, done, gone, skipped, failed FROM batch")
        assert batch == {"total": 5, "done": 2, "gone": 1, "skipped": 1, "failed": 1}
        ends = await world.rows("SELECT url FROM preload_log WHERE status != 'again'")
        assert len(ends) == 5
        assert world.services.dead_letters.count == 1
        assert len(await world.kv.get_json(f"preload-dlq:{ZONE}")) == 1

    await crash_everywhere(prepare, lambda world: world.object.handle_alarm(), check)


@pytest.mark.parametrize(
    "what",
    [{"urls": [f"{SITE}/a"]}, {"tags": ["post:1"]}, {"global": True}, {"prefixes": [f"{SITE}/"]}],
    ids=["url", "tag", "all", "prefix"],
)
async def test_purge(what: dict[str, Any]):
    """Once a purge is acknowledged, no visitor gets the old copy; it is carried out once, and the page is warmed again."""
    body = {"zone_id": ZONE, "idempotency_key": f"purge-{UUID}", **what}

    async def purge(world: CrashWorld) -> None:
        await world.zone.purge(sign(world, body, "/api/v1/purge"), encode_json(body))
        world.clock.advance(world.zone_config.cache_purge_delay_s)
        if not world.steps.is_dead:
            _, content = await visit(world)
            assert content == b"new"
        await world.zone.settle()

    async def check(world: CrashWorld) -> None:
        assert world.sql.value("SELECT count(*) FROM purge_progress WHERE finished_at IS NOT NULL") == 1
        assert world.sql.value("SELECT n FROM tally WHERE name = 'purge_seq'") == 1
        assert (await visit(world))[1] == b"new"
        assert (await visit(world))[0].header("x-cache") == "HIT"

    await crash_everywhere(warm_old, purge, check)


async def test_visitor_fills():
    """A visitor's miss fills the cache; after a crash the next one's does."""

    async def check(world: CrashWorld) -> None:
        await visit(world)
        world.edge.stored.clear()
        reply, body = await visit(world)
        assert (reply.header("x-cache"), body) == ("HIT", b"<html>")
        assert len(world.bucket._objects) == 1

    await crash_everywhere(register, visit, check)


async def test_refresh():
    """A stale page is replaced by the refresh, or by the next one."""

    async def prepare(world: CrashWorld) -> None:
        await warm_old(world)
        world.clock.advance(3700)

    async def check(world: CrashWorld) -> None:
        world.clock.advance(120)
        await visit(world)
        world.clock.advance(60)
        assert (await visit(world))[1] == b"new"

    await crash_everywhere(prepare, visit, check, minutes=1, preload_schedule_interval_s=86_400)


async def test_replay_of_dead_letters():
    """Dead letters that are replayed are warmed or back in the list."""

    async def prepare(world: CrashWorld) -> None:
        await world.register()
        world.origin.scripts[f"{SITE}/a"] = OriginReply(403)
        await world.enqueue("/a")
        await world.run_for(1)
        world.origin.scripts.clear()

    async def check(world: CrashWorld) -> None:
        assert world.services.dead_letters.count == 0
        assert world.origin.counts["/a"] == 2
        assert (await world.kv.get_json(f"preload-dlq:{ZONE}")) == []

    await crash_everywhere(prepare, lambda world: world.zone.replay_failed("{}"), check)


async def test_sitemap():
    """Each page of a sitemap is warmed, and counted once."""

    async def prepare(world: CrashWorld) -> None:
        await world.register()
        pages = "".join(f"<url><loc>{SITE}/{n}</loc></url>" for n in range(3))
        index = f"<sitemapindex><sitemap><loc>{SITE}/pages.xml</loc></sitemap></sitemapindex>"
        world.origin.scripts[f"{SITE}/sitemap.xml"] = OriginReply(body=index.encode())
        world.origin.scripts[f"{SITE}/pages.xml"] = OriginReply(body=f"<urlset>{pages}</urlset>".encode())
        await world.zone.crawl_sitemap("{}")

    async def check(world: CrashWorld) -> None:
        [batch] = world.sql.rows("SELECT total, done FROM batch")
        assert batch == {"total": 3, "done": 3}

    await crash_everywhere(prepare, lambda world: world.object.handle_alarm(), check)


async def test_schedule():
    """A page that expires before the next scheduled run is warmed by this one."""

    async def prepare(world: CrashWorld) -> None:
        await warm_old(world)
        world.clock.advance(1801)

    async def check(world: CrashWorld) -> None:
        assert world.origin.counts["/a"] == 2
        assert world.sql.value("SELECT count(*) FROM batch WHERE trigger_name = 'scheduled'") == 1

    await crash_everywhere(prepare, lambda world: world.open_service().cron.run(), check, repeats=False)


async def test_deployment():
    """After a new version the whole site is warmed once."""

    async def prepare(world: CrashWorld) -> None:
        world.deployment = "one"
        world.restart()
        await warm_old(world)
        world.deployment = "two"
        world.restart()

    async def check(world: CrashWorld) -> None:
        assert world.sql.value("SELECT count(*) FROM batch WHERE trigger_name = 'deployment'") == 1

    await crash_everywhere(
        prepare, lambda world: world.open_service().cron.run(), check, repeats=False, preload_on_deployment=True
    )


async def test_delete_zone():
    """A zone that is deleted leaves nothing: no host, no copy, no row; and one of the same name serves no old copy."""

    async def unregister(world: CrashWorld) -> None:
        try:
            await world.zone.unregister()
        except NotFound:
            assert world.steps.operations

    async def check(world: CrashWorld) -> None:
        assert await world.kv.get_text(f"config:{ZONE}") is None
        for table in ("zones", "zone_hosts", "config_snapshots", "cached_pages"):
            assert await world.rows(f"SELECT 1 FROM {table}") == [], table  # noqa: S608
        assert not world.bucket._objects
        await world.register()
        world.clock.advance(3)
        assert (await visit(world))[1] == b"new"

    await crash_everywhere(warm_old, unregister, check)


async def test_agent_leaves():
    """When the site's agent leaves, no copy is served from then on."""
    body = {"idempotency_key": UUID, "leaves": "deactivated"}

    async def leave(world: CrashWorld) -> None:
        await world.zone.set_agent(sign(world, body, f"/api/v1/zones/{ZONE}/agent"), encode_json(body))

    async def check(world: CrashWorld) -> None:
        assert world.services.state.agent.is_away
        assert not world.bucket._objects
        reply, content = await visit(world)
        assert (reply.header("x-cache"), content) == ("BYPASS", b"new")

    await crash_everywhere(warm_old, leave, check, preload_post_purge=False)
