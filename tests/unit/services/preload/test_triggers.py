"""What enqueues pages: purges, schedules, sitemaps, deployments, operators; and which requests are admitted."""

import json
from typing import Any

import pytest

from sluice.core.errors import Conflict, Invalid, NotFound, TooManyRequests, Unauthorized
from sluice.core.headers import header_value
from sluice.core.json_text import encode_json
from sluice.core.ports import HeaderPairs
from unit.services.preload.world import KEY, SITE, ZONE, OriginReply, World


async def register_zone(**config: Any) -> World:
    return await World(**config).register()


async def warm(here: World, *paths: str, tags: str = "") -> None:
    for path in paths:
        here.origin.scripts[SITE + path] = OriginReply(headers=(("cache-tag", tags), ("etag", '"1"')))
    await here.enqueue(*paths)
    await here.drain()
    here.origin.requests.clear()


async def load_triggers(here: World) -> dict[str, str]:
    rows = await here.rows("SELECT url, trigger_name FROM preload_log WHERE status = 'warmed' ORDER BY id")
    return {row["url"].removeprefix(SITE): row["trigger_name"] for row in rows}


async def test_purge_by_tag():
    """The pages of a purged tag are found in D1, removed everywhere, and warmed again in full with the trigger post-purge."""
    here = await register_zone()
    await warm(here, "/a", "/b", tags="post:1")
    await warm(here, "/c", tags="post:2")
    reply = (await here.purge(tags=["post:1"])).reply
    assert (reply["status"], reply["tags_affected"]) == ("accepted", ["post:1"])
    assert list(here.edge.stored) == [f"{SITE}/c"]
    assert len(here.bucket._objects) == 1
    [row] = await here.rows("SELECT * FROM purge_log")
    assert (row["purge_id"], row["pages_purged"], row["tags"]) == (reply["purge_id"], 2, '["post:1"]')
    await here.drain()
    assert here.origin.counts == {"/a": 1, "/b": 1}
    assert all(not header_value(headers, "if-none-match") for _, _, headers in here.origin.requests)
    assert len(here.bucket._objects) == 3
    assert await load_triggers(here) == {"/a": "post-purge", "/b": "post-purge", "/c": "manual"}


async def test_purge_by_url():
    """A purged URL is warmed whether it was stored or not, in any spelling."""
    here = await register_zone()
    await warm(here, "/a")
    await here.purge(urls=[f"{SITE}/a?utm_source=x", f"{SITE}/new"])
    await here.drain()
    assert here.origin.counts == {"/a": 1, "/new": 1}


@pytest.mark.parametrize("what", [{"global": True}, {"tags": ["site"]}])
async def test_purge_everything(what: dict[str, Any]):
    """A global purge removes every page, as the tag `site` does."""
    here = await register_zone()
    await warm(here, *(f"/{n}" for n in range(10)))
    reply = (await here.purge(**what)).reply
    assert reply["tags_affected"] == ["site"]
    assert not here.bucket._objects
    await here.drain()
    assert len(here.origin.counts) == 10


async def test_purge_without_preload():
    """With post-purge switched off, a purge warms nothing."""
    here = await register_zone(preload_post_purge=False)
    await warm(here, "/a")
    await here.purge(urls=[f"{SITE}/a"])
    await here.drain()
    assert not here.origin.requests
    assert not here.bucket._objects


async def test_purged_while_under_way():
    """A page that is purged between its fetch and its storing is fetched again."""
    here = await register_zone()
    body = [b"old"]

    async def page(_headers: HeaderPairs) -> OriginReply:
        answer = OriginReply(body=body[0])
        if body[0] == b"old":
            body[0] = b"new"
            here.clock.advance(0.5)
            await here.purge(urls=[f"{SITE}/a"])
        return answer

    here.origin.scripts[f"{SITE}/a"] = page
    await here.enqueue("/a")
    here.clock.advance(1)
    await here.drain()
    [stored] = here.bucket._objects.values()
    assert stored._content == b"new"


