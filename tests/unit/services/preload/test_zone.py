"""A zone from the request to the stored page: every kind of failure, the breaker, alerts, dead letters."""

from itertools import pairwise
from typing import Any

import pytest

from sluice.core.errors import Conflict, ConnectionLost, Refused, TimedOut
from sluice.core.headers import header_value
from sluice.core.json_text import encode_json
from sluice.core.ports import HeaderPairs
from sluice.services.preload.queue.queue import MAX_CRASHES
from unit.services.preload.world import SITE, ZONE, OriginReply, World


async def register_zone(**config: Any) -> World:
    return await World(**config).register()


async def load_counts(here: World, batch_id: str) -> dict[str, int]:
    batch: dict[str, Any] = {**await here.batch(batch_id)}
    results = ("done", "failed", "gone", "skipped", "dropped", "cancelled")
    assert batch["total"] == batch["queued"] + sum(batch[name] for name in results)
    return {name: batch[name] for name in ("queued", *results) if batch[name]}


async def test_warmed():
    """A page is fetched past all caches, stored in R2 and at the edge, indexed with its tags, and logged with its latency."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/a/"] = OriginReply(headers=(("etag", '"1"'), ("surrogate-key", "post:1 term:2")))
    reply = await here.preload("/a/")
    assert reply.reply | {"preload_batch_id": ""} == {
        "preload_batch_id": "",
        "status": "accepted",
        "enqueued": 1,
        "queue_depth": 1,
    }
    await here.drain()
    assert await load_counts(here, reply.reply["preload_batch_id"]) == {"done": 1}
    [(_, url, headers)] = here.origin.requests
    assert (url, header_value(headers, "cache-control")) == (f"{SITE}/a/", "no-cache")
    assert list(here.edge.stored) == [f"{SITE}/a/"]
    assert len(here.bucket._objects) == 1
    tags = await here.rows("SELECT tag FROM page_tags ORDER BY tag")
    assert [row["tag"] for row in tags] == ["post:1", "term:2"]
    [row] = await here.rows("SELECT * FROM preload_log")
    assert (row["zone_id"], row["status"], row["http_status"], row["latency_ms"]) == (ZONE, "warmed", 200, 0)


async def test_unchanged():
    """A page that has not changed costs a 304, and its copy counts as new."""
    here = await register_zone()
    seen: list[str] = []

    def page(headers: HeaderPairs) -> OriginReply:
        seen.append(header_value(headers, "if-none-match"))
        return (
            OriginReply(304)
            if header_value(headers, "if-none-match") == '"1"'
            else OriginReply(headers=(("etag", '"1"'),))
        )

    here.origin.scripts[f"{SITE}/a"] = page
    for _ in range(2):
        batch = await here.enqueue("/a")
        await here.drain()
        assert await load_counts(here, batch) == {"done": 1}
        here.clock.advance(1000)
    assert seen == ["", '"1"']
    assert await here.statuses("/a") == ["warmed", "unchanged"]
    [row] = await here.rows("SELECT renewed_at FROM cached_pages")
    assert row["renewed_at"] > here.clock.now() - 1001
    assert here.bucket.writes == 1


async def test_unchanged_without_a_copy():
    """When the copy is missing and the origin says unchanged, the page is fetched in full."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/a"] = lambda headers: (
        OriginReply(304) if header_value(headers, "if-none-match") else OriginReply(headers=(("etag", '"1"'),))
    )
    await here.enqueue("/a")
    await here.drain()
    here.bucket._objects.clear()
    await here.enqueue("/a")
    await here.drain()
    assert await here.statuses("/a") == ["warmed", "again", "warmed"]
    assert len(here.bucket._objects) == 1


async def test_server_errors_are_retried():
    """5xx: three retries after 5, 25 and 125 s, then the page is a dead letter."""
    here = await register_zone(preload_circuit_breaker_threshold=100)
    here.origin.scripts[f"{SITE}/a"] = OriginReply(503)
    batch = await here.enqueue("/a")
    await here.drain()
    times = [at for at, _, _ in here.origin.requests]
    assert [round(after - before) for before, after in pairwise(times)] == [5, 25, 125]
    assert await here.statuses("/a") == ["retry", "retry", "retry", "failed"]
    assert await load_counts(here, batch) == {"failed": 1}
    [dead] = (await here.zone.list_failed(10))["failed"]
    assert (dead["url"], dead["status"], dead["reason"], dead["attempt"]) == (f"{SITE}/a", 503, "status 503", 3)
    assert '"reason":"status 503"' in (await here.kv.get_text(f"preload-dlq:{ZONE}") or "")


