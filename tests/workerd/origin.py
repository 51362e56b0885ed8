"""An origin under the control of a test: every path answers as it was told to, and every request is counted."""

import contextlib
import http.server
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from runtime import PATIENCE_S

ENDLESS_CHUNK = b"||endless.example^\n" * 4096


@dataclass(frozen=True, slots=True)
class Answer:
    """`drop` closes the connection in the middle of the body; `endless` never ends it; `gate` holds the answer until it is set."""

    content: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    endless: bool = False
    gate: threading.Event | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float


class Origin:
    """Answers by path; a list of answers is used up one by one, and its last one stays."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.now_open = 0
        self.most_open = 0
        self.address = ""
        self._answers: dict[str, list[Answer]] = {}
        self._left: Counter[str] = Counter()
        self._lock = threading.Lock()

    def url(self, path: str) -> str:
        return f"http://{self.address}{path}"

    def serve(self, path: str, *answers: Answer | str) -> str:
        """Answer so from now on; return the URL."""
        made = [Answer(answer.encode()) if isinstance(answer, str) else answer for answer in answers]
        with self._lock:
            self._answers[path] = made
        return self.url(path)

    def count(self, path: str, method: str = "GET") -> int:
        with self._lock:
            return Counter((seen.method, seen.path) for seen in self.seen)[method, path]

    def requests(self, path: str) -> list[Seen]:
        with self._lock:
            return [seen for seen in self.seen if seen.path == path]

    def left(self, path: str) -> int:
        """Return how many hung up while their answer was held."""
        with self._lock:
            return self._left[path]

    def note_left(self, path: str) -> None:
        with self._lock:
            self._left[path] += 1

    def answer(self, seen: Seen) -> Answer:
        with self._lock:
            self.seen.append(seen)
            answers = self._answers.get(seen.path, [Answer(status=404)])
            return answers.pop(0) if len(answers) > 1 else answers[0]

    @contextmanager
    def open(self) -> Iterator[None]:
        with self._lock:
            self.now_open += 1
            self.most_open = max(self.most_open, self.now_open)
        try:
            yield
        finally:
            with self._lock:
                self.now_open -= 1


def _let_through(gate: threading.Event, connection: socket.socket) -> bool:
    """Wait for the gate; False when the client hangs up before."""
    end = time.monotonic() + PATIENCE_S
    while not gate.wait(0.02) and time.monotonic() < end:
        try:
            if not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                return False
        except BlockingIOError:
            continue
        except ConnectionError:
            return False
    return True


def _handler(origin: Origin) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answered(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            seen = Seen(self.command, self.path, dict(self.headers), self.rfile.read(length), time.monotonic())
            with contextlib.suppress(ConnectionError, TimeoutError), origin.open():
                self._send(origin.answer(seen))

        do_GET = do_HEAD = do_POST = _answered  # noqa: N815

        def _send(self, answer: Answer) -> None:
            if answer.gate and not _let_through(answer.gate, self.connection):
                origin.note_left(self.path)
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(10**9 if answer.endless else len(answer.content)))
            self.end_headers()
            if self.command == "HEAD":
                return
            if answer.drop:
                self.wfile.write(answer.content[: len(answer.content) // 2])
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(answer.content)
            while answer.endless:
                self.wfile.write(ENDLESS_CHUNK)

        def log_message(self, *_args: Any) -> None:
            """Say nothing."""

    return Handler


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, *_args: Any) -> None:
        """A connection that breaks off is what a test asked for."""


@contextmanager
def local_origin() -> Iterator[Origin]:
    origin = Origin()
    with _Server(("127.0.0.1", 0), _handler(origin)) as server:
        origin.address = f"127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield origin
        server.shutdown()
