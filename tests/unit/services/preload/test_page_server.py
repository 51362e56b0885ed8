"""Visitors of a zone's pages: edge, then R2, then the origin; stale while revalidating, and stale on errors."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from sluice.core.errors import TimedOut, Unavailable
from sluice.core.headers import header_value
from sluice.core.json_text import encode_json
from sluice.core.ports import Content, HeaderPairs
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.serving.replies import VisitTally
from sluice.services.preload.zone.operator_calls import RulesReply
from sluice.web import Headers, Reply, Request, format_http_date
from sluice.web.messages import Native
from unit.services.preload.world import SITE, ZONE, OriginReply, VisitorsOrigin, World, read_data


class UntoldVisits(VisitTally):
    """Visits that the object never hears of."""

    def is_due(self, *_times: float, **_named: float) -> bool:
        return False


class Visits:
    """A zone with visitors; deferred work runs when the test says so."""

    def __init__(self, **config: Any) -> None:
        self.world = World(**config)
        self.deferred: list[Awaitable[None]] = []
        self.defer: Callable[[Awaitable[None]], object] = self.deferred.append
        self.origin = VisitorsOrigin(self.world.origin)
        self.memory = IsolateMemory(tallies={ZONE: UntoldVisits()})

    async def get(self, path: str = "/a", method: str = "GET", **headers: str) -> Reply:
        config = await self.world.build_reader().read_config(self.world.zone_config)
        server = self.world.build_page_server(self.origin, self.defer, self.memory, config=config)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await server.handle(Request(method, SITE + path, Headers(named)))

    async def read(self, path: str = "/a", **headers: str) -> bytes:
        return await read_body(await self.get(path, **headers))

    async def settle(self) -> None:
        while self.deferred:
            await self.deferred.pop(0)

    async def warm(self, *paths: str) -> None:
        await self.world.enqueue(*paths)
        await self.world.drain()


async def read_body(reply: Reply) -> bytes:
    match reply.body:
        case Native(value=value):
            return await read_data(Content(value))
        case bytes(body):
            return body
        case _:
            return b""


def cache_headers(reply: Reply) -> tuple[str | None, str | None]:
    return reply.header("x-cache-layer"), reply.header("x-cache")


async def start(**config: Any) -> Visits:
    here = Visits(**config)
    await here.world.register()
    return here


async def test_warmed_page():
    """A warmed page is served from the edge; without an edge copy from R2, which fills the edge."""
    here = await start()
    await here.warm("/a")
    for path in ("/a", "/a?utm_source=x"):
        assert cache_headers(await here.get(path)) == ("EDGE", "HIT")
    here.world.edge.stored.clear()
    reply = await here.get()
    assert (cache_headers(reply), await read_body(reply)) == (("R2", "HIT"), b"<html>")
    await here.settle()
    assert cache_headers(await here.get()) == ("EDGE", "HIT")
    assert len(here.world.origin.requests) == 1


async def test_miss():
    """A page that was not warmed comes from the origin once."""
    here = await start()
    here.world.origin.default = OriginReply(
        headers=(("content-type", "text/html"), ("surrogate-key", "post:1"), ("etag", '"1"'), ("x-powered-by", "PHP"))
    )
    reply = await here.get()
    assert (cache_headers(reply), reply.header("cache-status")) == (("ORIGIN", "MISS"), "sluice; fwd=uri-miss; stored")
    await here.settle()
    reply = await here.get()
    assert (cache_headers(reply), reply.header("cache-status")) == (("EDGE", "HIT"), "sluice; hit; ttl=3600")
    names = {name for name, _ in reply.headers}
    assert not names & {"surrogate-key", "x-sluice-copy"}
    assert (reply.header("cache-control"), reply.header("x-powered-by")) == ("max-age=0, must-revalidate", "PHP")
    assert (reply.header("age"), reply.header("x-cache-age")) == ("0", "0")
    assert cache_headers(await here.get("/other")) == ("ORIGIN", "MISS")
    await here.settle()


async def test_stale_while_revalidate():
    """After it expires, a page is served stale and revalidated once in the background."""
    here = await start()
    await here.get()
    await here.settle()
    here.world.clock.advance(3630)
    here.world.origin.default = OriginReply(body=b"new")
    for _ in range(3):
        reply = await here.get()
        assert (reply.header("x-cache"), await read_body(reply)) == ("STALE", b"<html>")
        assert reply.header("cache-status") == "sluice; hit; ttl=-30"
    await here.settle()
    reply = await here.get()
    assert (cache_headers(reply), await read_body(reply)) == (("EDGE", "HIT"), b"new")
    assert len(here.world.origin.requests) == 2


async def test_one_refresh_worldwide():
    """Two isolates that serve the same stale page cause one request."""
    here, there = await start(), None
    await here.warm("/a")
    here.world.clock.advance(3630)
    there = Visits()
    there.world = here.world
    there.origin = here.origin
    for isolate in (here, there):
        assert (await isolate.get()).header("x-cache") == "STALE"
    # Both look into R2 before either has asked the origin.
    await asyncio.gather(*here.deferred, *there.deferred)
    here.deferred.clear()
    there.deferred.clear()
    assert len(here.world.origin.requests) == 2


async def test_revalidation_by_304():
    """A page that has not changed is neither downloaded nor written into R2 again, and counts as new."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'),))
    await here.get()
    await here.settle()
    here.world.clock.advance(3630)
    here.world.origin.default = OriginReply(304)
    await here.get()
    await here.settle()
    assert header_value(here.world.origin.requests[-1][2], "if-none-match") == '"1"'
    assert cache_headers(await here.get()) == ("R2", "HIT")
    await here.settle()
    assert cache_headers(await here.get()) == ("EDGE", "HIT")
    assert here.world.bucket.writes == 1


