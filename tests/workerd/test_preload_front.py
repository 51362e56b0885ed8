"""edge-preload in front of a shop, in workerd: who is served what when many come, the origin hangs, or the set-up is broken."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from runtime import PATIENCE_S, Runtime, until
from workerd.preload_site import ADMIN, API, Service
from workerd.recording_origin import Received, RecordingOrigin, Sent, recording_origin

HTML = ("Content-Type", "text/html; charset=utf-8")
HOSTS = iter(f"f{number}.proxy.test" for number in range(50))


class Front:
    """A zone of its own, with an origin that records everything."""

    def __init__(self, runtime: Runtime, origin: RecordingOrigin, zone: str) -> None:
        self.runtime = runtime
        self.origin = origin
        self.host = next(HOSTS)
        self.service = Service(runtime, self.host, zone)

    def register(self, **config: object) -> None:
        self.service.register(origin_url=f"http://{self.origin.address}", **config)

    def ask(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with httpx.Client(timeout=PATIENCE_S) as client:
            client.headers.clear()
            return client.request(method, self.runtime.url + path, headers={"Host": self.host, **named})

    def wait_until_stored(self, path: str, **headers: str) -> None:
        until(lambda: "hit" in self.ask(path, **headers).headers["Cache-Status"])

    def count_visits(self, path: str) -> int:
        """Return the requests that the origin got from visitors, without those of the preloader."""
        asked = [each for each in list(self.origin.received) if each.path == path]
        return sum(each.header("User-Agent") != "sluice-preload" for each in asked)


@pytest.fixture(name="front")
def _front(preload: Runtime, name: str) -> Iterator[Front]:
    with recording_origin() as origin:
        front = Front(preload, origin, name)
        front.register()
        yield front
        front.service.retire()


def test_herd(front: Front):
    """Fifty visitors of a cold page at the same time cause one request; each gets the whole page."""
    gate = threading.Event()
    front.origin.default = Sent(headers=[HTML], body=b"x" * 200_000, gate=gate)
    with ThreadPoolExecutor(50) as pool:
        visits = [pool.submit(front.ask, "/cold") for _ in range(50)]
        until(lambda: front.count_visits("/cold") >= 1)
        gate.set()
        replies = [visit.result() for visit in visits]
    assert {(reply.status_code, len(reply.content)) for reply in replies} == {(200, 200_000)}
    assert front.count_visits("/cold") == 1


def test_large_answers_at_once(front: Front):
    """Sixteen visitors get 10 MB each at the same time, of known and of unknown length; Python's heap stays as it is."""

    def heap_bytes() -> int:
        return int(httpx.get(f"{front.runtime.url}/test/heap", headers=API, timeout=PATIENCE_S).text)

    gate = threading.Event()
    large = bytes(range(250)) * 40_000
    front.origin.default = lambda received: Sent(
        headers=[("Content-Type", "image/png")], body=large, gate=gate, chunked="chunked" in received.path
    )
    before = heap_bytes()
    with ThreadPoolExecutor(16) as pool:
        paths = [f"/{kind}-{number}.png" for kind in ("plain", "chunked") for number in range(8)]
        visits = [pool.submit(front.ask, path) for path in paths]
        until(lambda: all(front.count_visits(path) for path in paths))
        gate.set()
        assert all(visit.result().content == large for visit in visits)
    assert heap_bytes() - before <= 10_000_000


def test_hanging_origin(front: Front):
    """While the origin hangs, who has a stale copy gets it; the origin's answer is not waited for to the end."""
    front.origin.default = Sent(
        headers=[HTML, ("Cache-Control", "max-age=1, stale-while-revalidate=0, stale-if-error=9999")]
    )
    front.ask("/hangs")
    front.wait_until_stored("/hangs")
    gate = threading.Event()
    front.origin.default = Sent(headers=[HTML], body=b"late", gate=gate)
    with front.service.standing_clock():
        front.service.set(advance_s=100)
        reply = front.ask("/hangs")
    gate.set()
    assert (reply.status_code, reply.text, reply.headers["X-Cache"]) == (200, "<p>a page</p>", "STALE")
    assert reply.headers["Cache-Status"].endswith("detail=origin-failed")


