"""Stands in for the Worker where a test is about what the plugin sends, and about replies that the Worker rarely gives.

It checks every signature with the project's own code, and records every request.
"""

import contextlib
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sluice.core.errors import Unauthorized
from sluice.core.preload.request_signing import SignedRequest

KEY: Final = "the-key-of-this-site-0123456789"
ZONE: Final = "blog"


@dataclass(frozen=True, slots=True)
class Received:
    method: str
    path: str
    body: dict[str, Any]
    nonce: str
    at: float


@dataclass(frozen=True, slots=True)
class Reply:
    """`gate` holds the reply until it is set."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Event | None = None


class RecordingWorker:
    def __init__(self) -> None:
        self.url = ""
        self.received: list[Received] = []
        self.key = KEY
        self.answer: Callable[[Received], Reply | None] = lambda _request: None

    @property
    def accepted(self) -> list[Received]:
        """Requests that ended with success, by their keys: a repeated one counts once."""
        return list({each.body.get("idempotency_key", each.path): each for each in self._accepted}.values())

    def collect(self, kind: str, part: str) -> set[str]:
        """Return all tags or URLs of the accepted requests of a kind."""
        found: set[str] = set()
        for each in self.accepted:
            if each.path == f"/api/v1/{kind}":
                found.update(each.body.get(part, []))
        return found

    def reset(self) -> None:
        self.received.clear()
        self._accepted.clear()
        self.answer = lambda _request: None

    _accepted: list[Received]

    def reply_to(self, request: Received, signed: SignedRequest | None) -> Reply:
        self.received.append(request)
        if scripted := self.answer(request):
            return scripted
        try:
            if signed is None:
                return Reply(401)
            signed.verify([self.key], time.time())
        except Unauthorized:
            return Reply(401)
        self._accepted.append(request)
        return Reply(200 if request.method == "GET" else 202)


@contextlib.contextmanager
def recording_worker() -> Iterator[RecordingWorker]:
    worker = RecordingWorker()
    worker._accepted = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                signed = SignedRequest.from_request(self.command, self.path, headers, content)
            except Unauthorized:
                signed = None
            body = json.loads(content) if content else {}
            request = Received(self.command, self.path, body, headers.get("x-nonce", ""), time.monotonic())
            reply = worker.reply_to(request, signed)
            if reply.gate:
                reply.gate.wait()
            text = json.dumps({"detail": f"scripted {reply.status}", "queue_depth": 3, "hit_ratio": 0.925}).encode()
            with contextlib.suppress(ConnectionError):
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        do_GET = do_POST = do_PUT = _handle  # noqa: N815

        def log_message(self, *_args: Any) -> None:
            """Log nothing."""

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        worker.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield worker
        server.shutdown()