async def test_changed_by_304():
    """A 304 with other headers changes those of the copy, and how long it is fresh."""
    here = await start()
    here.world.origin.default = OriginReply(
        headers=(("etag", '"1"'), ("x-note", "old"), ("cache-control", "max-age=10"))
    )
    await here.get()
    await here.settle()
    here.world.clock.advance(30)
    here.world.origin.default = OriginReply(304, (("x-note", "new"), ("cache-control", "max-age=1000")))
    assert (await here.get()).header("x-note") == "old"
    await here.settle()
    here.world.clock.advance(900)
    reply = await here.get()
    assert (reply.header("x-cache"), reply.header("x-note"), await read_body(reply)) == ("HIT", "new", b"<html>")
    assert here.world.bucket.writes == 2
    await here.settle()


async def test_must_revalidate():
    """A page that must be revalidated is never served stale: it is checked with its ETag, and a 304 confirms it."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'), ("cache-control", "max-age=10, must-revalidate")))
    await here.get()
    await here.settle()
    here.world.clock.advance(20)
    here.world.origin.default = OriginReply(304, body=b"")
    reply = await here.get()
    assert (reply.status, reply.header("cache-status")) == (200, "sluice; fwd=stale; fwd-status=304")
    assert (await read_body(reply), reply.header("age")) == (b"<html>", "0")
    assert here.origin.sent[-1][1]["if-none-match"] == '"1"'
    here.world.clock.advance(20)
    here.world.origin.default = Unavailable("down")
    assert (await here.get()).status == 502
    await here.settle()


@pytest.mark.parametrize("trouble", [OriginReply(502), Unavailable("down"), TimedOut("slow")])
async def test_stale_if_error(trouble: Any):
    """With the origin down, the R2 copy is served stale for as long as the zone says; then the visitor gets the error."""
    here = await start(cache_stale_while_revalidate_s=0, cache_stale_if_error_s=3600)
    await here.get()
    await here.settle()
    here.world.origin.default = trouble
    here.world.clock.advance(3600 + 3000)
    reply = await here.get()
    assert (cache_headers(reply), await read_body(reply)) == (("R2", "STALE"), b"<html>")
    assert reply.header("cache-status") == "sluice; hit; ttl=-3000; detail=origin-failed"
    assert here.origin.sent[-1][2] == 5.0
    here.world.clock.advance(700)
    assert (await here.get()).status in {502, 504}
    assert here.origin.sent[-1][2] == 100
    await here.settle()


async def test_open_breaker():
    """While the breaker is open, a stale copy is served at once; without a copy the request still goes to the origin."""
    here = await start(cache_stale_while_revalidate_s=0)
    await here.warm("/a")
    here.world.clock.advance(4000)
    here.world.origin.default = Unavailable("down")
    for _ in range(3):
        assert (await here.get("/none")).status == 502
        await here.settle()
        here.world.clock.advance(2)
    assert (await here.world.zone.show_status())["breaker"]["state"] == "open"
    asked = len(here.origin.sent)
    reply = await here.get()
    assert (reply.header("x-cache"), len(here.origin.sent)) == ("STALE", asked)
    assert "breaker-open" in (reply.header("cache-status") or "")
    assert (await here.get("/none")).status == 502
    assert len(here.origin.sent) == asked + 1
    await here.settle()


async def test_errors_of_the_origin():
    """A visitor's 5xx passes as it is, and does not count for the breaker."""
    here = await start()
    here.world.origin.default = OriginReply(500, body=b"oops")
    for _ in range(5):
        assert await here.read() == b"oops"
    await here.settle()
    assert (await here.world.zone.show_status())["breaker"]["state"] == "closed"


