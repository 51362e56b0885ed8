"""What a site may do with its signature besides preload and purge: sitemap, pages, its own settings, and looking."""

import random
import uuid
from typing import Any

import pytest

from sluice.core.errors import Conflict, Invalid, NotFound, Unauthorized
from sluice.core.headers import header_value
from sluice.core.json_text import encode_json
from sluice.core.preload.request_signing import SignedRequest, compute_signature, sign_request
from unit.services.preload.world import KEY, SITE, ZONE, Answer, OriginReply, World, read_reply

CALLS = {"crawl_for_site": ("POST", "sitemap"), "store_site_facts": ("PUT", "pages"), "set_agent": ("PUT", "agent")}
SITEMAP = b"<urlset><url><loc>https://www.example.com/a</loc></url></urlset>"


def new_key(word: str = "site") -> str:
    return f"{word}-{uuid.UUID(int=random.getrandbits(128), version=4)}"


def sign(here: World, method: str, route: str, content: bytes = b"", key: str = KEY) -> SignedRequest:
    path = f"/api/v1/zones/{ZONE}/{route}"
    headers = sign_request(key, method, path, content, now=here.clock.now(), nonce=random.randbytes(16).hex())
    return SignedRequest.from_request(method, path, {name.lower(): value for name, value in headers.items()}, content)


async def send(here: World, call: str, body: dict[str, Any], key: str = KEY) -> Answer:
    method, route = CALLS[call]
    signed = sign(here, method, route, repr(body).encode(), key)
    return read_reply(await getattr(here.zone, call)(signed, encode_json(body)))


async def facts_of(here: World, path: str) -> tuple[Any, ...]:
    [row] = await here.rows("SELECT * FROM page_facts WHERE url = ?", SITE + path)
    return row["monthly_pageviews"], row["published_at"], row["post_id"]


async def test_sitemap():
    """A signed sitemap request crawls the zone's own sitemap, or another one on its hosts."""
    here = await World().register()
    here.origin.scripts[f"{SITE}/sitemap.xml"] = OriginReply(body=SITEMAP)
    reply = (await send(here, "crawl_for_site", {"idempotency_key": new_key("sitemap")})).reply
    assert (reply["status"], reply["sitemap"]) == ("accepted", f"{SITE}/sitemap.xml")
    await here.drain()
    assert (await here.batch(reply["preload_batch_id"]))["done"] == 1
    with pytest.raises(Invalid, match="one of the zone's hosts"):
        await send(here, "crawl_for_site", {"idempotency_key": new_key(), "url": "https://other.example/s.xml"})


async def test_pages_are_merged():
    """What is told about a page leaves what was known before, field by field."""
    here = await World().register()
    url = f"{SITE}/a"
    await send(
        here, "store_site_facts", {"idempotency_key": new_key(), "pages": [{"url": url, "monthly_pageviews": 900}]}
    )
    await send(here, "store_site_facts", {"idempotency_key": new_key(), "pages": [{"url": url, "post_id": 12}]})
    await here.zone.store_page_facts(
        encode_json({"pages": [{"url": url, "published_at": 1_700_000_000}, {"url": f"{SITE}/b"}]})
    )
    assert await facts_of(here, "/a") == (900, 1_700_000_000, 12)
    assert await facts_of(here, "/b") == (0, None, None)
    with pytest.raises(Invalid, match=r"pages\[1\]\.url"):
        await here.zone.store_page_facts(encode_json({"pages": [{"url": url}, {"url": "https://other.example/"}]}))


