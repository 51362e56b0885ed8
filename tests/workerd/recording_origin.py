"""An origin that records every request as it came, header by header, and replies as scripted."""

import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from runtime import PATIENCE_S

Pairs = list[tuple[str, str]]


@dataclass
class Sent:
    """What the origin replies: not before `gate` is set; with `chunked` in pieces of unknown length; `drop` sends nothing."""

    status: int = 200
    headers: Pairs = field(default_factory=list)
    body: bytes = b"<p>a page</p>"
    gate: threading.Event | None = None
    chunked: bool = False
    drop: bool = False


@dataclass
class Received:
    method: str
    path: str
    headers: Pairs
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


Script = Sent | Callable[[Received], Sent]


PAGE: Script = Sent(headers=[("Content-Type", "text/html; charset=utf-8")])


class RecordingOrigin:
    def __init__(self) -> None:
        self.address = ""
        self.received: list[Received] = []
        self.scripts: dict[str, Script] = {}
        self.default: Script = PAGE

    def reset(self) -> None:
        self.received.clear()
        self.scripts.clear()
        self.default = PAGE

    def count(self, path: str) -> int:
        return sum(each.path == path for each in list(self.received))

    def last(self, path: str) -> Received:
        return [each for each in list(self.received) if each.path == path][-1]

    def reply_to(self, received: Received) -> Sent:
        self.received.append(received)
        script = self.scripts.get(received.path, self.default)
        return script if isinstance(script, Sent) else script(received)


@contextlib.contextmanager
def recording_origin() -> Iterator[RecordingOrigin]:
    origin = RecordingOrigin()
    with _Server(("127.0.0.1", 0), _build_handler(origin)) as server:
        origin.address = f"127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield origin
        server.shutdown()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_args: Any) -> None:
        """A connection that breaks off is what a test asked for."""


def _build_handler(origin: RecordingOrigin) -> type[http.server.BaseHTTPRequestHandler]:  # noqa: C901 - it is one class
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):
                return self.handle_any
            raise AttributeError(name)

        def handle_any(self) -> None:
            target = self.requestline.split()[1]  # `self.path` is changed by the library
            received = Received(self.command, target, list(self.headers.items()), self._read_body())
            sent = origin.reply_to(received)
            if sent.gate:
                sent.gate.wait(PATIENCE_S)
            if sent.drop:
                self.close_connection = True
                self.connection.close()
                return
            with contextlib.suppress(ConnectionError):
                self._send(sent)

        def _read_body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body

        def _send(self, sent: Sent) -> None:
            self.send_response_only(sent.status)
            has_body = self.command != "HEAD" and sent.status not in {204, 304}
            for name, value in sent.headers:
                self.send_header(name, value)
            if sent.chunked:
                self.send_header("Transfer-Encoding", "chunked")
            elif sent.status not in {204, 304}:
                self.send_header("Content-Length", str(len(sent.body)))
            self.end_headers()
            if not has_body:
                return
            if not sent.chunked:
                self.wfile.write(sent.body)
                return
            for at in range(0, len(sent.body), 65_536):
                piece = sent.body[at : at + 65_536]
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_args: Any) -> None:
            """Log nothing."""

    return Handler