async def test_pass():
    """Requests that only the origin may answer are sent on as they are, and nothing is stored."""
    here = await start(origin_url="https://origin.example.net")
    for path, method, headers, status in (
        ("/a?x=1&utm_source=y", "POST", {}, "sluice; fwd=method"),
        ("/a", "GET", {"cookie": "wordpress_logged_in_x=1"}, "sluice; fwd=bypass; detail=cookie"),
        ("/cart/", "GET", {}, "sluice; fwd=bypass; detail=path"),
        ("/a", "GET", {"authorization": "x"}, "sluice; fwd=bypass; detail=authorization"),
    ):
        reply = await here.get(path, method, **headers)
        assert (cache_headers(reply), reply.header("cache-status")) == (("ORIGIN", "BYPASS"), status)
        url, changes, _ = here.origin.sent[-1]
        assert url == f"https://origin.example.net{path}"
        assert str(changes["x-sluice-proxy"]).startswith("t=")
        assert {name: value for name, value in changes.items() if name != "x-sluice-proxy"} == {
            "x-forwarded-host": "www.example.com",
            "x-forwarded-proto": "https",
            "via": "1.1 sluice",
        }
    await here.settle()
    assert not here.world.edge.stored


async def test_unsafe_methods_drop_the_copy():
    """A request that changes a page drops its copies, if it succeeds, and warms nothing."""
    here = await start()
    await here.warm("/a")
    here.world.origin.default = OriginReply(500)
    await here.get(method="POST")
    await here.settle()
    assert cache_headers(await here.get()) == ("EDGE", "HIT")
    here.world.origin.default = OriginReply(303)
    await here.get(method="DELETE")
    await here.settle()
    assert (here.world.edge.stored, await here.world.rows("SELECT * FROM cached_pages")) == ({}, [])
    assert (await here.world.zone.show_status())["queue_depth"] == 0


async def test_what_fills_nothing():
    """A reply to a request that is not anybody's is not stored; the page is warmed by a request of our own, once in a while."""
    here = await start()
    for headers in ({"cookie": "lang=de"}, {"x_odd": "1"}, {"cookie": "lang=fr"}):
        reply = await here.get(**headers)
        assert "stored" not in (reply.header("cache-status") or "")
    await here.settle()
    assert not here.world.edge.stored
    await here.world.drain()
    assert await here.world.rows("SELECT status, trigger_name FROM preload_log") == [
        {"status": "warmed", "trigger_name": "visit"}
    ]
    assert cache_headers(await here.get(cookie="lang=de")) == ("EDGE", "HIT")


