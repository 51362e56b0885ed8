"""edge-preload in front of a site, in workerd: what is not cached passes as if there were no proxy."""

import gzip
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve
from websockets.typing import Subprotocol

from runtime import PATIENCE_S, Runtime, until
from sluice.core.preload.request_signing import compute_signature
from workerd.preload_site import KEY, Service
from workerd.recording_origin import Received, RecordingOrigin, Sent, recording_origin

HTML = ("Content-Type", "text/html; charset=utf-8")
PROXY_HEADERS = {"cache-status", "age", "via", "server-timing"}


class Shop:
    """A zone with an origin that records everything, and visitors."""

    def __init__(self, service: Service, origin: RecordingOrigin, host: str) -> None:
        self.service = service
        self.origin = origin
        self.host = host

    @property
    def received(self) -> list[Received]:
        """The requests of visitors of this host, without those of the preloader."""
        own = [each for each in list(self.origin.received) if each.header("x-forwarded-host") == self.host]
        return [each for each in own if each.header("User-Agent") != "sluice-preload"]

    def count(self, path: str) -> int:
        return sum(each.path == path for each in self.received)

    def last(self, path: str) -> Received:
        return [each for each in self.received if each.path == path][-1]

    def ask(self, path: str, method: str = "GET", *, content: bytes | None = None, **headers: str) -> httpx.Response:
        """Send one request, with no headers but Host and these."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with httpx.Client(timeout=PATIENCE_S) as client:
            client.headers.clear()
            url = httpx.URL(self.service.runtime.url).copy_with(raw_path=path.encode())
            return client.request(method, url, content=content, headers={"Host": self.host, **named})

    def ask_origin(self, path: str, method: str = "GET", **headers: str) -> httpx.Response:
        """Return the same request to the origin itself."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with httpx.Client(timeout=PATIENCE_S) as client:
            client.headers.clear()
            url = httpx.URL(f"http://{self.origin.address}").copy_with(raw_path=path.encode())
            return client.request(method, url, headers={"Host": self.origin.address, **named})


@pytest.fixture(name="zone", scope="module")
def _zone(preload: Runtime) -> Iterator[tuple[Service, RecordingOrigin]]:
    with recording_origin() as origin:
        service = Service(preload, "t0.proxy.test", "proxied")
        service.register(
            origin_url=f"http://{origin.address}", hosts=[f"t{number}.proxy.test" for number in range(1, 50)]
        )
        yield service, origin
        service.retire()


HOSTS = iter(f"t{number}.proxy.test" for number in range(50))


@pytest.fixture(name="shop")
def _shop(zone: tuple[Service, RecordingOrigin]) -> Shop:
    """The zone at a host that no other test uses, so that no other test's copies answer."""
    service, origin = zone
    origin.reset()
    return Shop(service, origin, next(HOSTS))


def cache_status(reply: httpx.Response) -> str:
    return reply.headers["Cache-Status"]


def end_to_end(reply: httpx.Response) -> dict[str, list[str]]:
    """Return the headers that a proxy must not touch."""
    dropped = {"connection", "date", "server", "transfer-encoding", "content-length", *PROXY_HEADERS}
    names = {name for name in reply.headers if name not in dropped and not name.startswith(("x-cache", "x-sluice-"))}
    return {name: reply.headers.get_list(name) for name in names}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT", "PROPFIND"])
def test_methods(shop: Shop, method: str):
    """Any method passes, with its body, in one request."""
    reply = shop.ask("/dav/x", method, content=b"<body/>", Content_Type="text/xml")
    [received] = shop.received
    assert (received.method, received.path, received.body) == (method, "/dav/x", b"<body/>")
    assert (reply.status_code, cache_status(reply)) == (200, "sluice; fwd=method")


@pytest.mark.parametrize(
    "path",
    [
        *("/a?a[]=2&a[]=1", "//double//slash", "/a?ref=mail&source=x", "/a?b=1&a=2", "/a?utm_source=x", "/%7euser"),
        *("/a?q=a+b%20c", "/a?&&x", "/a?empty=", "/a;v=1?x;y"),
    ],
)
def test_path_as_written(shop: Shop, path: str):
    """The origin gets path and query as the visitor wrote them, in the cache's way or not."""
    for cookie in ("wordpress_logged_in_1=me", "theme=dark"):
        shop.ask(path, Cookie=cookie)
    shop.ask(path)
    assert {each.path for each in shop.received} == {path}