def test_stale_is_refreshed_behind(front: Front):
    """A stale page is served at once, with a negative ttl, and refreshed by one conditional request of our own."""

    def page(received: Received) -> Sent:
        if received.header("If-None-Match") == '"1"':
            return Sent(304, [("ETag", '"1"')], b"")
        return Sent(headers=[HTML, ("ETag", '"1"'), ("Cache-Control", "max-age=50")])

    front.origin.default = page
    front.ask("/p")
    front.wait_until_stored("/p")
    with front.service.standing_clock():
        front.service.set(advance_s=60)
        stale = front.ask("/p")
        assert (stale.text, stale.headers["X-Cache"]) == ("<p>a page</p>", "STALE")
        assert int(stale.headers["Cache-Status"].partition("ttl=")[2]) < 0
        until(lambda: front.ask("/p").headers["X-Cache"] == "HIT")
    refreshes = [each for each in front.origin.received if each.header("If-None-Match")]
    assert [each.header("User-Agent") for each in refreshes] == ["sluice-preload"]


def test_unsafe_requests_drop_copies(front: Front):
    """A POST that succeeds drops the page's copies; one that fails does not."""
    front.ask("/item")
    front.wait_until_stored("/item")
    front.origin.default = Sent(500, [HTML])
    front.ask("/item", "POST")
    assert "hit" in front.ask("/item").headers["Cache-Status"]
    front.origin.default = Sent(303, [("Location", "/item")], b"")
    front.ask("/item", "POST")
    front.origin.default = Sent(headers=[HTML], body=b"changed")
    until(lambda: front.ask("/item").text == "changed")


def test_private_pages_do_not_leak(front: Front):
    """What the origin shows to one visitor is never shown to another: by cookie, header, or a comment that awaits moderation."""
    front.origin.default = lambda received: Sent(
        headers=[HTML], body=(received.header("Cookie") or received.header("X-User") or received.path).encode()
    )
    front.ask("/account", Cookie="who=ann")
    front.ask("/account", X_User="bob")
    front.ask("/post/?unapproved=7&moderation-hash=abc")
    until(lambda: front.ask("/account").text == "/account")
    assert front.ask("/post/").text == "/post/"
    assert front.ask("/post/?unapproved=8&moderation-hash=def").text.endswith("def")


def test_variants_cannot_be_chosen(front: Front):
    """With device variants a desktop visitor cannot get the phone's copy by a parameter."""
    front.register(cache_device_variants=True)
    front.origin.default = lambda received: Sent(
        headers=[HTML], body=b"phone" if "Mobile" in (received.header("User-Agent") or "") else b"desktop"
    )
    front.ask("/v", User_Agent="Mobile")
    front.wait_until_stored("/v", User_Agent="Mobile")
    assert front.ask("/v?sluice-variant=device%3Amobile", User_Agent="Desktop").text == "desktop"
    assert front.ask("/v", User_Agent="Desktop").text == "desktop"
    assert front.ask("/v", User_Agent="Mobile").text == "phone"


def test_head_and_range_from_a_copy(front: Front):
    """HEAD and Range are answered from the copy of a GET."""
    front.origin.default = Sent(headers=[("Content-Type", "text/plain"), ("ETag", '"1"')], body=b"0123456789")
    front.ask("/f.txt")
    front.wait_until_stored("/f.txt")
    asked = front.count_visits("/f.txt")
    head = front.ask("/f.txt", "HEAD")
    assert (head.status_code, head.headers["Content-Length"], head.content) == (200, "10", b"")
    part = front.ask("/f.txt", Range="bytes=2-4")
    assert (part.status_code, part.content, part.headers["Content-Range"]) == (206, b"234", "bytes 2-4/10")
    assert front.ask("/f.txt", Range="bytes=99-").status_code == 416
    assert front.ask("/f.txt", If_None_Match='"1"').status_code == 304
    assert front.count_visits("/f.txt") == asked


