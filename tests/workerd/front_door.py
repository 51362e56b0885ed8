"""A front door such as Cloudflare's: it takes requests for a site's host into the Worker, and those of the Worker to the origin."""

import contextlib
import http.client
import http.server
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from runtime import PATIENCE_S

# Cloudflare keeps these of a reply that goes out through the door.
KEPT = {"cache-tag", "cloudflare-cdn-cache-control"}
UNFIT = {"connection", "content-length", "keep-alive", "transfer-encoding", "date", "server"}
Headers = Mapping[str, str]


def names_us(headers: Headers) -> bool:
    return "1.1 sluice" in headers.get("via", "")


def by_via(headers: Headers) -> bool:
    """What names us in Via goes to the origin."""
    return names_us(headers)


def by_zone(headers: Headers) -> bool:
    """As Cloudflare does it: what the Worker sends for a visitor goes to the origin, but an alarm's request enters the Worker."""
    return names_us(headers) and "x-sluice-warming" not in headers


def never(_headers: Headers) -> bool:
    """There is nothing behind the Worker, as with a custom domain."""
    return False


@dataclass
class FrontDoor:
    """`leads_to_origin` tells from the headers of a request where it goes."""

    worker_url: str
    origin_address: str
    leads_to_origin: Callable[[Headers], bool]
    address: str = ""
    # What came, as path and headers, by where it went.
    into_worker: list[tuple[str, Headers]] = field(default_factory=list)
    to_origin: list[tuple[str, Headers]] = field(default_factory=list)

    def forward(
        self, method: str, path: str, headers: Headers, body: bytes
    ) -> tuple[int, list[tuple[str, str]], bytes]:
        leads_to_origin = self.leads_to_origin(headers)
        (self.to_origin if leads_to_origin else self.into_worker).append((path, headers))
        target = self.origin_address if leads_to_origin else urlsplit(self.worker_url).netloc
        connection = http.client.HTTPConnection(target, timeout=PATIENCE_S)
        with contextlib.closing(connection):
            connection.request(method, path, body or None, dict(headers))
            response = connection.getresponse()
            content = response.read()
            dropped = UNFIT if leads_to_origin else UNFIT | KEPT
            kept = [(name, value) for name, value in response.getheaders() if name.lower() not in dropped]
            return response.status, kept, content


@contextlib.contextmanager
def front_door(worker_url: str, origin_address: str, leads_to_origin: Callable[[Headers], bool]) -> Iterator[FrontDoor]:
    door = FrontDoor(worker_url, origin_address, leads_to_origin)
    with _Server(("127.0.0.1", 0), _build_handler(door)) as server:
        door.address = f"127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield door
        server.shutdown()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_args: Any) -> None:
        """A connection that breaks off is what a test asked for."""


def _build_handler(door: FrontDoor) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            status, pairs, content = door.forward(self.command, self.path, headers, body)
            self.send_response_only(status)
            for name, value in pairs:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD" and status not in {204, 304}:
                self.wfile.write(content)

        do_HEAD = do_POST = do_GET  # noqa: N815 - as the library calls them

        def log_message(self, *_args: Any) -> None:
            """Log nothing."""

    return Handler