async def test_timeouts_are_retried():
    """No response within 30 s: three retries."""
    here = await register_zone(preload_circuit_breaker_threshold=100)
    here.origin.scripts[f"{SITE}/a"] = TimedOut("no answer within 30 s")
    await here.enqueue("/a")
    await here.drain()
    assert here.origin.counts == {"/a": 4}
    assert await here.statuses("/a") == ["retry", "retry", "retry", "failed"]


@pytest.mark.parametrize("status", [404, 410])
async def test_gone(status: int):
    """404 and 410: no retry, logged as gone, and the stored copy is removed."""
    here = await register_zone()
    await here.enqueue("/a")
    await here.drain()
    here.origin.scripts[f"{SITE}/a"] = OriginReply(status)
    batch = await here.enqueue("/a")
    await here.drain()
    assert await load_counts(here, batch) == {"gone": 1}
    assert await here.statuses("/a") == ["warmed", "gone"]
    assert not here.bucket._objects
    assert not here.edge.stored
    assert await here.rows("SELECT * FROM cached_pages") == []


async def test_too_many_requests():
    """429: retried when Retry-After says, and the whole zone waits with it."""
    here = await register_zone()
    answers = [OriginReply(429, (("retry-after", "40"),)), OriginReply()]
    here.origin.scripts[f"{SITE}/a"] = lambda _headers: answers.pop(0)
    await here.enqueue("/a", priority=100)
    await here.ring_alarm()
    await here.enqueue("/b")
    await here.drain()
    [first, *rest] = here.origin.requests
    assert [url for _, url, _ in rest] == [f"{SITE}/a", f"{SITE}/b"]
    assert all(at - first[0] >= 40 for at, _, _ in rest)


async def test_other_client_errors_are_final():
    """403: no retry, but visible among the failed pages."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/a"] = OriginReply(403)
    batch = await here.enqueue("/a")
    await here.drain()
    assert here.origin.counts == {"/a": 1}
    assert await load_counts(here, batch) == {"failed": 1}
    assert (await here.zone.list_failed(1))["failed"][0]["reason"] == "status 403"


async def test_lost_connection():
    """A connection that is lost costs one attempt: it may have been a reused one, so the next attempt follows at once."""
    here = await register_zone()
    answers: list[OriginReply | Exception] = [
        ConnectionLost("x did not answer: Network connection lost."),
        OriginReply(),
    ]

    def page(_headers: HeaderPairs) -> OriginReply:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    here.origin.scripts[f"{SITE}/a"] = page
    await here.enqueue("/a")
    await here.drain()
    assert await here.statuses("/a") == ["retry", "warmed"]
    assert len({at for at, _, _ in here.origin.requests}) == 1
    assert here.services.state.breaker.failing == ()


async def test_lost_connections():
    """A page whose connection is always lost gets four requests in all; three such pages open the breaker."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/a"] = ConnectionLost("lost")
    batch = await here.enqueue("/a")
    await here.drain()
    assert here.origin.counts == {"/a": 4}
    assert await load_counts(here, batch) == {"failed": 1}
    here.origin.default = ConnectionLost("lost")
    await here.enqueue("/b", "/c", "/d")
    await here.ring_alarm()
    assert here.services.state.breaker.state == "open"


@pytest.mark.parametrize(("failures", "logged"), [(2, "warmed"), (3, "edge_only")])
async def test_bucket_fails(failures: int, logged: str):
    """R2 is tried three times; then only the edge holds the page."""
    here = await register_zone()
    here.bucket.failures = failures
    batch = await here.enqueue("/a")
    await here.drain()
    assert await here.statuses("/a") == [logged]
    assert await load_counts(here, batch) == {"done": 1}
    assert (len(here.bucket._objects), len(here.edge.stored)) == (int(failures == 2), 1)


async def test_nothing_stores():
    """When R2 and the edge both fail, the page is retried later."""
    here = await register_zone()
    here.bucket.failures, here.edge.broken = 3, True
    await here.enqueue("/a")
    await here.ring_alarm()
    assert await here.statuses("/a") == ["retry"]
    here.edge.broken = False
    await here.drain()
    assert await here.statuses("/a") == ["retry", "warmed"]