async def test_agent_sets_its_own_fields_only():
    """The agent changes two fields of the configuration, keeps the rest, and resets a field by null."""
    here = await World(preload_rps_limit=3).register()
    body = {"origin_cron_path": "/wp-cron.php", "preload_sitemap_url": "{site_url}/wp-sitemap.xml"}
    reply = (await send(here, "set_agent", {"idempotency_key": new_key(), **body})).reply
    assert reply == {
        "zone_id": ZONE,
        "version": 2,
        "origin_cron_path": "/wp-cron.php",
        "preload_sitemap_url": f"{SITE}/wp-sitemap.xml",
        "away_since": None,
    }
    await here.drain()
    published = await here.kv.get_json(f"config:{ZONE}")
    assert (published["origin_cron_path"], published["preload_rps_limit"]) == ("/wp-cron.php", 3)
    reply = (await send(here, "set_agent", {"idempotency_key": new_key(), "origin_cron_path": None})).reply
    assert (reply["origin_cron_path"], reply["preload_sitemap_url"]) == (None, f"{SITE}/wp-sitemap.xml")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("preload_rps_limit", 1000),
        ("site_url", "https://other.example"),
        ("origin_cron_path", "//other.example/x"),
        ("origin_cron_path", "/..//127.0.0.1:8801"),
        ("presence_path", "/..//127.0.0.1:8801"),
        ("origin_cron_path", "wp-cron.php"),
        ("origin_cron_path", "/wp cron"),
        ("preload_sitemap_url", "https://other.example/s.xml"),
        ("idempotency_key", "agent-1"),
        ("zone_id", "another"),
    ],
)
async def test_agent_is_limited(field: str, value: Any):
    """Everything else of the configuration is out of the agent's reach, and bad values are named."""
    here = await World().register()
    with pytest.raises(Invalid, match=field):
        await send(here, "set_agent", {"idempotency_key": new_key(), field: value})
    assert (await here.zone.show_config())["version"] == 1


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("crawl_for_site", {}),
        ("store_site_facts", {"pages": [{"url": f"{SITE}/a", "post_id": 1}]}),
        ("set_agent", {"origin_cron_path": "/cron"}),
    ],
)
async def test_every_write_has_an_idempotency_key(call: str, body: dict[str, Any]):
    """Without a key a signed write is refused; the same key gets the first reply again, and 409 with another body."""
    here = await World().register()
    with pytest.raises(Invalid, match="idempotency_key"):
        await send(here, call, body)
    keyed = body | {"idempotency_key": new_key()}
    first = await send(here, call, keyed)
    second = await send(here, call, keyed)
    assert (first.replayed, second.replayed) == (False, True)
    assert first.reply == second.reply
    with pytest.raises(Conflict, match="another body"):
        await send(here, call, keyed | {"zone_id": ZONE})
    with pytest.raises(Unauthorized):
        await send(here, call, keyed, key="not-the-key-of-this-zone")


async def test_keys_belong_to_their_route():
    """A key that was used for one route says nothing about another."""
    here = await World().register()
    key = new_key()
    assert not (await send(here, "crawl_for_site", {"idempotency_key": key})).replayed
    assert not (await send(here, "set_agent", {"idempotency_key": key})).replayed


async def test_status_for_the_site():
    """A signed status has the queue's depth and the hit ratio of the last 24 hours."""
    here = await World().register()
    await here.enqueue("/a", "/b")
    status: Any = await here.zone.show_to_site(sign(here, "GET", "status"), "status", "")
    assert (status["queue_depth"], status["hit_ratio"]) == (2, None)
    counts = {"edge": (6, 600, 12), "r2": (2, 200, 8), "origin": (2, 9, 200)}
    here.services.traffic.add(counts, {}, here.clock.now())
    here.services.traffic.add({"edge": (90, 0, 0)}, {}, here.clock.now() - 2 * 86_400)
    status = await here.zone.show_to_site(sign(here, "GET", "status"), "status", "")
    assert status["hit_ratio"] == 0.8
    with pytest.raises(Unauthorized):
        await here.zone.show_to_site(sign(here, "GET", "status", key="wrong-wrong-wrong"), "status", "")


async def test_purge_progress():
    """A purge can be looked at by its id: how many pages are gone, and whether it is done."""
    here = await World().register()
    await here.enqueue("/a", "/b")
    await here.drain()
    purge_id = (await here.purge(**{"global": True})).reply["purge_id"]
    progress: Any = await here.zone.show_to_site(sign(here, "GET", f"purges/{purge_id}"), "purge", purge_id)
    assert (progress["purge_id"], progress["state"], progress["pages_removed"]) == (purge_id, "done", 2)
    assert await here.zone.show_purge(purge_id) == progress
    with pytest.raises(NotFound, match="no purge"):
        await here.zone.show_purge("purge-unknown")


async def test_cron_path():
    """The minute's cron asks for the site's own timers; a failure is in the log and stops nothing."""
    here = await World(origin_cron_path="/wp-cron.php").register()
    url = f"{SITE}/wp-cron.php"
    await here.zone.tick()
    assert here.origin.counts["/wp-cron.php"] == 1
    here.origin.scripts[url] = OriginReply(status=503)
    await here.zone.tick()
    [row] = await here.rows("SELECT url, status, detail FROM preload_log")
    assert row == {"url": url, "status": "cron_failed", "detail": "status 503"}


@pytest.mark.parametrize("own_key", [None, "the-own-key-of-this-zone"])
async def test_proof_for_the_origin(own_key: str | None):
    """Each request to the origin proves by the zone's key which host and protocol were asked for."""
    here = World(origin_url="https://origin.example.net")
    await here.zone.configure(encode_json(here.config), own_key)
    await here.enqueue("/a")
    await here.drain()
    [(at, _, headers)] = here.origin.requests
    timestamp = str(int(at))
    text = f"proxy\nwww.example.com\nhttps\n\n{timestamp}"
    assert header_value(headers, "x-sluice-proxy") == f"t={timestamp},v={compute_signature(own_key or KEY, text)}"
