"""A subscriber and webhook receiver under the control of a test: it confirms subscriptions and keeps what it gets."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Message:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Answers a GET with its `hub.challenge`; a POST is kept."""

    address: str = ""
    challenges: list[dict[str, str]] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)

    def url(self, path: str) -> str:
        return f"http://{self.address}{path}"

    def at(self, path: str) -> list[Message]:
        return [message for message in self.messages if message.path == path]

    def has(self, path: str, count: int) -> bool:
        return len(self.at(path)) >= count


@contextmanager
def receive() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
            receiver.challenges.append(query)
            self._reply(query.get("hub.challenge", "").encode())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.messages.append(Message(self.path, headers, body))
            self._reply(b"")

        def _reply(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.address = f"127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