@pytest.mark.parametrize(
    "headers",
    [
        (("set-cookie", "session=1"),),
        (("cache-control", "private"),),
        (("cache-control", "no-store"),),
        (("cache-control", "max-age=0"),),
        (("vary", "Cookie"),),
        (("vary", "Accept-Encoding, Authorization"),),
        (("vary", "*"),),
    ],
)
async def test_never_stored(headers: HeaderPairs):
    """A response that must not be shared is not stored, and an earlier copy is removed."""
    here = await register_zone()
    await here.enqueue("/a")
    await here.drain()
    here.origin.scripts[f"{SITE}/a"] = OriginReply(headers=headers)
    batch = await here.enqueue("/a")
    await here.drain()
    assert await load_counts(here, batch) == {"skipped": 1}
    assert not here.bucket._objects
    assert not here.edge.stored


async def test_pages_never_fetched():
    """Logged-in, cart and preview pages are not even fetched."""
    here = await register_zone()
    batch = await here.enqueue("/wp-admin/", "/cart/", "/p?preview=true", "/p")
    await here.drain()
    assert here.origin.counts == {"/p": 1}
    assert await load_counts(here, batch) == {"done": 1, "skipped": 3}


async def test_redirects():
    """The target of a redirect within the zone is warmed in the same batch; one out of it is not followed, one to itself fails."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/old"] = OriginReply(301, (("location", "/new"),))
    here.origin.scripts[f"{SITE}/out"] = OriginReply(302, (("location", "http://169.254.169.254/latest"),))
    here.origin.scripts[f"{SITE}/loop"] = OriginReply(302, (("location", "/loop"),))
    batch = await here.enqueue("/old", "/out", "/loop")
    await here.drain()
    assert here.origin.counts == {"/old": 1, "/new": 1, "/out": 1, "/loop": 1}
    assert await load_counts(here, batch) == {"done": 1, "skipped": 2, "failed": 1}
    [row] = await here.rows("SELECT detail FROM preload_log WHERE url = ?", f"{SITE}/out")
    assert row["detail"].startswith("redirects to http://169.254.169.254/latest")


async def test_refused_address():
    """A URL that must not be fetched fails at once, without a retry."""
    here = await register_zone()
    here.origin.scripts[f"{SITE}/a"] = Refused("10.0.0.1 is not a public address")
    await here.enqueue("/a")
    await here.drain()
    assert await here.statuses("/a") == ["failed"]


async def test_breaker_cycle():
    """Three failures open it for 30 s, each failed probe doubles that up to 30 min, a good probe closes it."""
    here = await register_zone(preload_retry_max=10)
    here.origin.default = OriginReply(500)
    await here.enqueue(*(f"/{n}" for n in range(40)))
    await here.ring_alarm()
    status = await here.zone.show_status()
    assert status["breaker"]["state"] == "open"
    assert status["breaker"]["backoff_s"] == 30
    # Pages that were under way when the third failed fail too; none is started afterwards.
    assert 3 <= len(here.origin.requests) <= 6
    assert status["alerts"] == ["breaker_open", "failure_rate"]

    backoffs = []
    for _ in range(9):
        before = len(here.origin.requests)
        open_until = (await here.zone.show_status())["breaker"]["open_until"]
        assert open_until is not None
        here.clock.advance(open_until - here.clock.now() + 1)
        await here.object.handle_alarm()
        assert len(here.origin.requests) == before + 1
        backoffs.append((await here.zone.show_status())["breaker"]["backoff_s"])
    assert backoffs == [60, 120, 240, 480, 960, 1800, 1800, 1800, 1800]

    here.origin.default = OriginReply()
    here.clock.advance(1801)
    await here.drain()
    status = await here.zone.show_status()
    assert (status["breaker"]["state"], status["queue_depth"]) == ("closed", 0)
    [alert] = await here.rows("SELECT * FROM preload_alerts WHERE kind = 'breaker_open'")
    assert alert["level"] == "critical"
    assert alert["resolved_at"] is not None


async def test_bad_pages_do_not_keep_good_ones_out():
    """Three pages that always fail are set aside; the 17 good ones behind them are warmed within minutes."""
    here = await register_zone(preload_max_concurrency=1)
    bad, good = [f"/bad{n}" for n in range(3)], [f"/good{n}" for n in range(17)]
    for path in bad:
        here.origin.scripts[SITE + path] = OriginReply(500)
    begun_at = here.clock.now()
    await here.enqueue(*bad, priority=100)
    batch = await here.enqueue(*good, priority=50)
    await here.drain()
    assert (await here.batch(batch))["done"] == 17
    assert here.clock.now() - begun_at < 300
    status = await here.zone.show_status()
    assert (status["breaker"]["state"], status["dead_letters"]) == ("closed", 3)
    assert all(each["fails_since"] < each["failed_at"] for each in (await here.zone.list_failed(9))["failed"])
    here.clock.advance(3600)
    await here.zone.tick()
    await here.drain()
    assert (await here.zone.show_status())["breaker"]["state"] == "closed"


@pytest.mark.parametrize("has_worked", [True, False])
async def test_probe(*, has_worked: bool):
    """A half-open breaker tries a page that has worked before, else one that has not failed yet, whatever their priority."""
    here = await register_zone(preload_max_concurrency=1, preload_retry_max=10)
    if has_worked:
        await here.enqueue("/worked")
        await here.drain()
    here.origin.default = OriginReply(500)
    await here.enqueue("/a", "/b", "/c", priority=100)
    await here.object.handle_alarm()
    assert (await here.zone.show_status())["breaker"]["state"] == "open"
    await here.enqueue("/new", priority=20)
    await here.enqueue("/worked", priority=10)
    here.origin.requests.clear()
    here.clock.advance(31)
    await here.object.handle_alarm()
    assert list(here.origin.counts) == ["/worked" if has_worked else "/new"]


async def test_missing_page_does_not_close_the_breaker():
    """A 404 while half-open proves nothing; the next probe decides."""
    here = await register_zone(preload_retry_max=0)
    here.origin.default = OriginReply(500)
    await here.enqueue("/1", "/2", "/3")
    await here.drain()
    here.origin.scripts[f"{SITE}/gone"] = OriginReply(404)
    here.origin.scripts[f"{SITE}/good"] = OriginReply()
    here.clock.advance(31)
    await here.enqueue("/gone", priority=100)
    await here.enqueue("/good", priority=50)
    await here.drain()
    assert here.origin.counts["/gone"] == here.origin.counts["/good"] == 1
    assert (await here.zone.show_status())["breaker"]["state"] == "closed"


async def test_failures_not_in_a_row():
    """Only failures in a row open the breaker."""
    here = await register_zone(preload_retry_max=0, preload_max_concurrency=1, preload_rps_limit=1000)
    for n in range(8):
        here.origin.scripts[f"{SITE}/{n}"] = OriginReply(200 if n % 3 == 2 else 500)
    await here.enqueue(*(f"/{n}" for n in range(8)))
    await here.drain()
    assert sum(here.origin.counts.values()) == 8
    assert (await here.zone.show_status())["breaker"]["state"] == "closed"


async def test_overflow():
    """A full queue drops the lowest priority and logs queue_overflow; the counts stay exact."""
    here = await register_zone(preload_queue_max_depth=3)
    low = await here.enqueue("/1", "/2", "/3", priority=10)
    high = await here.enqueue("/4", "/5", priority=90)
    lower = await here.enqueue("/6", priority=5)
    assert await load_counts(here, low) == {"queued": 1, "dropped": 2}
    assert await load_counts(here, high) == {"queued": 2}
    assert await load_counts(here, lower) == {"dropped": 1}
    await here.drain()
    assert here.origin.counts == {"/1": 1, "/4": 1, "/5": 1}
    rows = await here.rows("SELECT url FROM preload_log WHERE status = 'queue_overflow' ORDER BY id")
    assert [row["url"] for row in rows] == [f"{SITE}/3", f"{SITE}/2", f"{SITE}/6"]


async def test_dead_letters_are_replayed():
    """Every hour ten dead letters are retried, the oldest first; after seven days they are deleted."""
    here = await register_zone(preload_retry_max=0, preload_circuit_breaker_threshold=100)
    here.origin.default = OriginReply(500)
    await here.enqueue(*(f"/{n:02}" for n in range(12)))
    await here.drain()
    assert (await here.zone.list_failed(100))["count"] == 12
    here.origin.default = OriginReply()
    here.origin.scripts[f"{SITE}/00"] = OriginReply(500)
    here.origin.requests.clear()
    await here.zone.tick()
    assert not here.origin.requests

    here.clock.advance(3601)
    here.services.state.put(scheduled_at=here.clock.now())
    await here.zone.tick()
    await here.drain()
    assert len(here.origin.counts) == 10
    assert [each["url"] for each in (await here.zone.list_failed(100))["failed"]] == [
        *(f"{SITE}/{n}" for n in (10, 11)),
        f"{SITE}/00",
    ]

    here.clock.advance(7 * 86_400)
    await here.zone.tick()
    assert (await here.zone.list_failed(100))["count"] == 0


async def test_failed_by_hand():
    """The operator replays or deletes failed pages, some or all."""
    here = await register_zone(preload_retry_max=0, preload_circuit_breaker_threshold=100)
    here.origin.default = OriginReply(500)
    await here.enqueue("/1", "/2", "/3")
    await here.drain()
    listed = (await here.zone.list_failed(100))["failed"]
    here.origin.default = OriginReply()
    assert await here.zone.replay_failed(encode_json({"ids": [listed[1]["id"]]})) == {"replayed": 1}
    await here.drain()
    assert (await here.zone.list_failed(100))["count"] == 2
    assert await here.zone.delete_failed(encode_json({"ids": [listed[0]["id"]]})) == {"deleted": 1}
    assert await here.zone.delete_failed(encode_json({})) == {"deleted": 1}


async def test_alerts():
    """Each incident is reported once to D1 and to the webhook, and once more when it is over."""
    here = await register_zone(
        preload_retry_max=0, preload_circuit_breaker_threshold=100, preload_queue_max_depth=20_000
    )
    here.origin.default = OriginReply(500)
    await here.enqueue("/1", "/2", "/3", "/4")
    await here.drain()
    for _ in range(3):
        await here.zone.tick()
    [alert] = await here.rows("SELECT * FROM preload_alerts")
    assert (alert["kind"], alert["resolved_at"]) == ("failure_rate", None)
    assert "3 of 3 fetches failed" in alert["message"]
    here.clock.advance(301)
    await here.zone.tick()
    [alert] = await here.rows("SELECT * FROM preload_alerts")
    assert alert["resolved_at"] == here.clock.now() or alert["resolved_at"] > alert["raised_at"]
    assert [(each["kind"], each["resolved_at"] is None) for each in here.webhook] == [
        ("failure_rate", True),
        ("failure_rate", False),
    ]


async def test_end_of_a_failure_rate():
    """Neither a pause nor a single good page ends a failure rate; enough good pages do."""
    here = await register_zone(preload_retry_max=0, preload_circuit_breaker_threshold=3)
    here.origin.default = OriginReply(500)
    await here.enqueue("/1", "/2", "/3")
    await here.drain()
    here.origin.default = OriginReply()
    for paths in (("/a",), ("/b", "/c"), tuple(f"/{n}" for n in range(40))):
        here.clock.advance(100)
        await here.zone.tick()
        await here.enqueue(*paths)
        await here.drain()
    rows = await here.rows("SELECT kind, resolved_at FROM preload_alerts ORDER BY kind")
    assert [row["kind"] for row in rows] == ["breaker_open", "failure_rate"]
    assert all(row["resolved_at"] for row in rows)


async def test_depth_alert():
    """More than 5,000 waiting pages are an incident."""
    here = await register_zone(preload_queue_max_depth=20_000)
    await here.zone.pause()
    for start in range(0, 6000, 1000):
        await here.enqueue(*(f"/{n}" for n in range(start, start + 1000)))
    await here.zone.tick()
    [alert] = await here.rows("SELECT kind, message FROM preload_alerts")
    assert alert == {"kind": "queue_depth", "message": "6000 pages are waiting"}


async def test_pause_and_resume():
    """A paused zone fetches nothing; after a resume it continues."""
    here = await register_zone()
    await here.zone.pause()
    batch = await here.enqueue("/a")
    await here.drain()
    assert not here.origin.requests
    assert (await here.batch(batch))["eta_s"] is None
    await here.zone.resume()
    await here.drain()
    assert await load_counts(here, batch) == {"done": 1}


async def test_cancel():
    """A cancelled batch removes its own pages, but not those that another batch wants too."""
    here = await register_zone()
    await here.zone.pause()
    first = await here.enqueue("/a", "/b")
    second = await here.enqueue("/b")
    cancelled = await here.zone.cancel_batch(first)
    assert (cancelled["cancelled"], cancelled["state"]) == (2, "finished")
    await here.zone.resume()
    await here.drain()
    assert here.origin.counts == {"/b": 1}
    assert await load_counts(here, second) == {"done": 1}


async def test_wanted_again_while_under_way():
    """A page wanted again while it is being fetched is fetched once more, since it may have changed."""
    here = await register_zone()

    async def page(_headers: HeaderPairs) -> OriginReply:
        if here.origin.counts["/a"] == 1:
            await here.enqueue("/a")
        return OriginReply()

    here.origin.scripts[f"{SITE}/a"] = page
    batch = await here.enqueue("/a")
    await here.drain()
    assert here.origin.counts == {"/a": 2}
    assert await load_counts(here, batch) == {"done": 1}


async def test_crash_loses_nothing():
    """Pages under way at a crash are fetched again after a while; their requests still count as in flight until then."""
    here = await register_zone()
    await here.enqueue(*(f"/{n}" for n in range(3)))
    here.sql.execute("UPDATE entry SET state = 2, due_at = ?", here.clock.now() + 90)
    for _ in range(3):
        here.services.grants.grant(here.clock.now())
    here.restart()
    assert (await here.zone.show_status())["in_flight"] == 3
    here.storage.alarm_ms = int(here.clock.now() * 1000)
    await here.drain()
    assert here.origin.counts == {"/0": 1, "/1": 1, "/2": 1}
    assert (await here.zone.show_status())["queue_depth"] == 0


async def test_page_that_crashes_the_worker():
    """A page on which the Worker crashes again and again is given up, not retried forever."""
    here = await register_zone()
    batch = await here.enqueue("/a")
    queue, now = here.services.queue, here.clock.now()
    for _ in range(MAX_CRASHES):
        assert queue.lease(now, 0)
        queue.reclaim(now)
    assert queue.lease(now, 0)
    await here.drain()
    assert await load_counts(here, batch) == {"failed": 1}
    assert not here.origin.requests


async def test_budget():
    """An invocation makes only as many subrequests as the platform allows; the rest is left for the next one."""
    here = await World(subrequests=50).register()
    await here.enqueue(*(f"/{n}" for n in range(20)))
    await here.ring_alarm()
    assert len(here.origin.requests) == 7
    assert here.storage.alarm_ms is not None
    await here.drain()
    assert len(here.origin.requests) == 20


async def test_disabled():
    """A zone that is switched off warms what is asked for by hand, and nothing else."""
    here = await register_zone()
    here.services.state.put(paused=True)
    await here.enqueue("/before", "/both", trigger="sitemap")
    here.services.state.put(paused=False)
    await here.zone.configure(encode_json({**here.config, "preload_enabled": False}))
    with pytest.raises(Conflict, match="preload_enabled is false"):
        await here.enqueue("/a", trigger="scheduled")
    with pytest.raises(Conflict, match="trigger manual"):
        await here.preload("/a", trigger="post-purge")
    await here.zone.tick()
    await here.drain()
    assert not here.origin.requests
    here.origin.scripts[f"{SITE}/by-hand"] = OriginReply(500)
    await here.enqueue("/both", "/by-hand")
    await here.preload("/signed")
    await here.drain()
    assert set(here.origin.counts) == {"/both", "/by-hand", "/signed"}
    assert here.origin.counts["/by-hand"] == 4
    assert here.services.queue.depth == 1


async def test_slow_page_delays_no_other():
    """Pages that are enqueued while another one hangs are warmed at once."""
    here = await register_zone()
    order: list[str] = []

    async def hang(_headers: HeaderPairs) -> OriginReply:
        await here.enqueue("/quick")
        for _ in range(20):
            await here.clock.sleep(1)
        order.append("/hangs")
        return OriginReply()

    def quick(_headers: HeaderPairs) -> OriginReply:
        order.append("/quick")
        return OriginReply()

    here.origin.scripts |= {f"{SITE}/hangs": hang, f"{SITE}/quick": quick}
    await here.enqueue("/hangs")
    await here.drain()
    assert order == ["/quick", "/hangs"]
