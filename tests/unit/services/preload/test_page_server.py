"""Visitors of a zone's pages: edge, then R2, then the origin; stale while revalidating, and stale on errors."""

from collections.abc import Awaitable
from typing import Any

import pytest

from sluice.core.errors import Unavailable
from sluice.core.header_values import header_value
from sluice.core.ports import HeaderPairs
from sluice.services.preload.serving.page_server import PageServer
from sluice.web import Headers, Reply, Request
from unit.services.preload.world import SITE, OriginReply, World


class Visits:
    """A zone with a visitor; deferred work runs when the test says so."""

    def __init__(self, **config: Any) -> None:
        self.world = World(**config)
        self.deferred: list[Awaitable[None]] = []
        self.forwarded: list[tuple[str, HeaderPairs]] = []
        self.revalidating: set[str] = set()

    async def forward(self, url: str, headers: HeaderPairs) -> Reply:
        self.forwarded.append((url, headers))
        return Reply.text("from the origin itself")

    async def get(self, path: str = "/a", method: str = "GET", **headers: str) -> Reply:
        here = self.world
        server = PageServer(
            config=here.zone_config,
            copies=here.services.copies,
            clock=here.clock,
            fetch=here.origin,
            forward=self.forward,
            defer=self.deferred.append,
            log=here.log,
            revalidating=self.revalidating,
        )
        return await server.handle(Request(method, SITE + path, Headers(headers)))

    async def settle(self) -> None:
        while self.deferred:
            await self.deferred.pop(0)


def cache_headers(reply: Reply) -> tuple[str | None, str | None]:
    return reply.header("x-cache-layer"), reply.header("x-cache")


async def start(**config: Any) -> Visits:
    here = Visits(**config)
    await here.world.register()
    return here


async def test_warmed_page():
    """A warmed page is served from the edge; without an edge copy from R2, which fills the edge."""
    here = await start()
    await here.world.enqueue("/a")
    await here.world.drain()
    for path in ("/a", "/a?utm_source=x", "//a"):
        assert cache_headers(await here.get(path)) == ("EDGE", "HIT")
    here.world.edge.stored.clear()
    reply = await here.get()
    assert (cache_headers(reply), reply.body) == (("R2", "HIT"), b"<html>")
    await here.settle()
    assert cache_headers(await here.get()) == ("EDGE", "HIT")
    assert len(here.world.origin.requests) == 1


async def test_miss():
    """A page that was not warmed comes from the origin once."""
    here = await start()
    here.world.origin.default = OriginReply(
        headers=(("x-powered-by", "PHP"), ("surrogate-key", "post:1"), ("etag", '"1"'))
    )
    reply = await here.get()
    assert cache_headers(reply) == ("ORIGIN", "MISS")
    await here.settle()
    reply = await here.get()
    assert cache_headers(reply) == ("EDGE", "HIT")
    names = {name for name, _ in reply.headers}
    assert not names & {"x-powered-by", "surrogate-key", "x-sluice-stored-at", "x-sluice-freshness", "x-sluice-zone"}
    assert reply.header("cache-control") == "public, max-age=300, stale-while-revalidate=60"
    assert reply.header("x-cache-age") == "0"
    assert cache_headers(await here.get("/other")) == ("ORIGIN", "MISS")
    await here.settle()


async def test_stale_while_revalidate():
    """For a minute after it expires, a page is served stale and revalidated once in the background."""
    here = await start()
    await here.get()
    await here.settle()
    here.world.clock.advance(3630)
    here.world.origin.default = OriginReply(body=b"new")
    for _ in range(3):
        reply = await here.get()
        assert (cache_headers(reply), reply.body) == (("R2", "STALE"), b"<html>")
    await here.settle()
    reply = await here.get()
    assert (cache_headers(reply), reply.body) == (("EDGE", "HIT"), b"new")


async def test_revalidation_by_304():
    """A page that has not changed is not downloaded again."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'),))
    await here.get()
    await here.settle()
    here.world.clock.advance(3630)
    here.world.origin.default = OriginReply(304)
    await here.get()
    await here.settle()
    assert header_value(here.world.origin.requests[-1][2], "if-none-match") == '"1"'
    assert cache_headers(await here.get()) == ("EDGE", "HIT")


@pytest.mark.parametrize("trouble", [OriginReply(502), Unavailable("down")])
async def test_stale_if_error(trouble: Any):
    """With the origin down, the R2 copy is served stale for an hour; then the visitor gets the error."""
    here = await start()
    await here.get()
    await here.settle()
    here.world.origin.default = trouble
    here.world.clock.advance(3600 + 3000)
    reply = await here.get()
    assert (cache_headers(reply), reply.body) == (("R2", "STALE"), b"<html>")
    here.world.clock.advance(700)
    assert (await here.get()).status == 502


async def test_bypass():
    """Requests that only the origin may answer are forwarded unchanged, and nothing is stored."""
    here = await start(origin_url="https://origin.example.net")
    for path, method, headers in (
        ("/a?x=1&utm_source=y", "POST", {}),
        ("/a", "GET", {"cookie": "wordpress_logged_in_x=1"}),
        ("/cart/", "GET", {}),
    ):
        reply = await here.get(path, method, **headers)
        assert cache_headers(reply) == ("ORIGIN", "BYPASS")
        url, added = here.forwarded[-1]
        assert url == f"https://origin.example.net{path}"
        assert added == (("x-forwarded-host", "www.example.com"), ("x-forwarded-proto", "https"))
    assert not here.deferred
    assert not here.world.origin.requests


async def test_unshared_responses():
    """An unshareable response reaches its visitor in full; a visitor with cookies gets the response to their own request."""
    here = await start()
    here.world.origin.default = OriginReply(
        headers=(("set-cookie", "a=1"), ("set-cookie", "b=2"), ("x-powered-by", "PHP"))
    )
    reply = await here.get()
    assert [value for name, value in reply.headers if name == "set-cookie"] == ["a=1", "b=2"]
    assert reply.header("x-powered-by") is None
    await here.get(cookie="lang=de")
    assert len(here.forwarded) == 1
    assert not here.deferred
    here.world.origin.default = OriginReply(404, body=b"no")
    assert ((await here.get()).status, here.deferred) == (404, [])


async def test_conditional_and_head():
    """A visitor who has the page gets a 304, and HEAD has no body."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'),))
    await here.get()
    await here.settle()
    assert (await here.get(**{"if-none-match": '"1"'})).status == 304
    head = await here.get(method="HEAD")
    assert (head.status, head.body, head.header("content-length")) == (200, None, "6")


async def test_variants():
    """Each visitor gets the right variant, and Vary names what it depends on."""
    here = await start(cache_device_variants=True)
    here.world.origin.default = lambda headers: OriginReply(
        body=b"mobile" if "Mobile" in header_value(headers, "user-agent") else b"plain"
    )
    await here.world.enqueue("/a")
    await here.world.drain()
    phone = await here.get(**{"user-agent": "iPhone Mobile"})
    plain = await here.get()
    assert (phone.body, plain.body, cache_headers(phone), phone.header("vary")) == (
        *(b"mobile", b"plain", ("EDGE", "HIT"), "User-Agent"),
    )


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