async def test_purge_survives_a_crash():
    """An accepted purge is carried out by the next alarm after a crash."""
    here = await register_zone()
    await warm(here, "/a", tags="post:1")
    body = {"zone_id": ZONE, "idempotency_key": "purge-7f6c4a3e-0000-4000-8000-000000000000", "tags": ["post:1"]}
    await here.zone.purge(here.sign(body, "/api/v1/purge"), encode_json(body))
    here.restart()
    await here.drain()
    assert here.origin.counts == {"/a": 1}


async def test_schedule():
    """At every interval the pages that expire before the next one are warmed again: by traffic, then by age."""
    here = await register_zone()
    await warm(here, "/old", "/busy", "/young")
    facts = [{"url": f"{SITE}/busy", "monthly_pageviews": 1000, "post_id": 7}]
    assert await here.zone.store_page_facts(encode_json({"pages": facts})) == {"learned": 1}
    here.clock.advance(1700)
    await here.zone.tick()
    assert (await here.zone.show_status())["queue_depth"] == 0
    here.clock.advance(101)
    await here.zone.tick()
    mirror = json.loads(await here.kv.get_text(f"preload-queue:{ZONE}") or "")
    assert [(each["url"].removeprefix(SITE), each["priority"], each["trigger"]) for each in mirror] == [
        ("/busy", 80, "scheduled"),
        ("/old", 50, "scheduled"),
        ("/young", 50, "scheduled"),
    ]
    assert mirror[0]["post_id"] == 7


async def test_schedule_keeps_every_page_warm():
    """Of 100 pages that live an hour none expires within six hours, and none is fetched more often than needed."""
    here = await register_zone(preload_queue_max_depth=1000, preload_rps_limit=1000, preload_rpm_limit=60_000)
    paths = [f"/{n}" for n in range(100)]
    await here.enqueue(*paths)
    await here.drain()
    here.origin.requests.clear()
    for _ in range(6 * 6):
        here.clock.advance(600)
        await here.zone.tick()
        await here.drain()
        [row] = await here.rows("SELECT count(*) AS n FROM cached_pages WHERE fresh_until > ?", here.clock.now())
        assert row["n"] == 100
    assert len(here.origin.counts) == 100
    assert set(here.origin.counts.values()) <= set(range(5, 13))


async def test_short_lives_are_not_scheduled():
    """A page that lives less than five minutes is not kept warm."""
    here = await register_zone()
    here.origin.default = OriginReply(headers=(("cache-control", "max-age=299"),))
    await here.enqueue("/a")
    await here.drain()
    here.origin.requests.clear()
    here.clock.advance(1801)
    await here.zone.tick()
    await here.drain()
    assert not here.origin.requests


async def test_deployment():
    """A new version of the Worker warms the whole site, if the zone wants that."""
    here = await register_zone(preload_on_deployment=True)
    await warm(here, "/a", "/b")
    for version, count in (("v1", 0), ("v1", 0), ("v2", 3), ("v2", 3)):
        here.deployment = version
        here.restart()
        await here.zone.tick()
        await here.drain()
        assert len(here.origin.requests) == count
    assert (await load_triggers(here))["/"] == "deployment"


def sitemap(*urls: str, kind: str = "url", lastmod: str = "") -> OriginReply:
    dated = f"<lastmod>{lastmod}</lastmod>" if lastmod else ""
    inside = "".join(f"<{kind}><loc>{url}</loc>{dated}</{kind}>" for url in urls)
    root = "urlset" if kind == "url" else "sitemapindex"
    return OriginReply(body=f"<{root}>{inside}</{root}>".encode())


