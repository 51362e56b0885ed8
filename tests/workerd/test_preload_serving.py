"""Visitors of a zone's host, in workerd: a warmed page is a hit, also when the site is down."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, Runtime, until
from workerd.preload_site import Page, Service, Site, SiteRequest, site

HOSTS = iter(f"site{number}.test" for number in range(20))


class Visitor:
    """A browser at the zone's host, which the runtime routes to edge-preload."""

    def __init__(self, service: Service, host: str) -> None:
        self._url = service.runtime.url
        self._host = host

    def get(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        return httpx.request(method, self._url + path, headers={"Host": self._host} | headers, timeout=PATIENCE_S)


@pytest.fixture(name="place")
def _place(preload: Runtime, name: str) -> Iterator[tuple[Service, Site, Visitor]]:
    host = next(HOSTS)
    with site() as (control, address):
        service = Service(preload, host, name)
        service.register(origin_url=f"http://{address}")
        with service.standing_clock():
            yield service, control, Visitor(service, host)
        service.retire()


def cache_state(reply: httpx.Response) -> tuple[Any, ...]:
    return reply.status_code, reply.headers.get("X-Cache-Layer"), reply.headers.get("X-Cache")


def test_warmed(place: tuple[Service, Site, Visitor]):
    """A preloaded page is a hit at once, in every spelling; the origin gets the host of the page."""
    service, control, visitor = place
    control.pages["/a?x=1"] = Page(
        body="Grüße".encode(), headers={"Content-Type": "text/html; charset=utf-8", "Surrogate-Key": "post:1"}
    )
    service.warm("/a?x=1")
    for path in ("/a?x=1", "/a?utm_source=mail&x=1"):
        reply = visitor.get(path)
        assert cache_state(reply) == (200, "EDGE", "HIT")
        assert (reply.text, reply.headers["Content-Type"]) == ("Grüße", "text/html; charset=utf-8")
        assert reply.headers["Cache-Control"] == "max-age=0, must-revalidate"
        assert reply.headers["Cache-Status"].startswith("sluice; hit; ttl=")
        assert "Surrogate-Key" not in reply.headers
        assert len(reply.headers["X-Cache-Key-Hash"]) == 64
    [request] = control.requests
    assert request.headers["x-forwarded-host"] == service.site_url.removeprefix("http://")


def test_layers(place: tuple[Service, Site, Visitor]):
    """A miss comes from the site and is stored; without the edge copy, R2 still has it."""
    service, control, visitor = place
    assert cache_state(visitor.get("/a")) == (200, "ORIGIN", "MISS")
    until(lambda: cache_state(visitor.get("/a")) == (200, "EDGE", "HIT"))
    service.forget_at_edge("/a")
    assert cache_state(visitor.get("/a")) == (200, "R2", "HIT")
    assert control.count("/a") == 1


def test_stale(place: tuple[Service, Site, Visitor]):
    """An expired page is served stale and revalidated in the background; with the site down, from R2 for as long as it may."""
    service, control, visitor = place
    headers = {"Cache-Control": "max-age=100, stale-while-revalidate=60, stale-if-error=3600"}
    control.pages["/a"] = Page(body=b"old", headers=headers)
    service.warm("/a")
    service.register(**service.ask("config")["config"] | {"preload_enabled": False})
    control.pages["/a"] = Page(body=b"new", headers=headers)
    service.advance(110)
    assert (cache_state(visitor.get("/a"))[2], visitor.get("/a").status_code) == ("STALE", 200)
    until(lambda: visitor.get("/a").text == "new")
    control.pages["/a"] = Page(503)
    service.advance(3000)
    reply = visitor.get("/a")
    assert (cache_state(reply), reply.text) == ((200, "R2", "STALE"), "new")
    service.advance(1000)
    assert visitor.get("/a").status_code == 503


def test_site_is_gone(place: tuple[Service, Site, Visitor]):
    """When the origin refuses connections, the copy is served stale."""
    service, control, visitor = place
    control.pages["/a"] = Page(headers={"Cache-Control": "max-age=3600, stale-while-revalidate=0"})
    service.warm("/a")
    service.register(origin_url="http://127.0.0.1:9", preload_enabled=False)
    service.advance(4000)
    assert cache_state(visitor.get("/a")) == (200, "R2", "STALE")
    assert visitor.get("/b").status_code == 502


def test_bypass(place: tuple[Service, Site, Visitor]):
    """A request that only the site may answer is forwarded with body, cookies and query, and nothing is stored."""
    service, control, visitor = place
    service.warm("/a")
    logged_in = {"Cookie": "wordpress_logged_in_1=me"}
    assert cache_state(visitor.get("/a", **logged_in)) == (200, "ORIGIN", "BYPASS")
    assert control.requests[-1].headers["cookie"] == "wordpress_logged_in_1=me"
    assert cache_state(visitor.get("/cart/?utm_source=x")) == (200, "ORIGIN", "BYPASS")
    assert control.requests[-1].path == "/cart/?utm_source=x"
    host = {"Host": service.site_url.removeprefix("http://")}
    posted = httpx.post(f"{service.runtime.url}/form", content=b"a=1", headers=host, timeout=PATIENCE_S)
    assert cache_state(posted) == (200, "ORIGIN", "BYPASS")
    page = control.pages["posted"]
    assert isinstance(page, Page)
    assert page.body == b"a=1\n"


def test_unshared(place: tuple[Service, Site, Visitor]):
    """A page that sets cookies comes from the site for each visitor; a redirect is left to the visitor."""
    _, control, visitor = place
    control.pages |= {"/a": Page(headers={"Set-Cookie": "a=1"}), "/old": Page(301, headers={"Location": "/new"})}
    for _ in range(2):
        reply = visitor.get("/a")
        assert (cache_state(reply), reply.headers["Set-Cookie"]) == ((200, "ORIGIN", "MISS"), "a=1")
    assert control.count("/a") == 2
    assert (visitor.get("/old").status_code, visitor.get("/old").headers["Location"]) == (301, "/new")


def test_conditional(place: tuple[Service, Site, Visitor]):
    """A visitor who has the page gets a 304; HEAD has only headers."""
    service, control, visitor = place
    control.pages["/a"] = Page(headers={"ETag": '"1"'})
    service.warm("/a")
    assert visitor.get("/a", **{"If-None-Match": '"1"'}).status_code == 304
    head = visitor.get("/a", "HEAD")
    assert (cache_state(head), head.content) == ((200, "EDGE", "HIT"), b"")


def test_purged(place: tuple[Service, Site, Visitor]):
    """After a purge no visitor sees the old page."""
    service, control, visitor = place
    bodies = iter([b"old", b"new", b"new"])

    def page(_request: SiteRequest) -> Page:
        return Page(body=next(bodies), headers={"Cache-Tag": "post:7"})

    control.pages["/a"] = page
    service.warm("/a")
    assert visitor.get("/a").text == "old"
    service.purge(tags=["post:7"])
    until(lambda: control.count("/a") >= 2)
    until(lambda: visitor.get("/a").text == "new")


def test_host_is_no_api(place: tuple[Service, Site, Visitor]):
    """On a zone's host every path belongs to the site, also those of the API and of /health."""
    _, control, visitor = place
    assert cache_state(visitor.get("/health")) == (200, "ORIGIN", "MISS")
    assert control.count("/health") == 1