def test_views_write_no_log(front: Front):
    """Ordinary page views, from the origin and from a copy, leave no line in the log."""
    before = len(front.runtime.lines)
    front.ask("/quiet")
    front.wait_until_stored("/quiet")
    front.ask("/quiet", Cookie="sid=1")
    front.ask("/quiet", "POST")
    front.ask("/missing", Accept="text/html")
    assert [line for line in front.runtime.lines[before:] if front.host in line or front.service.zone in line] == []


def test_api_hosts(front: Front):
    """The page and the API answer on the Worker's own hosts only: not on a zone's host, nor on an unknown one."""
    url = f"{front.runtime.url}/api/v1/zones"
    assert httpx.get(url, headers={**API, **ADMIN}, timeout=PATIENCE_S).status_code == 200
    on_site = httpx.get(url, headers={"Host": front.host, **ADMIN}, timeout=PATIENCE_S)
    assert on_site.text == "<p>a page</p>"
    unknown = httpx.get(url, headers={"Host": "unknown.proxy.test", "Via": "1.1 sluice", **ADMIN}, timeout=PATIENCE_S)
    assert unknown.status_code == 508


@pytest.mark.parametrize("text", ["{not json", '{"site_url": "http://x.test", "nonsense": 1}', "null", None])
def test_broken_configuration(front: Front, text: str | None):
    """A configuration in KV that cannot be read, or is gone, leaves the site as it was."""
    assert front.ask("/page", Cookie="a=1").status_code == 200
    values = f"{front.runtime.url}/cdn-cgi/explorer/api/storage/kv/namespaces/preload/values"
    method = "DELETE" if text is None else "PUT"
    httpx.request(method, f"{values}/config:{front.service.zone}", content=text, timeout=PATIENCE_S).raise_for_status()
    front.service.set(advance_s=100)
    reply = front.ask("/other", Cookie="sid=1")
    assert (reply.status_code, reply.text, front.count_visits("/other")) == (200, "<p>a page</p>", 1)


def test_shared_host(front: Front, name: str):
    """Of two zones that name one host the one configured last serves it; without that one, the other does."""
    front.origin.default = Sent(headers=[HTML], body=b"first")
    with recording_origin() as second:
        second.default = Sent(headers=[HTML], body=b"second")
        other = Service(front.runtime, front.host, f"{name}-other")
        other.register(origin_url=f"http://{second.address}")
        assert front.ask("/who", Cookie="a=1").text == "second"
        other.retire()
    assert front.ask("/who", Cookie="a=1").text == "first"


def test_rules_and_observing(front: Front):
    """The operator asks what would happen, observes before he caches, and sees which pages differ between visitors."""
    explained = front.service.admin("POST", "rules/test", {"url": f"http://{front.host}/cart/"}).json()
    assert (explained["decision"], explained["detail"]) == ("pass", "path")
    front.register(cache_enabled="observe")
    front.origin.default = lambda received: Sent(headers=[HTML], body=(received.header("Cookie") or "same").encode())
    for cookie in ("a=1", "a=2", "a=3"):
        assert front.ask("/differs", Cookie=cookie).headers["Cache-Status"] == "sluice; fwd=bypass; detail=observe"
        front.ask("/same")
    listed = until(lambda: (found := front.service.ask("observed")["observed"]) and len(found) == 2 and found)
    differing = until(lambda: {page["url"]: page["differing"] for page in front.service.ask("observed")["observed"]})
    assert listed
    assert differing[f"http://{front.host}/differs"] >= 1
    assert differing[f"http://{front.host}/same"] == 0