async def test_sitemap():
    """A crawl follows an index, enqueues each of the zone's own pages once, and skips all others."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/sitemap.xml"] = sitemap(
        f"{SITE}/1.xml", f"{SITE}/sitemap.xml", "https://other.com/2.xml", "http://127.0.0.1/3.xml", kind="sitemap"
    )
    here.origin.scripts[f"{SITE}/1.xml"] = sitemap(f"{SITE}/a", f"{SITE}/b?utm_x=1", f"{SITE}/b", "https://other.com/c")
    reply = await here.zone.crawl_sitemap(encode_json({}))
    await here.drain()
    assert here.origin.counts == {"/sitemap.xml": 1, "/1.xml": 1, "/a": 1, "/b": 1}
    batch = await here.batch(reply["preload_batch_id"])
    assert (batch["state"], batch["done"], batch["skipped"], batch["total"]) == ("finished", 2, 1, 3)
    assert await load_triggers(here) == {"/a": "sitemap", "/b": "sitemap"}


async def test_sitemap_respects_lastmod():
    """A page that was warmed after its last change and is still fresh is skipped."""
    here = await register_zone()
    await warm(here, "/a", "/b")
    here.origin.scripts[f"{SITE}/sitemap.xml"] = sitemap(f"{SITE}/a", lastmod="2020-01-01")
    await here.zone.crawl_sitemap(encode_json({}))
    await here.drain()
    assert here.origin.counts == {"/sitemap.xml": 1}
    here.origin.scripts[f"{SITE}/sitemap.xml"] = sitemap(f"{SITE}/a", lastmod="2099-01-01")
    await here.zone.crawl_sitemap(encode_json({}))
    await here.drain()
    assert here.origin.counts == {"/sitemap.xml": 2, "/a": 1}


@pytest.mark.parametrize("place", ["/from-robots.xml", "/wp-sitemap.xml", "/sitemap_index.xml"])
async def test_sitemap_is_found(place: str):
    """When the configured sitemap is missing, robots.txt and the paths of WordPress and Yoast are tried."""
    here = await register_zone()
    here.origin.default = OriginReply(404)
    here.origin.scripts[f"{SITE}{place}"] = sitemap(f"{SITE}/a")
    if place == "/from-robots.xml":
        here.origin.scripts[f"{SITE}/robots.txt"] = OriginReply(body=f"Sitemap: {SITE}{place}".encode())
    here.origin.scripts[f"{SITE}/a"] = OriginReply()
    await here.zone.crawl_sitemap(encode_json({}))
    await here.drain()
    assert here.origin.counts["/a"] == 1


async def test_sitemap_failures():
    """A hostile sitemap is refused, one that fails is retried; the crawl ends in any case."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/bomb.xml"] = OriginReply(body=b"<!DOCTYPE a [<!ENTITY b 'c'>]><urlset/>")
    here.origin.scripts[f"{SITE}/down.xml"] = OriginReply(503)
    here.origin.scripts[f"{SITE}/moved.xml"] = OriginReply(301, (("location", "/bomb.xml"),))
    for path in ("/bomb.xml", "/down.xml", "/moved.xml"):
        reply = await here.zone.crawl_sitemap(encode_json({"url": SITE + path}))
        await here.drain()
        assert (await here.batch(reply["preload_batch_id"]))["state"] == "finished"
    assert here.origin.counts["/down.xml"] == 4
    rows = await here.rows("SELECT url, detail FROM preload_log WHERE status = 'sitemap_failed' ORDER BY id")
    assert "document type" in rows[0]["detail"]
    with pytest.raises(Invalid, match="not on one of the zone's hosts"):
        await here.zone.crawl_sitemap(encode_json({"url": "http://127.0.0.1/sitemap.xml"}))


