"""The made sources of ./scripts/bench soak: lists, a site and a feed on one loopback port, slow or failing at times."""

import http.server
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal
from urllib.parse import urlsplit

from soak_checks import Windows, write_edition

Kind = Literal["lists", "site", "feeds"]
Fault = Literal["slow", "failing", "breaking off"]

KINDS: Final[tuple[Kind, ...]] = ("lists", "site", "feeds")
FAULTS: Final[tuple[Fault, ...]] = ("slow", "failing", "breaking off")
SLOW_S: Final = 3.0
PAGES: Final = 40
FEED_ITEMS: Final = 25
_FAULT_S: Final = (8.0, 20.0)
_WELL_S: Final = (30.0, 70.0)
_WORDS: Final = (
    "Miners",
    "Banks",
    "Courts",
    "Wallets",
    "Bridges",
    "Oracles",
    "Funds",
    "Exchanges",
    "Nodes",
    "Senators",
)
_DEEDS: Final = ("watch", "question", "praise", "audit", "sell", "insure", "study", "count", "defend", "tax", "lend")
_TEXT: Final = "Bitcoin climbed on Monday as buyers returned, and the analysts of a bank said that reason {} of event {} was enough."


class Faults:
    """Makes one kind of source at a time slow or failing for some seconds, with a pause after it."""

    def __init__(self, draw: random.Random) -> None:
        self.windows: dict[Kind, Windows] = {kind: Windows() for kind in KINDS}
        self._active: tuple[Kind, Fault] | None = None
        self._draw = draw
        self._next_at = 0.0

    def find(self, kind: Kind) -> Fault | None:
        active = self._active
        return active[1] if active and active[0] == kind else None

    def tick(self, now: float) -> None:
        """Begin or end a fault if it is time for it."""
        if not self._next_at:
            self._next_at = now + self._draw.uniform(*_WELL_S)
        if now < self._next_at:
            return
        if self._active:
            self.end(now)
            return
        self._active = (self._draw.choice(KINDS), self._draw.choice(FAULTS))
        self.windows[self._active[0]].open(now)
        self._next_at = now + self._draw.uniform(*_FAULT_S)

    def end(self, now: float) -> None:
        if self._active:
            kind, _ = self._active
            self._active = None
            self.windows[kind].close(now)
        self._next_at = now + self._draw.uniform(*_WELL_S)

    def name(self) -> str:
        return " ".join(self._active) if self._active else "all well"


class Sources:
    """What the sources say; whoever changes it holds no lock, because each value is replaced at once."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self.address = ""
        self.list_editions: dict[str, int] = {}
        self.page_editions = [1] * PAGES
        self.articles = 0

    def url(self, path: str) -> str:
        return f"http://{self.address}{path}"

    def link(self, number: int) -> str:
        return self.url(f"/news/{number}")

    def answer(self, path: str) -> tuple[Kind, str, str] | None:
        """Return the kind of the source, the type of the content and the content."""
        first, _, rest = path[1:].partition("/")
        match first:
            case "lists":
                return "lists", "text/plain", write_edition(rest, self.list_editions.get(rest, 1))
            case "steady":  # has no faults
                return "lists", "text/plain", write_edition(rest, 1)
            case "page":
                number = int(rest)
                return "site", "text/html", json.dumps({"page": number, "edition": self.page_editions[number]})
            case "feed":
                return "feeds", "application/rss+xml", self._write_feed()
            case "news":
                return "feeds", "text/html", _write_article(int(rest))
        return None

    def _write_feed(self) -> str:
        numbers = range(self.articles, max(0, self.articles - FEED_ITEMS), -1)
        items = "".join(
            f"<item><title>{_write_title(n)}</title><link>{self.link(n)}</link><guid>{n}</guid></item>" for n in numbers
        )
        return f'<?xml version="1.0"?><rss version="2.0"><channel><title>Soak</title>{items}</channel></rss>'


def _write_title(number: int) -> str:
    word, deed = _WORDS[number % len(_WORDS)], _DEEDS[number % len(_DEEDS)]
    return f"{word} {deed} bitcoin, report number {number}"


def _write_article(number: int) -> str:
    paragraphs = "".join(f"<p>{_TEXT.format(at, number)}</p>" for at in range(5))
    return f"<html><body><article><h1>{_write_title(number)}</h1>{paragraphs}</article></body></html>"


@contextmanager
def serve_sources(sources: Sources) -> Iterator[None]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            path = urlsplit(self.path).path
            answer = sources.answer(path)
            kind, content_type, text = answer or ("lists", "text/plain", "")
            fault = None if path.startswith("/steady/") else sources.faults.find(kind)
            if fault == "slow":
                time.sleep(SLOW_S)
            body = b"" if fault == "failing" else text.encode()
            self.send_response(404 if answer is None else 503 if fault == "failing" else 200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            if kind == "site" and fault != "failing":
                self.send_header("Cache-Control", "max-age=86400")
                self.send_header("Cache-Tag", f"all,{path[1:].replace('/', '-')}")
            self.end_headers()
            if self.command == "HEAD":
                return
            if fault == "breaking off":
                body = body[: len(body) // 2]
                self.close_connection = True
            self.wfile.write(body)

        do_GET = do_HEAD = _answer  # noqa: N815 - the names of the standard library

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            with suppress(ConnectionError):  # a runtime that is killed takes its connections along
                super().handle()

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        sources.address = f"127.0.0.1:{server.server_port}"
        yield
        server.shutdown()