def test_one_request_with_a_cookie(shop: Shop):
    """A request with any cookie reaches the origin once, as the visitor sent it, and is not stored."""
    shop.origin.default = lambda received: Sent(headers=[HTML], body=(received.header("Cookie") or "nobody").encode())
    for number, cookie in enumerate(("theme=dark", "reset=token", "wordpress_logged_in_1=me", "sessionid=1")):
        path = f"/confirm/{number}"
        reply = shop.ask(path, Cookie=cookie)
        assert (reply.text, shop.count(path)) == (cookie, 1)
        assert "stored" not in cache_status(reply)


def test_no_headers_added(shop: Shop):
    """The origin sees the visitor's headers, and of ours only Via, X-Forwarded-* and the proof for them."""
    sent = {"User-Agent": "me", "Accept": "*/*", "X-Odd": "1", "Cookie": "theme=dark", "Cache-Control": "max-age=0"}
    with httpx.Client(timeout=PATIENCE_S) as client:
        client.headers.clear()
        client.get(f"{shop.service.runtime.url}/page", headers={"Host": shop.host, **sent})
    [received] = shop.received
    seen = {name.lower(): value for name, value in received.headers}
    assert {name: seen[name.lower()] for name in sent} == sent
    assert "pragma" not in seen
    assert seen["via"] == "1.1 sluice"
    assert seen["x-sluice-proxy"].startswith("t=")
    assert (seen["x-forwarded-host"], seen["x-forwarded-proto"]) == (shop.host, "http")
    ours = {
        "via",
        "x-sluice-proxy",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-forwarded-for",
        "host",
        "connection",
        "accept-encoding",
    }
    extra = set(seen) - {name.lower() for name in sent} - ours
    assert not {name for name in extra if not name.startswith("cf-")}, extra


def test_forged_proof(shop: Shop):
    """A proof that a visitor sends is replaced by ours, which covers the address that Cloudflare saw."""
    shop.ask("/x", X_Sluice_Proxy="t=1,v=00", CF_Connecting_IP="203.0.113.9", Cookie="a=1")
    timestamp, signature = (part.partition("=")[2] for part in str(shop.last("/x").header("x-sluice-proxy")).split(","))
    assert signature == compute_signature(KEY, f"proxy\n{shop.host}\nhttp\n203.0.113.9\n{timestamp}")


def test_forwarded_for(shop: Shop):
    """X-Forwarded-For ends with the address that Cloudflare saw."""
    shop.ask("/x", CF_Connecting_IP="203.0.113.9", X_Forwarded_For="6.6.6.6", Cookie="a=1")
    assert shop.last("/x").header("x-forwarded-for") == "6.6.6.6, 203.0.113.9"