async def test_sitemap_on_activation():
    """When sitemap crawling is switched on, it begins at once and repeats once a day."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/sitemap.xml"] = sitemap(f"{SITE}/a")
    here.config["preload_sitemap_crawl_enabled"] = True
    await here.zone.configure(encode_json(here.config))
    await here.drain()
    assert here.origin.counts["/sitemap.xml"] == 1
    for advanced, count in ((3600, 1), (86_400, 2)):
        here.clock.advance(advanced)
        await here.zone.tick()
        await here.drain()
        assert here.origin.counts["/sitemap.xml"] == count


async def test_variants_are_warmed():
    """Every variant of a page is warmed under its own key."""
    here = await register_zone(cache_device_variants=True)
    batch = await here.enqueue("/a")
    await here.drain()
    assert (await here.batch(batch))["done"] == 2
    assert [("Mobile" in header_value(headers, "user-agent")) for _, _, headers in here.origin.requests] == [
        False,
        True,
    ]
    assert len(here.edge.stored) == len(here.bucket._objects) == 2


async def test_nonce():
    """A nonce is valid once, until it has expired."""
    here = await register_zone()
    await here.preload("/a", nonce="0" * 32)
    with pytest.raises(Conflict, match="replay"):
        await here.preload("/b", nonce="0" * 32)
    here.clock.advance(401)
    await here.preload("/b", nonce="0" * 32)


async def test_bad_signature_uses_no_nonce():
    """A caller who cannot sign cannot use up the nonce of one who can."""
    here = await register_zone()
    with pytest.raises(Unauthorized):
        await here.preload("/a", nonce="0" * 32, key="wrong")
    await here.preload("/a", nonce="0" * 32)


async def test_idempotency():
    """The same key and body get the first reply for a day and do nothing more; another body is a conflict."""
    here = await register_zone()
    key = {"idempotency_key": "preload-7f6c4a3e-0000-4000-8000-000000000000"}
    first = await here.preload("/a", **key)
    again = await here.preload("/a", **key)
    assert (first.replayed, again.replayed, again.reply) == (False, True, first.reply)
    assert (await here.zone.show_status())["queue_depth"] == 1
    with pytest.raises(Conflict, match="another body"):
        await here.preload("/b", **key)
    here.clock.advance(86_401)
    assert not (await here.preload("/b", **key)).replayed


async def test_rate_limit():
    """500 preload requests in a minute, then an error with the seconds to wait; 60 global purges in an hour."""
    here = await register_zone()
    for _ in range(500):
        await here.preload("/a")
    with pytest.raises(TooManyRequests) as raised:
        await here.preload("/a")
    assert raised.value.retry_after_s == 1
    here.clock.advance(1)
    await here.preload("/a")
    for _ in range(60):
        await here.purge(**{"global": True})
    with pytest.raises(TooManyRequests) as raised:
        await here.purge(**{"global": True})
    assert 50 <= raised.value.retry_after_s <= 60
    await here.purge(tags=["post:1"])


async def test_own_key():
    """A zone with its own key accepts only that one; after a change the former key is valid for five minutes."""
    here = await register_zone()
    for key in ("first-key-of-the-zone", "second-key-of-the-zone"):
        await here.zone.configure(encode_json(here.config), signing_key=key)
    await here.preload("/a", key="second-key-of-the-zone")
    await here.preload("/a", key="first-key-of-the-zone")
    with pytest.raises(Unauthorized):
        await here.preload("/a", key=KEY)
    here.clock.advance(301)
    with pytest.raises(Unauthorized):
        await here.preload("/a", key="first-key-of-the-zone")
    text = json.dumps(await here.zone.show_config())
    assert "key-of-the-zone" not in text + (await here.kv.get_text(f"config:{ZONE}") or "")
    assert '"own_signing_key": true' in text


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"urls": []}, "urls"),
        ({"urls": [f"{SITE}/{n}" for n in range(101)]}, "urls"),
        ({"urls": ["https://other.com/", f"{SITE}/a"]}, "urls[0]"),
        ({"urls": ["http://127.0.0.1/"]}, "urls[0]"),
        ({"idempotency_key": "preload-1"}, "idempotency_key"),
        ({"idempotency_key": "purge-7f6c4a3e-0000-4000-8000-000000000000"}, "idempotency_key"),
        ({"priority": 101}, "priority"),
        ({"priority": -1}, "priority"),
        ({"trigger": "whim"}, "trigger"),
        ({"extra": 1}, "extra"),
    ],
)
async def test_bad_requests(more: dict[str, Any], field: str):
    """A bad field is refused by name, and nothing is enqueued."""
    here = await register_zone()
    with pytest.raises(Invalid) as raised:
        await here.preload("/a", **more)
    assert [bad.field for bad in raised.value.fields] == [field]
    assert (await here.zone.show_status())["queue_depth"] == 0


async def test_priorities():
    """A given priority is used as it is; otherwise the trigger, the date and the traffic decide."""
    here = await register_zone()
    await here.zone.store_page_facts(
        encode_json({"pages": [{"url": f"{SITE}/a", "published_at": here.clock.now() - 3600}]})
    )
    await here.zone.pause()
    await here.preload("/a", "/b", trigger="post-purge")
    await here.preload("/c", priority=7)
    await here.zone.settle()
    mirror = json.loads(await here.kv.get_text(f"preload-queue:{ZONE}") or "")
    assert [(each["url"].removeprefix(SITE), each["priority"]) for each in mirror] == [
        ("/a", 99),
        ("/b", 80),
        ("/c", 7),
    ]


async def test_mirror_stops():
    """With more than 1,000 entries there is no mirror rather than half of one."""
    here = await register_zone()
    await here.zone.pause()
    await here.enqueue(*(f"/{n}" for n in range(1000)))
    await here.zone.tick()
    assert len(json.loads(await here.kv.get_text(f"preload-queue:{ZONE}") or "")) == 1000
    await here.enqueue("/more")
    here.clock.advance(11)
    await here.zone.tick()
    assert await here.kv.get_text(f"preload-queue:{ZONE}") is None


async def test_configuration():
    """A configuration is published to KV and D1; an earlier one can be restored."""
    here = await register_zone()
    await here.zone.configure(encode_json(here.config | {"preload_rps_limit": 5, "hosts": ["www2.example.com"]}))
    assert json.loads(await here.kv.get_text(f"config:{ZONE}") or "")["preload_rps_limit"] == 5
    assert await here.kv.get_text("host:www2.example.com") == ZONE
    versions = (await here.zone.list_versions())["versions"]
    assert [(each["version"], each["config"]["preload_rps_limit"]) for each in versions] == [(2, 5), (1, 10)]
    assert (await here.zone.restore_version(1))["version"] == 3
    assert (await here.zone.show_config())["config"]["preload_rps_limit"] == 10
    assert await here.kv.get_text("host:www2.example.com") is None
    with pytest.raises(NotFound):
        await here.zone.restore_version(9)


async def test_configuration_by_hand():
    """A configuration that is written into KV by hand is adopted within minutes; an invalid one is logged and ignored."""
    here = await register_zone()
    edited = (await here.zone.show_config())["config"] | {"preload_rps_limit": 3}
    for text, limit in ((json.dumps(edited), 3), ("{}", 3), ("no json", 3)):
        here.clock.advance(121)
        await here.kv.put_text(f"config:{ZONE}", text)
        await here.zone.tick()
        assert (await here.zone.show_config())["config"]["preload_rps_limit"] == limit
    assert [name for name, _ in here.log.lines].count("config.refused") == 2


async def test_host_of_another_zone():
    """A host belongs to the zone that named it last, also after another zone is unregistered."""
    here = await register_zone()
    await here.kv.put_text("host:taken.example.com", "another")
    await here.zone.configure(encode_json(here.config | {"hosts": ["taken.example.com"]}))
    assert await here.kv.get_text("host:taken.example.com") == ZONE
    here.clock.advance(2)
    await here.kv.put_text("host:taken.example.com", "another")
    await here.zone.unregister()
    assert await here.kv.get_text("host:taken.example.com") == "another"


async def test_unregister():
    """An unregistered zone gives up its hosts and its queue; registered again, it starts empty."""
    here = await register_zone(preload_retry_max=0)
    here.origin.default = OriginReply(500)
    await here.enqueue("/a")
    await here.drain()
    await here.enqueue("/b")
    await here.zone.unregister()
    await here.drain()
    for key in (f"config:{ZONE}", "host:www.example.com", f"preload-queue:{ZONE}", f"preload-dlq:{ZONE}"):
        assert await here.kv.get_text(key) is None
    with pytest.raises(NotFound):
        await here.zone.show_status()
    assert (await here.zone.configure(encode_json(here.config)))["version"] == 2
    status = await here.zone.show_status()
    assert (status["queue_depth"], status["dead_letters"], here.origin.counts) == (0, 0, {"/a": 1})


async def test_unregistered():
    """The error of a zone that was never registered says how to register it."""
    with pytest.raises(NotFound, match="PUT /api/v1/zones/abc123xyz/config first"):
        await World().zone.show_status()