async def test_names_in_any_script():
    """A header in UTF-8, such as the name of a file, reaches the visitor, from the origin and from a copy."""
    here = await start()
    named = ("content-disposition", 'attachment; filename="日本.pdf"')
    here.world.origin.default = OriginReply(headers=(named, ("etag", '"1"')))
    for _ in range(2):
        assert (await here.get()).header("content-disposition") == named[1]
        await here.settle()
    assert (await here.get(if_none_match='"1"')).status == 304


@pytest.mark.parametrize("status", [103, 199, 600, 999])
async def test_impossible_status(status: int):
    """A status that no reply can have is a bad gateway, and not the breaker's business."""
    here = await start()
    here.world.origin.default = OriginReply(status)
    assert (await here.get()).status == 502
    assert not here.deferred


async def test_caches_on_the_way():
    """The X-Cache of another cache is replaced, so that there is one."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("x-cache", "HIT from squid"), ("via", "1.1 squid")))
    for result in ("MISS", "HIT"):
        reply = await here.get()
        assert [value for name, value in reply.headers if name == "x-cache"] == [result]
        await here.settle()


async def test_headers_of_a_304():
    """A 304 updates the headers of the copy, the policy of its content too, but not its ETag; Date says when it was confirmed."""
    here = await start()
    old = (("etag", '"1"'), ("content-security-policy", "old"), ("date", "Mon, 16 Nov 2026 04:00:00 GMT"))
    here.world.origin.default = OriginReply(headers=(*old, ("cache-control", "max-age=10, must-revalidate")))
    await here.get()
    await here.settle()
    here.world.clock.advance(20)
    here.world.origin.default = OriginReply(304, (("etag", '"2"'), ("content-security-policy", "new")), b"")
    for _ in range(2):
        reply = await here.get()
        assert (reply.header("etag"), reply.header("content-security-policy")) == ('"1"', "new")
        await here.settle()
    here.world.clock.advance(20)
    here.world.origin.default = OriginReply(304, (), b"")
    await here.get()
    await here.settle()
    here.world.edge.stored.clear()
    here.world.clock.advance(3)
    confirmed = await here.get()
    assert (confirmed.header("x-cache"), confirmed.header("date")) == (
        "HIT",
        format_http_date(datetime.fromtimestamp(here.world.clock.now() - 3, UTC)),
    )
    await here.settle()


async def test_confirmed_by_a_visitor():
    """A visitor who has the same version confirms the stale copy with his own condition."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'), ("cache-control", "max-age=10, must-revalidate")))
    await here.get()
    await here.settle()
    here.world.clock.advance(20)
    here.world.origin.default = OriginReply(304, body=b"")
    assert (await here.get(if_none_match='"2"')).header("cache-status") == "sluice; fwd=uri-miss; detail=status"
    reply = await here.get(if_none_match='"1"')
    assert (reply.status, reply.header("cache-status")) == (304, "sluice; fwd=stale; fwd-status=304")
    await here.settle()
    assert (await here.get()).header("x-cache") == "HIT"
    await here.settle()


async def test_copies_that_a_response_names():
    """A request that changes something drops the pages that its response names too, if they are on the same host."""
    here = await start(origin_url="http://10.0.0.1")
    await here.warm("/post/", "/other/", "/third/")
    named = (("location", "http://10.0.0.1/post/#comment-1"), ("content-location", "/other/"))
    here.world.origin.default = OriginReply(302, (*named, ("link", "</third/>")))
    await here.get("/wp-comments-post.php", "POST")
    await here.settle()
    assert [row["url"] for row in await here.world.rows("SELECT url FROM cached_pages")] == [f"{SITE}/third/"]