def test_reply_headers(shop: Shop):
    """Headers for caches and of one connection stay here; all others arrive, repeated ones too."""
    hidden = [
        ("Cache-Tag", "a"),
        ("Surrogate-Key", "b"),
        ("Surrogate-Control", "x=1"),
        ("CDN-Cache-Control", "max-age=9"),
    ]
    hidden += [("Host", "inner.example"), ("Keep-Alive", "timeout=5"), ("Connection", "X-Hop"), ("X-Hop", "1")]
    shown = [
        ("X-Powered-By", "PHP"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("Link", "</x>"),
        ("Server", "nginx"),
    ]
    shop.origin.default = Sent(headers=[HTML, *hidden, *shown])
    reply = shop.ask("/page")
    for name, _ in hidden:
        assert name == "Connection" or name not in reply.headers
    for name, _ in shown:
        assert reply.headers.get_list(name) == [value for key, value in shown if key == name]
    assert cache_status(reply) == "sluice; fwd=uri-miss; detail=set-cookie"


def test_origin_stays_hidden(shop: Shop):
    """No header of a reply names the origin's address."""
    inner = f"http://{shop.origin.address}"
    shop.origin.default = Sent(
        302, [("Location", f"{inner}/new?x=1"), ("Content-Location", f"{inner}/c"), ("Link", f"<{inner}/l>")]
    )
    for cookie in ("a=1", "sessionid=1"):
        reply = shop.ask("/old", Cookie=cookie)
        assert reply.headers["Location"] == f"http://{shop.host}/new?x=1"
        assert shop.origin.address not in str(reply.headers)


def test_head_range_conditions(shop: Shop):
    """HEAD, Range and conditions of a request that passes reach the origin, and its reply comes back as it is."""
    shop.origin.scripts = {
        "/h": Sent(headers=[HTML, ("X-Kind", "head")]),
        "/r": Sent(206, [("Content-Range", "bytes 0-1/10"), ("Content-Type", "video/mp4")], b"ab"),
        "/c": Sent(304, [("ETag", '"1"')], b""),
    }
    head = shop.ask("/h", "HEAD")
    assert (head.status_code, head.headers["X-Kind"], head.content) == (200, "head", b"")
    assert shop.last("/h").method == "HEAD"
    part = shop.ask("/r", Range="bytes=0-1")
    assert (part.status_code, part.content, part.headers["Content-Range"]) == (206, b"ab", "bytes 0-1/10")
    same = shop.ask("/c", If_None_Match='"1"')
    assert (same.status_code, same.headers["ETag"], same.content) == (304, '"1"', b"")


def test_encoded_and_large_bodies(shop: Shop):
    """Compressed, chunked and large bodies arrive whole; what is larger than 10 MB is not stored."""
    large = bytes(range(256)) * 45_000
    zipped = gzip.compress(b"hello " * 1000)
    shop.origin.scripts = {
        "/large": Sent(headers=[("Content-Type", "image/png")], body=large),
        "/chunked": Sent(headers=[("Content-Type", "image/png")], body=large[:300_000], chunked=True),
        "/endless": Sent(headers=[("Content-Type", "image/png")], body=large, chunked=True),
        "/zipped": Sent(headers=[HTML, ("Content-Encoding", "gzip")], body=zipped),
    }
    for _ in range(2):
        assert shop.ask("/large").content == large
        assert shop.ask("/chunked").content == large[:300_000]
        assert shop.ask("/endless").content == large
        assert shop.ask("/zipped", Accept_Encoding="gzip").content == b"hello " * 1000
        assert shop.ask("/zipped", Accept_Encoding="gzip", Cookie="sid=1").content == b"hello " * 1000
        assert "Content-Encoding" not in shop.ask("/zipped", Accept_Encoding="identity", Cookie="sid=1").headers
    assert cache_status(shop.ask("/large")) == "sluice; fwd=uri-miss; detail=too-large"
    until(lambda: "hit" in cache_status(shop.ask("/chunked")))
    assert shop.ask("/chunked").content == large[:300_000]
    assert "hit" not in cache_status(shop.ask("/endless"))


def test_upload(shop: Shop):
    """A large upload arrives whole."""
    content = b"0123456789" * 500_000
    assert shop.ask("/upload", "POST", content=content).status_code == 200
    assert shop.last("/upload").body == content


def test_failures_as_pages(shop: Shop):
    """A dead origin is a small page for browsers and a problem for programs; neither names the origin or this product."""
    shop.origin.default = Sent(drop=True)
    page = shop.ask("/page", Accept="text/html,*/*")
    assert (page.status_code, page.headers["Content-Type"]) == (502, "text/html; charset=utf-8")
    assert shop.host in page.text
    problem = shop.ask("/page", Accept="application/json")
    assert (problem.status_code, problem.headers["Content-Type"]) == (502, "application/problem+json")
    for reply in (page, problem):
        assert shop.origin.address not in reply.text
        assert "sluice" not in reply.text.lower()


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_loop(shop: Shop, method: str):
    """A request that comes back to ourselves ends at once."""
    reply = shop.ask("/page", method, Via="1.0 other, 1.1 sluice")
    assert reply.status_code == 508
    assert shop.received == []


def test_websocket(shop: Shop, name: str):
    """A socket opens through the Worker, with the visitor's query, cookies and subprotocol, and carries both kinds of messages."""
    opened: list[tuple[str, str]] = []

    def echo(other: ServerConnection) -> None:
        assert other.request is not None
        opened.append((other.request.path, other.request.headers["Cookie"]))
        for message in other:
            other.send(message)

    with serve(echo, "127.0.0.1", 0, subprotocols=[Subprotocol("chat")]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        runtime, url = shop.service.runtime, httpx.URL(shop.service.runtime.url)
        site = Service(runtime, "socket.proxy.test", name)
        site.register(origin_url=f"http://127.0.0.1:{server.socket.getsockname()[1]}")
        connection = socket.create_connection((url.host, url.port), timeout=PATIENCE_S)
        options: dict[str, Any] = {"subprotocols": [Subprotocol("chat")], "additional_headers": {"Cookie": "sid=1"}}
        with connect("ws://socket.proxy.test/live?a[]=1", sock=connection, **options) as visitor:
            assert visitor.subprotocol == "chat"
            for message in ("hello", b"x" * 100_000):
                visitor.send(message)
                assert visitor.recv(PATIENCE_S) == message
        site.retire()
        server.shutdown()
    assert opened == [("/live?a[]=1", "sid=1")]


def test_odd_requests(shop: Shop):
    """An upload that waits to be asked for, a GET with a body, and the visitor's own encodings."""
    waiting = shop.ask("/waiting", "POST", content=b"abc", Expect="100-continue")
    assert (waiting.status_code, shop.last("/waiting").body) == (200, b"abc")
    assert shop.last("/waiting").header("expect") is None
    shop.ask("/search", content=b"query")
    assert shop.last("/search").body == b"query"
    shop.ask("/encodings", Cookie="sid=1", Accept_Encoding="zstd;q=0.5, identity")
    assert shop.last("/encodings").header("accept-encoding") == "zstd;q=0.5, identity"


def test_odd_responses(shop: Shop):
    """An encoding that the platform cannot decode is neither changed nor stored; names in any script arrive as they are."""
    file_name = 'attachment; filename="日本.pdf"'.encode().decode("latin-1")
    encoded = ("Content-Encoding", "zstd")
    shop.origin.scripts = {
        "/zstd": Sent(headers=[HTML, encoded], body=b"not decoded"),
        "/file": Sent(headers=[("Content-Type", "text/plain"), ("Content-Disposition", file_name)], body=b"text"),
    }
    for _ in range(2):
        with httpx.stream("GET", f"{shop.service.runtime.url}/zstd", headers={"Host": shop.host}) as reply:
            assert (reply.headers["Content-Encoding"], b"".join(reply.iter_raw())) == ("zstd", b"not decoded")
            assert cache_status(reply) == "sluice; fwd=uri-miss; detail=encoding"
    until(lambda: "hit" in cache_status(shop.ask("/file")))
    raw = dict(shop.ask("/file").headers.raw)
    assert raw[b"Content-Disposition"] == file_name.encode("latin-1")


MIXED = [
    *(("GET", f"/page/{n}", {}) for n in range(10)),
    *(("GET", f"/page/{n}", {"Cookie": "theme=dark"}) for n in range(10)),
    *(("GET", f"/page/{n}", {"Cookie": "wordpress_logged_in_1=me"}) for n in range(5)),
    *(("HEAD", f"/page/{n}", {}) for n in range(5)),
    *(("GET", f"/page/{n}?utm_source=x&b=1&a=2", {}) for n in range(5)),
    *(("POST", f"/form/{n}", {}) for n in range(5)),
    *(("GET", f"/file/{n}.css", {}) for n in range(5)),
    *(("GET", f"/missing/{n}", {}) for n in range(5)),
    *(("GET", f"/moved/{n}", {}) for n in range(5)),
    *(("GET", f"/private/{n}", {"Authorization": "Basic eDp5"}) for n in range(5)),
]


def mixed_reply(received: Received) -> Sent:
    """Return a reply that depends on the path alone."""
    kind, _, rest = received.path.partition("?")[0].strip("/").partition("/")
    common = [("X-Powered-By", "PHP/8"), ("ETag", f'"{rest}"'), ("Last-Modified", "Mon, 16 Nov 2026 04:00:00 GMT")]
    body = (received.path.partition("?")[0] * 50).encode()
    match kind:
        case "missing":
            return Sent(404, [HTML, *common], body)
        case "moved":
            return Sent(301, [("Location", "/page/1"), *common], b"")
        case "file":
            return Sent(
                headers=[("Content-Type", "text/css"), ("Cache-Control", "public, max-age=600"), *common], body=body
            )
        case "private":
            return Sent(headers=[HTML, ("Cache-Control", "private"), ("Set-Cookie", "a=1"), *common], body=body)
        case _:
            return Sent(headers=[("Content-Type", "application/xml"), ("Link", "</a>; rel=x"), *common], body=body)


def test_sixty_mixed_requests(shop: Shop):
    """Every reply through the Worker has the origin's status, end-to-end headers and body, from a copy or not."""
    shop.origin.default = mixed_reply
    assert len(MIXED) == 60
    for method, path, headers in [*MIXED, *MIXED]:
        named: dict[str, Any] = dict(headers)
        ours, theirs = shop.ask(path, method, **named), shop.ask_origin(path, method, **named)
        assert (ours.status_code, ours.content) == (theirs.status_code, theirs.content), path
        assert end_to_end(ours) == end_to_end(theirs), path


def test_odd_request_lines(shop: Shop):
    """A request line that no client library would write gets a reply, not an error of ours."""
    url = httpx.URL(shop.service.runtime.url)
    for target in (b"/%", b"/%zz?%", b"/?" + b"a" * 3000, b"/\xc3\xa4"):
        with socket.create_connection((url.host, url.port), timeout=PATIENCE_S) as connection:
            connection.sendall(
                b"GET " + target + b" HTTP/1.1\r\nHost: " + shop.host.encode() + b"\r\nConnection: close\r\n\r\n"
            )
            assert b" 500 " not in connection.recv(100)
