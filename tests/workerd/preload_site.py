"""A site that a test controls: it replies as scripted, and records the requests that it gets."""

import contextlib
import http.server
import json
import secrets
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

from runtime import PATIENCE_S, Runtime, open_client, until
from sluice.core.preload.request_signing import sign_request

KEY = "a-signing-key-of-all-zones-0123456789"
TOKEN = "the-operators-token"
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
API = {"Host": "edge-preload.localhost"}


@dataclass
class Page:
    """What the site replies, `wait_s` after the request and not before `gate` is set."""

    status: int = 200
    body: bytes = b"<html>a page</html>"
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    gate: threading.Event | None = None


@dataclass
class SiteRequest:
    """One request as the site saw it, at a time in seconds of the monotonic clock."""

    path: str
    headers: dict[str, str]
    began_at: float


Answer = Page | Callable[[SiteRequest], Page]


class Site:
    """An origin on a loopback port; a page that is not scripted is the default, a plain 200."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.default: Answer = Page()
        self.requests: list[SiteRequest] = []
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()

    def count(self, path: str) -> int:
        return sum(each.path == path for each in list(self.requests))

    @property
    def counts(self) -> Counter[str]:
        return Counter(each.path for each in list(self.requests))

    def most_within(self, window_s: float) -> int:
        """Return the most requests that began within any window of this length."""
        times = sorted(each.began_at for each in list(self.requests))
        first = most = 0
        for last, at in enumerate(times):
            while at - times[first] >= window_s:
                first += 1
            most = max(most, last - first + 1)
        return most

    def reset(self) -> None:
        self.requests.clear()
        self.most_at_once = 0

    @contextlib.contextmanager
    def handle_request(self, handler: http.server.BaseHTTPRequestHandler) -> Iterator[Page]:
        """Count a request from its arrival; the context must end before the last byte of the reply is sent."""
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = SiteRequest(handler.path, headers, time.monotonic())
        with self._lock:
            self.requests.append(request)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        page = self.pages.get(handler.path, self.default)
        try:
            yield page if isinstance(page, Page) else page(request)
        finally:
            with self._lock:
                self._at_once -= 1


@contextlib.contextmanager
def site() -> Iterator[tuple[Site, str]]:
    """Yield a site and its address, host and port."""
    control = Site()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with control.handle_request(self) as page:
                time.sleep(page.wait_s)
                if page.gate:
                    page.gate.wait(PATIENCE_S)
            with contextlib.suppress(ConnectionError):
                self.send_response(page.status)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                body = b"" if page.status == 304 else page.body
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            control.pages.setdefault("posted", Page(body=b""))
            posted = control.pages["posted"]
            assert isinstance(posted, Page)
            posted.body += sent + b"\n"
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_args: Any) -> None:
            """Log nothing."""

        def handle(self) -> None:
            with contextlib.suppress(ConnectionError):  # a runtime that is killed takes its connections along
                super().handle()

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield control, f"127.0.0.1:{server.server_port}"
        server.shutdown()


# How the Worker's clock goes, by runtime: forward only, since all zones share it.
_CLOCKS: dict[int, dict[str, Any]] = {}


class Service:
    """edge-preload as a site and its operator see it."""

    def __init__(self, runtime: Runtime, address: str, zone: str) -> None:
        self.runtime = runtime
        self.zone = zone
        self.site_url = f"http://{address}"

    @property
    def now(self) -> float:
        clock = _CLOCKS.get(id(self.runtime), {"ahead_s": 0.0, "stands_at": None})
        return time.time() + float(clock["ahead_s"]) if clock["stands_at"] is None else float(clock["stands_at"])

    @contextlib.contextmanager
    def standing_clock(self) -> Iterator[None]:
        """Let the Worker's clock stand still, except for the sleeps of this zone and for `advance`."""
        self.set(with_time_of=self.zone)
        try:
            yield
        finally:
            self.set(with_time_of="")

    def advance(self, seconds: float) -> None:
        """Move the Worker's clock forward, then run the minute's cron."""
        self.set(advance_s=seconds)
        self.tick()

    def tick(self) -> None:
        assert self.runtime.cron("edge-preload", "* * * * *").status_code == 200

    def set(self, **values: str | float) -> None:
        with self.client as client:
            reply = client.put("/test", params=values)
        assert reply.status_code == 200, reply.text
        _CLOCKS[id(self.runtime)] = reply.json()

    def forget_at_edge(self, path: str) -> None:
        with self.client as client:
            assert client.delete("/test", params={"url": self.site_url + path}).status_code == 200

    @property
    def client(self) -> httpx.Client:
        return open_client(self.runtime.url, **API)

    def register(self, **config: Any) -> httpx.Response:
        body = {"site_url": self.site_url, "hosts": [], **config}
        reply = self.admin("PUT", "config", body)
        assert reply.status_code == 200, reply.text
        return reply

    def retire(self) -> None:
        """Unregister the zone, because the next site may get the same address."""
        assert self.admin("DELETE", "config").status_code == 200

    def admin(self, method: str, path: str, body: Any = None) -> httpx.Response:
        with self.client as client:
            return client.request(method, f"/api/v1/zones/{self.zone}/{path}", json=body, headers=ADMIN)

    def ask(self, path: str) -> Any:
        reply = self.admin("GET", path)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def post_signed(
        self, path: str, body: dict[str, Any], *, key: str = KEY, now: float | None = None
    ) -> httpx.Response:
        return self.send_signed("POST", path, body, key=key, now=now)

    def send_signed(
        self, method: str, path: str, body: dict[str, Any] | None = None, *, key: str = KEY, now: float | None = None
    ) -> httpx.Response:
        content = b"" if body is None else json.dumps(body).encode()
        nonce = secrets.token_hex(16)
        headers = sign_request(key, method, path, content, now=self.now if now is None else now, nonce=nonce)
        with self.client as client:
            return client.request(method, path, content=content, headers=headers | {"Content-Type": "application/json"})

    def preload(self, *paths: str, **more: Any) -> Any:
        urls = [self.site_url + path for path in paths]
        body = {"zone_id": self.zone, "idempotency_key": f"preload-{uuid.uuid4()}", "urls": urls, **more}
        reply = self.post_signed("/api/v1/preload", body)
        assert reply.status_code == 202, reply.text
        return reply.json()

    def purge(self, **what: Any) -> Any:
        body = {"zone_id": self.zone, "idempotency_key": f"purge-{uuid.uuid4()}", **what}
        reply = self.post_signed("/api/v1/purge", body)
        assert reply.status_code == 202, reply.text
        return reply.json()

    def batch(self, batch_id: str) -> Any:
        return self.ask(f"batches/{batch_id}")

    def wait_until_finished(self, batch_id: str) -> Any:
        """Wait until the batch is finished, and return it."""
        return until(lambda: (batch := self.batch(batch_id))["state"] == "finished" and batch)

    def warm(self, *paths: str, **more: Any) -> Any:
        return self.wait_until_finished(self.preload(*paths, **more)["preload_batch_id"])

    def log(self, path: str) -> list[dict[str, Any]]:
        """Return the log of one page, oldest first."""
        rows = self.ask("log?limit=1000")["log"]
        return [row for row in reversed(rows) if row["url"] == self.site_url + path]

    def statuses(self, path: str) -> list[str]:
        return [row["status"] for row in self.log(path)]