async def test_links_that_work_once():
    """A page with a query is not asked for again behind a visitor's back: it may be a link that works once."""
    here = await start()
    for path in ("/confirm?token=1", "/confirm?token=2&utm_source=x"):
        await here.get(path, cookie="lang=de")
    await here.settle()
    assert (await here.world.zone.show_status())["queue_depth"] == 0
    await here.get("/a?utm_source=x", cookie="lang=de")
    await here.settle()
    assert (await here.world.zone.show_status())["queue_depth"] == 1


async def test_unsafe_methods_drop_variants():
    """A copy of a variant that depends on a header is dropped too."""
    here = await start(cache_vary_headers=["x-country"])
    await here.get(x_country="de")
    await here.settle()
    assert cache_headers(await here.get(x_country="de")) == ("EDGE", "HIT")
    await here.get(method="POST")
    await here.settle()
    assert (here.world.edge.stored, await here.world.rows("SELECT * FROM cached_pages")) == ({}, [])


async def test_analytics_cookies():
    """Cookies of statistics services do not keep a page from being stored, and do not reach the origin then."""
    here = await start()
    reply = await here.get(cookie="_ga=GA1.2.3; _gid=x")
    assert reply.header("cache-status") == "sluice; fwd=uri-miss; stored"
    assert here.origin.sent[-1][1]["cookie"] is None
    await here.settle()


async def test_unshared_responses():
    """A response that is not for everybody reaches its visitor in full, and is not stored."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("set-cookie", "a=1"), ("set-cookie", "b=2")))
    reply = await here.get()
    assert [value for name, value in reply.headers if name == "set-cookie"] == ["a=1", "b=2"]
    assert reply.header("cache-status") == "sluice; fwd=uri-miss; detail=set-cookie"
    assert not here.deferred


@pytest.mark.parametrize("status", [404, 301])
async def test_brief_copies(status: int):
    """A missing or moved page is kept for a short time, at the edge only."""
    here = await start()
    here.world.origin.default = OriginReply(status, (("location", "/b"),))
    assert "stored" in ((await here.get()).header("cache-status") or "")
    await here.settle()
    reply = await here.get()
    assert (reply.status, cache_headers(reply)) == (status, ("EDGE", "HIT"))
    assert here.world.bucket.writes == 0
    here.world.clock.advance(61)
    assert cache_headers(await here.get())[1] == "MISS"
    await here.settle()


async def test_conditional_and_head():
    """A visitor who has the page gets a 304, and HEAD has no body."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'),))
    await here.get()
    await here.settle()
    same = await here.get(if_none_match='"1"')
    assert (same.status, same.body, same.header("cache-status")) == (304, None, "sluice; hit; ttl=3600")
    head = await here.get(method="HEAD")
    assert (head.status, head.body, head.header("content-length")) == (200, None, "6")


@pytest.mark.parametrize(
    ("asked", "status", "content_range", "body"),
    [
        ("bytes=0-2", 206, "bytes 0-2/6", b"<ht"),
        ("bytes=3-", 206, "bytes 3-5/6", b"ml>"),
        ("bytes=-2", 206, "bytes 4-5/6", b"l>"),
        ("bytes=0-99", 206, "bytes 0-5/6", b"<html>"),
        ("bytes=6-", 416, "bytes */6", b""),
        ("bytes=0-1,3-4", 200, None, b"<html>"),
        ("pages=1", 200, None, b"<html>"),
        ("bytes=4-2", 200, None, b"<html>"),
    ],
)
async def test_ranges(asked: str, status: int, content_range: str | None, body: bytes):
    """A range is cut from the copy of the whole page."""
    here = await start()
    await here.warm("/a")
    reply = await here.get(range=asked)
    assert (reply.status, reply.header("content-range"), await read_body(reply)) == (status, content_range, body)


