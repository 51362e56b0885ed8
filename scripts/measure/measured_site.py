"""A site behind edge-preload, for what is measured: an origin that takes its time, and the operator's calls."""

import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from runtime import Runtime

TOKEN = "bench-operator-token"  # noqa: S105 - for this run alone
HOST = "bench-site.test"
API = {"Host": "edge-preload.localhost", "Authorization": f"Bearer {TOKEN}"}
LARGE = "/large/"  # pages of so many bytes as the rest of their path says


class Site:
    """What the origin saw, by its own clock."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.times: list[float] = []
        self.sitemap = b""
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    def most_within(self, window_s: float) -> int:
        times = sorted(self.times)
        return max(sum(at <= other < at + window_s for other in times) for at in times)


@contextmanager
def origin(delay_s: float) -> Iterator[Site]:
    """Yield a site on a loopback address that takes `delay_s` for each page."""
    site = Site("")

    class Pages(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with site.lock:
                site.times.append(time.monotonic())
                site.at_once += 1
                site.most_at_once = max(site.most_at_once, site.at_once)
            time.sleep(delay_s)
            size = int(self.path.removeprefix(LARGE).partition("/")[0]) if self.path.startswith(LARGE) else 20_000
            body = site.sitemap if self.path == "/sitemap.xml" else b"a page, not empty" * (size // 17)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            with site.lock:
                site.at_once -= 1

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site.address = f"127.0.0.1:{server.server_port}"
        yield site
        server.shutdown()


def admin(runtime: Runtime, zone: str, method: str, path: str, body: Any = None) -> Any:
    url = f"{runtime.url}/api/v1/zones/{zone}/{path}"
    return httpx.request(method, url, json=body, headers=API, timeout=60).raise_for_status().json()
