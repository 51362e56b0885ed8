"""edge-preload on a route, in workerd: a front door takes every request for the site's host into the Worker, also its own."""

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime, until
from sluice.core.preload.request_signing import WARMING_HEADER, sign_warming
from workerd.front_door import FrontDoor, Headers, by_via, by_zone, front_door, never
from workerd.preload_site import KEY, TOKEN, Page, Service, Site, SiteRequest, site

HTML = "text/html; charset=utf-8"


class RoutedSite:
    """A site whose host leads through the door: the origin behind it, the zone, and what a visitor gets."""

    def __init__(self, service: Service, origin: Site, door: FrontDoor) -> None:
        self.service = service
        self.origin = origin
        self.door = door

    def write(self, path: str, text: str, **headers: str) -> None:
        """Return the page has an ETag that changes with its text, and 304 is answered to who has it."""

        def page(request: SiteRequest) -> Page:
            tag = f'"{text}"'
            status = 304 if request.headers.get("if-none-match") == tag else 200
            return Page(status, text.encode(), {"Content-Type": HTML, "ETag": tag, **headers})

        self.origin.pages[path] = page

    def visit(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        return httpx.request(method, f"http://{self.door.address}{path}", headers=headers, timeout=PATIENCE_S)

    def see(self, path: str) -> tuple[str, str]:
        reply = self.visit(path)
        return reply.text, reply.headers["X-Cache"]

    def count_warmings(self, path: str) -> int:
        """Return the requests of the preloader that reached the origin."""
        asked = [each for each in list(self.origin.requests) if each.path == path]
        return sum(each.headers.get("user-agent") == "sluice-preload" for each in asked)


OpenSite = Callable[..., RoutedSite]


@pytest.fixture(name="open_site")
def _open_site(preload: Runtime, name: str) -> Iterator[OpenSite]:
    """Opens a site behind a door; `has_origin_url`: the zone knows an address of the origin that no route leads to."""
    with contextlib.ExitStack() as stack:

        def open_site(leads_to_origin: Callable[[Headers], bool], *, has_origin_url: bool = False) -> RoutedSite:
            origin, origin_address = stack.enter_context(site())
            door = stack.enter_context(front_door(preload.url, origin_address, leads_to_origin))
            service = Service(preload, door.address, name)
            service.register(**({"origin_url": f"http://{origin_address}"} if has_origin_url else {}))
            stack.callback(service.retire)
            return RoutedSite(service, origin, door)

        yield open_site


DOORS = pytest.mark.parametrize("leads_to_origin", [by_via, by_zone])
ORIGIN_URLS = pytest.mark.parametrize("has_origin_url", [False, True], ids=["site_url", "origin_url"])


@DOORS
@ORIGIN_URLS
def test_change_reaches_visitors(open_site: OpenSite, leads_to_origin: Callable[[Headers], bool], has_origin_url: bool):
    """The page changes and is warmed again: a visitor, who got the old text with HIT, gets the new text with HIT."""
    here = open_site(leads_to_origin, has_origin_url=has_origin_url)
    here.write("/news/?page=2", "old")
    batch = here.service.warm("/news/?page=2")
    assert (batch["total"], batch["done"]) == (1, 1)
    assert here.see("/news/?page=2") == ("old", "HIT")
    here.write("/news/?page=2", "new")
    batch = here.service.warm("/news/?page=2")
    assert (batch["total"], batch["done"]) == (1, 1)
    assert here.see("/news/?page=2") == ("new", "HIT")
    assert here.count_warmings("/news/?page=2") == len(here.origin.requests) == 2
    here.service.warm("/news/?page=2")
    until(lambda: here.service.statuses("/news/?page=2") == ["warmed", "warmed", "unchanged"])


@DOORS
def test_warming_is_no_visit(open_site: OpenSite, leads_to_origin: Callable[[Headers], bool]):
    """Warming queues nothing more and counts as no visit: the visitor's own is the only one, and comes from the copy."""
    here = open_site(leads_to_origin)
    paths = [f"/p{number}" for number in range(5)]
    batch = here.service.warm(*paths)
    assert (batch["total"], batch["done"], batch["failed"]) == (5, 5, 0)
    assert here.see("/p0")[1] == "HIT"
    here.service.set(advance_s=15)  # visits are told in between
    assert here.see("/p0")[1] == "HIT"
    layers = until(lambda: (found := here.service.ask("traffic")["layers"])["edge"]["visits"] and found)
    assert {layer for layer, figures in layers.items() if figures["visits"]} == {"edge"}
    assert [each["preload_batch_id"] for each in here.service.ask("status")["batches"]] == [batch["preload_batch_id"]]
    assert all(here.count_warmings(path) == 1 for path in paths)
    assert len(here.origin.requests) == 5


def test_origin_sees_an_ordinary_request(open_site: OpenSite):
    """A visitor sees nothing of it: the proof ends at the Worker, and the origin gets one request that it can believe."""
    here = open_site(by_zone)
    here.write("/a", "text")
    here.service.warm("/a")
    [request] = here.origin.requests
    assert WARMING_HEADER not in request.headers
    assert request.headers["x-forwarded-host"] == here.door.address
    assert "x-sluice-proxy" in request.headers
    assert "x-forwarded-for" not in request.headers
    assert [path for path, _ in here.door.into_worker] == [path for path, _ in here.door.to_origin] == ["/a"]


def test_tags_pass_the_door(open_site: OpenSite):
    """The door keeps Cache-Tag for itself, yet after a purge by tag the visitor gets the new text."""
    here = open_site(by_zone)
    here.write("/a", "old", **{"Cache-Tag": "post:1,term:2"})
    here.service.warm("/a")
    here.write("/a", "new", **{"Cache-Tag": "post:1,term:2"})
    here.service.purge(tags=["post:1"])
    until(lambda: here.see("/a") == ("new", "HIT"))


def test_stale_page_is_refreshed(open_site: OpenSite):
    """A stale page is shown once more and refreshed from the origin: then the visitor gets the new text."""
    here = open_site(by_via)
    here.service.register(preload_enabled=False)
    here.write("/a", "old", **{"Cache-Control": "max-age=50, stale-while-revalidate=5000"})
    here.see("/a")
    until(lambda: here.see("/a") == ("old", "HIT"))
    here.write("/a", "new", **{"Cache-Control": "max-age=50, stale-while-revalidate=5000"})
    here.service.set(advance_s=60)
    assert here.see("/a") == ("old", "STALE")
    until(lambda: here.see("/a")[0] == "new")


def test_nothing_behind_the_worker(open_site: OpenSite):
    """Where no request leaves the Worker, the visitor gets 508; nothing is stored, and one alert says what to set."""
    here = open_site(never)
    batch = here.service.warm("/a", "/b")
    assert (batch["failed"], batch["done"]) == (2, 0)
    reasons = {each["reason"] for each in here.service.ask("failed")["failed"]}
    assert all("came back to this Worker: set the zone's origin_url" in reason for reason in reasons)
    alerts = until(lambda: here.service.ask("alerts")["alerts"])
    loops = [each for each in alerts if each["kind"] == "warming_loop"]
    assert [(each["level"], each["resolved_at"]) for each in loops] == [("critical", None)]
    assert here.door.address in loops[0]["message"]
    assert "origin_url" in loops[0]["message"]
    assert here.service.ask("status")["breaker"]["state"] == "closed"
    assert here.visit("/a").status_code == 508
    assert (here.origin.requests, here.service.ask("pages")["pages"]) == ([], [])
    # With an address that no route leads to, the pages are warmed and the alert is over.
    here.service.register(origin_url=f"http://{here.door.origin_address}")
    assert here.service.warm("/a")["done"] == 1
    assert here.see("/a")[1] == "HIT"
    until(lambda: all(each["resolved_at"] for each in here.service.ask("alerts")["alerts"] if each in loops))
    until(lambda: "warming_loop" not in here.service.ask("status")["alerts"])


@pytest.mark.parametrize(
    "headers",
    [{"Via": "1.1 varnish, 1.1 sluice"}, {"Cache-Status": "other; hit, sluice; hit; ttl=9"}],
    ids=["Via", "Cache-Status"],
)
def test_reply_that_names_us(open_site: OpenSite, headers: dict[str, str]):
    """A reply that names us is not the origin's: it is not stored, and the visitor keeps the copy that he had."""
    here = open_site(by_via)
    here.write("/a", "good")
    here.service.warm("/a")
    here.write("/a", "our own", **headers)
    assert here.service.warm("/a")["failed"] == 1
    assert here.see("/a") == ("good", "HIT")
    assert "warming_loop" in here.service.ask("status")["alerts"]
    here.write("/a", "another proxy", **{"Via": "1.1 sluiceway (sluice)", "Cache-Status": 'cdn; detail="x, sluice"'})
    assert here.service.warm("/a")["done"] == 1
    assert here.see("/a") == ("another proxy", "HIT")
    assert "warming_loop" not in here.service.ask("status")["alerts"]


def test_strangers_proof(open_site: OpenSite):
    """A stranger with a proof of another page, method, key or time gets the copy like anybody, and the origin hears nothing."""
    here = open_site(by_zone)
    here.service.warm("/a")
    before, now = len(here.origin.requests), here.service.now
    place = f"{here.door.address}/a"
    forged = [
        sign_warming("a-key-of-somebody-else", method="GET", place=place, now=now),
        sign_warming(KEY, method="GET", place=place + "b", now=now),
        sign_warming(KEY, method="HEAD", place=place, now=now),
        sign_warming(KEY, method="GET", place=place, now=now - 100),
        sign_warming(KEY, method="GET", place=place, now=now + 100),
        (WARMING_HEADER, "t=1"),
    ]
    for name, value in forged:
        assert here.visit("/a", **{name: value}).headers["X-Cache"] == "HIT"
        # One that claims to have passed us already is a loop, whatever else it says.
        assert here.visit("/a", **{name: value, "Via": "1.1 other, 1.1 sluice"}).status_code == 508
    assert len(here.origin.requests) == before
    [(name, value)] = [sign_warming(KEY, method="GET", place=place, now=now)]
    assert "X-Cache" not in here.visit("/a", **{name: value}).headers
    assert len(here.origin.requests) == before + 1


def test_key_is_replaced(open_site: OpenSite):
    """The zone gets a key of its own while it is warmed: the visitor gets each new text, and no page fails."""
    here = open_site(by_zone)
    here.write("/a", "one")
    assert here.service.warm("/a")["done"] == 1
    config = here.service.ask("config")["config"]
    here.service.register(**config, signing_key="a-key-of-this-zone-alone-0123456789abcdef")
    here.write("/a", "two")
    reply = here.service.admin("POST", "enqueue", {"urls": [f"{here.service.site_url}/a"]})
    assert here.service.wait_until_finished(reply.json()["preload_batch_id"])["done"] == 1
    assert here.see("/a") == ("two", "HIT")


def test_origin_host_is_routed_too(open_site: OpenSite, preload: Runtime):
    """A route covers the origin's own host as well: warming passes there too, and the visitor gets the page with HIT."""
    here = open_site(by_zone, has_origin_url=True)
    with front_door(preload.url, here.door.origin_address, by_zone) as second:
        here.service.register(origin_url=f"http://{second.address}")
        here.write("/a", "text")
        assert here.service.warm("/a")["done"] == 1
        assert here.see("/a") == ("text", "HIT")
        assert [path for path, _ in second.into_worker] == ["/a"]
        [request] = here.origin.requests
        assert request.headers["x-forwarded-host"] == here.door.address
        assert WARMING_HEADER not in request.headers


@pytest.mark.parametrize(("leads_to_origin", "state"), [(by_via, "reached"), (by_zone, "reached"), (never, "looped")])
def test_check(open_site: OpenSite, leads_to_origin: Callable[[Headers], bool], state: str):
    """The operator tries it once, before a visitor comes: the status says whether warming reaches the origin."""
    here = open_site(leads_to_origin)
    assert here.service.ask("status")["origin_check"] is None
    assert here.service.admin("POST", "origin/check").json()["origin_check"]["state"] == "pending"
    check = until(lambda: (found := here.service.ask("status")["origin_check"])["state"] != "pending" and found)
    assert check["state"] == state
    assert (check["status"], bool(check["detail"])) == ((200, False) if state == "reached" else (None, True))
    assert len(here.origin.requests) == (state == "reached")
    here.service.register(preload_rps_limit=3)
    assert here.service.ask("status")["origin_check"] is None


@pytest.mark.parametrize(("leads_to_origin", "verdict"), [(by_zone, "ok"), (never, "FAILED")])
def test_smoke_test(open_site: OpenSite, leads_to_origin: Callable[[Headers], bool], verdict: str):
    """The operator deploys and checks: he learns that warming fails before a visitor gets an old page, and what to set."""
    here = open_site(leads_to_origin)
    port = here.service.runtime.url.rpartition(":")[2]
    done = subprocess.run(
        [ROOT / "scripts/deploy", "--check", f"http://edge-preload.localhost:{port}"],
        env=os.environ | {"ADMIN_TOKEN": TOKEN},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    [line] = [line for line in done.stdout.splitlines() if f"/{here.service.zone}/" in line]
    assert line.split()[0] == verdict
    assert ("set the zone's origin_url" in line) == (verdict == "FAILED")