async def test_if_range():
    """A range of another version is the whole page."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'),))
    await here.warm("/a")
    assert (await here.get(range="bytes=0-1", if_range='"1"')).status == 206
    assert (await here.get(range="bytes=0-1", if_range='"2"')).status == 200


async def test_herd():
    """Fifty visitors of a cold page cause one request; each gets the page."""
    here = await start()
    await here.world.build_reader().read()
    visits = [asyncio.ensure_future(here.get()) for _ in range(50)]
    replies = [await visits[0]]
    await here.settle()
    replies += await asyncio.gather(*visits[1:])
    assert len(here.origin.sent) == 1
    assert [await read_body(reply) for reply in replies] == [b"<html>"] * 50
    statuses = {reply.header("cache-status") for reply in replies}
    assert statuses == {"sluice; fwd=uri-miss; stored", "sluice; fwd=uri-miss; stored; collapsed"}
    await here.settle()


async def test_herd_whose_page_is_purged_on_its_way():
    """When a purge comes while visitors wait for a page, one of them asks again for all of them."""
    here = await start(preload_post_purge=False)
    tasks: list[asyncio.Future[None]] = []
    here.defer = lambda work: tasks.append(asyncio.ensure_future(work))

    async def purge_first(_headers: HeaderPairs) -> OriginReply:
        here.world.origin.default = OriginReply(body=b"new")
        await here.world.purge(**{"global": True})
        here.world.clock.advance(3)
        return OriginReply(body=b"old")

    await here.world.build_reader().read()
    here.world.origin.default = purge_first
    replies = await asyncio.gather(*(here.get() for _ in range(20)))
    await asyncio.gather(*tasks)
    assert [await read_body(reply) for reply in replies] == [b"old", *[b"new"] * 19]
    assert len(here.origin.sent) == 2


async def test_herd_whose_leader_is_slow():
    """When the first request takes too long, one of those who wait asks again for all of them."""
    here = await start()
    await here.world.build_reader().read()
    tasks: list[asyncio.Future[None]] = []
    here.defer = lambda work: tasks.append(asyncio.ensure_future(work))
    gate = asyncio.Event()

    async def hang_first(_headers: HeaderPairs) -> OriginReply:
        if len(here.origin.sent) == 1:
            await gate.wait()
        return OriginReply()

    here.world.origin.default = hang_first
    visits = [asyncio.ensure_future(here.get()) for _ in range(5)]
    await asyncio.gather(*visits[1:])
    assert len(here.origin.sent) == 2
    gate.set()
    assert {(await visit).status for visit in visits} == {200}
    await asyncio.gather(*tasks)
    assert here.memory.flights == {}


async def test_herd_of_an_unshared_page():
    """Who waits for a page that cannot be shared asks the origin; the next ones do not wait."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("set-cookie", "a=1"),))
    assert [(await reply).status for reply in [here.get(), here.get(), here.get()]] == [200, 200, 200]
    assert (len(here.origin.sent), here.memory.flights) == (3, {})
    replies = await asyncio.gather(here.get(), here.get())
    assert [reply.status for reply in replies] == [200, 200]


async def test_herd_whose_leader_fails():
    """When the first request fails, each of the others asks the origin itself."""
    here = await start()
    here.world.origin.default = Unavailable("down")
    replies = await asyncio.gather(*(here.get() for _ in range(3)))
    assert [reply.status for reply in replies] == [502, 502, 502]
    assert here.memory.flights == {}
    await here.settle()


async def test_too_large():
    """A page that does not fit the isolate's memory reaches the visitor, and is not stored."""
    here = await start()
    here.memory.held_bytes = 32 * 1024 * 1024
    assert await here.read() == b"<html>"
    await here.settle()
    assert (here.world.edge.stored, here.world.bucket.writes) == ({}, 0)
    assert (here.memory.held_bytes, here.memory.flights) == (32 * 1024 * 1024, {})


async def test_variants():
    """Each visitor gets the right variant, and Vary names what it depends on."""
    here = await start(cache_device_variants=True)
    here.world.origin.default = lambda headers: OriginReply(
        body=b"mobile" if "Mobile" in header_value(headers, "user-agent") else b"plain"
    )
    await here.warm("/a")
    phone = await here.get(user_agent="iPhone Mobile")
    plain = await here.get()
    assert (await read_body(phone), await read_body(plain)) == (b"mobile", b"plain")
    assert (cache_headers(phone), phone.header("vary")) == (("EDGE", "HIT"), "User-Agent")
    chosen = await here.get("/a?sluice-variant=device%3Amobile")
    assert cache_headers(chosen) == ("ORIGIN", "BYPASS")


async def test_age_of_the_origin():
    """The age that a response has when it arrives counts."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("cache-control", "max-age=100"), ("age", "40")))
    await here.get()
    await here.settle()
    reply = await here.get()
    assert (reply.header("age"), reply.header("cache-status")) == ("40", "sluice; hit; ttl=60")
    assert reply.header("cache-control") == "max-age=100"


async def test_only_if_cached():
    """A request that wants a copy or nothing gets nothing when there is none."""
    here = await start()
    assert (await here.get(cache_control="only-if-cached")).status == 504
    assert not here.origin.sent


async def test_loop():
    """A request that has passed this proxy is refused at once."""
    here = await start()
    assert ((await here.get(via="1.1 sluice")).status, here.origin.sent) == (508, [])
    assert (await here.get(via="1.1 sluiceway")).status == 200
    await here.settle()


async def test_stores_fail():
    """Without edge and R2 the origin still serves."""
    here = await start()
    here.world.edge.broken = True
    here.world.bucket.failures = 99
    assert cache_headers(await here.get()) == ("ORIGIN", "MISS")
    await here.settle()
    assert [name for name, _ in here.world.log.lines] == ["store.failed"]
    assert cache_headers(await here.get()) == ("ORIGIN", "MISS")
    await here.settle()


async def test_no_log_of_views():
    """An ordinary page view writes no line."""
    here = await start()
    for headers in ({}, {"cookie": "sessionid=1"}, {"cookie": "a=1"}):
        await here.get(**headers)
        await here.settle()
    assert here.world.log.lines == []


async def test_observe():
    """While the cache is observed the origin answers everything, and pages that differ between visitors are listed."""
    here = await start(cache_enabled="observe")
    here.world.origin.default = lambda headers: OriginReply(
        body=b"for you" if header_value(headers, "x-forwarded-for") else b"for all", headers=(("etag", '"1"'),)
    )
    for path, ip in (("/same", ""), ("/same", ""), ("/mine", ""), ("/mine", "1.1.1.1"), ("/mine", "")):
        reply = await here.get(path, **({"cf_connecting_ip": ip} if ip else {}))
        assert reply.header("cache-status") == "sluice; fwd=bypass; detail=observe"
        await here.settle()
    assert (here.world.edge.stored, len(here.origin.sent)) == ({}, 5)
    listed = (await here.world.zone.list_observed())["observed"]
    assert [(page["url"], page["compared"], page["differing"]) for page in listed] == [
        (f"{SITE}/mine", 2, 1),
        (f"{SITE}/same", 1, 0),
    ]


async def test_explained_rules():
    """The operator learns what would happen with a request, and why."""
    here = await start(cache_exclude_paths=["/live/*"], cache_ttl_by_path={"/news/*": 60})

    async def explain(request: dict[str, Any]) -> RulesReply:
        return await here.world.zone.test_rules(encode_json(request))

    passed = await explain({"url": f"{SITE}/live/1"})
    assert (passed["decision"], passed["detail"], passed["stored"]) == ("pass", "excluded", False)
    stored = await explain({"url": f"{SITE}/news/1", "response_headers": {"Cache-Control": "max-age=9"}})
    assert (stored["decision"], stored["stored"], stored["ttl_s"]) == ("lookup", True, 60)
    cookie = await explain({"url": f"{SITE}/a", "headers": {"Cookie": "theme=dark"}})
    assert (cookie["decision"], cookie["detail"], cookie["stored"]) == ("lookup", "cookie", False)
    private = await explain({"url": f"{SITE}/a", "response_headers": {"Cache-Control": "private"}})
    assert private["stored_reason"] == "its cache-control says private"
