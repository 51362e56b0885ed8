"""`sluice preload`: signs and sends pages to be warmed, from any machine, and waits for them if asked to."""

import argparse
import http.client
import json
import os
import secrets
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from sluice import __version__
from sluice.cli.files import read_file
from sluice.cli.streams import Streams, UsageError
from sluice.cli.terminal import ProgressBar
from sluice.cli.web_client import read_url
from sluice.core.compiler.events import Event
from sluice.core.errors import ConfigError, Invalid, SluiceError, Unavailable
from sluice.core.preload.priority import TRIGGERS
from sluice.core.preload.signing import sign
from sluice.core.preload.sitemap import MAX_BYTES, SitemapReader
from sluice.services.preload.http.requests import MAX_URLS

ENDPOINT: Final = "http://edge-preload.localhost:8787"
KEY_VARIABLE: Final = "SLUICE_SIGNING_KEY"
PATH: Final = "/api/v1/preload"
TIMEOUT_S: Final = 60.0
POLL_S: Final = 1.0
TRIES: Final = 5
MAX_WAIT_S: Final = 120.0
MAX_FILES: Final = 500
MAX_KEY_BYTES: Final = 4096
MAX_REPLY_BYTES: Final = 1_000_000
ENDS: Final = ("done", "failed", "gone", "skipped", "dropped", "cancelled")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--zone", metavar="ID", required=True, help="the zone, as it is registered")
    parser.add_argument("--url", metavar="URL", action="append", help="a page; may be given several times")
    parser.add_argument("--sitemap", metavar="URL", help="all pages of a sitemap, which is read here")
    parser.add_argument("--wait", action="store_true", help="wait until all pages are warmed, and tell how they ended")
    parser.add_argument("--endpoint", metavar="URL", default=ENDPOINT, help=f"where edge-preload answers ({ENDPOINT})")
    parser.add_argument(
        "--key-file", metavar="FILE", help=f"holds the signing key; else the variable {KEY_VARIABLE} does"
    )
    parser.add_argument("--priority", metavar="N", type=float, help="0 to 100, in place of the computed one")
    parser.add_argument("--trigger", choices=TRIGGERS, default="manual", help="what is the reason (manual)")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Send the pages in requests of 100; 1 when any page failed while it was waited for."""
    if not options.url and not options.sitemap:
        raise UsageError("name pages with --url, or a sitemap with --sitemap")
    service = Service(options.endpoint, options.zone, _key(options))
    urls = list(dict.fromkeys([*(options.url or []), *_in_sitemap(options.sitemap)]))
    batches = [_sent(service, chunk, options, streams) for chunk in _chunks(urls)]
    if not options.wait:
        return 0
    total = _waited_for(service, batches, streams)
    streams.say(", ".join(f"{total[name]} {name}" for name in ENDS if total[name]) or "nothing to do")
    return 1 if total["failed"] or total["dropped"] else 0


@dataclass(frozen=True, slots=True)
class Service:
    """The signed API of one zone."""

    endpoint: str
    zone: str
    key: str

    def post(self, body: dict[str, Any]) -> dict[str, Any]:
        return self._asked("POST", PATH, json.dumps(body).encode())

    def batch(self, batch_id: str) -> dict[str, Any]:
        return self._asked("GET", f"/api/v1/zones/{self.zone}/batches/{batch_id}", b"")

    def _asked(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """The answer; what may pass is tried again, which the idempotency key makes safe."""
        for tries_left in reversed(range(TRIES)):
            try:
                status, reply, wait_s = self._once(method, path, body)
            except OSError as error:
                status, reply, wait_s = 503, {"detail": str(error)}, 1.0
            if status < 300:
                return reply
            if status not in {429, 500, 502, 503, 504} or not tries_left:
                told = reply.get("detail") or "no reason given"
                raise (Invalid if status < 500 else Unavailable)(f"the service answered {status}: {told}")
            time.sleep(min(wait_s, MAX_WAIT_S))
        raise SluiceError("the loop above returns or raises")

    def _once(self, method: str, path: str, body: bytes) -> tuple[int, dict[str, Any], float]:
        parts = urlsplit(self.endpoint)
        secure = parts.scheme == "https"
        host = parts.hostname or ""
        # Not every machine resolves these names, and they all mean itself.
        address = "127.0.0.1" if host.endswith(".localhost") else host
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(address, parts.port, timeout=TIMEOUT_S)
        headers = sign(self.key, method, path, body, now=time.time(), nonce=secrets.token_hex(16))
        headers |= {"Host": parts.netloc, "Content-Type": "application/json", "User-Agent": f"sluice/{__version__}"}
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            content = answer.read(MAX_REPLY_BYTES)
        except http.client.HTTPException as error:
            raise Unavailable(f"the service cannot be understood: {error!r}") from error
        finally:
            connection.close()
        return answer.status, _parsed(content), float(answer.headers.get("Retry-After") or 1)


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {"detail": content[:200].decode("utf-8", "replace")}
    return value if isinstance(value, dict) else {"detail": str(value)[:200]}


def _key(options: argparse.Namespace) -> str:
    """From a file or the environment, never from the command line, which other users of the machine can read."""
    if options.key_file:
        return read_file(options.key_file, max_bytes=MAX_KEY_BYTES).decode("utf-8", "replace").strip()
    if not (key := os.environ.get(KEY_VARIABLE, "")):
        raise ConfigError(f"set {KEY_VARIABLE}, or name a file with --key-file")
    return key


def _in_sitemap(url: str | None) -> Iterator[str]:
    """Every page of a sitemap and of the sitemaps it names."""
    waiting = [url] if url else []
    read: set[str] = set()
    while waiting and len(read) < MAX_FILES:
        at = waiting.pop(0)
        if at in read:
            continue
        read.add(at)
        reader = SitemapReader()
        reader.feed(read_url(at, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S))
        found = reader.finish()
        waiting += [each.url for each in found.sitemaps]
        yield from (each.url for each in found.pages)


def _chunks(urls: Sequence[str]) -> Iterator[list[str]]:
    for at in range(0, len(urls), MAX_URLS):
        yield list(urls[at : at + MAX_URLS])


def _sent(service: Service, urls: list[str], options: argparse.Namespace, streams: Streams) -> str:
    body: dict[str, Any] = {
        "zone_id": service.zone,
        "idempotency_key": f"preload-{uuid.uuid4()}",
        "urls": urls,
        "trigger": options.trigger,
    }
    if options.priority is not None:
        body["priority"] = options.priority
    reply = service.post(body)
    streams.stdout.write(f"{json.dumps(reply)}\n".encode())
    streams.stdout.flush()
    return str(reply["preload_batch_id"])


def _waited_for(service: Service, batches: list[str], streams: Streams) -> dict[str, int]:
    """How all pages ended; one batch is asked for at a time, since the service counts every request."""
    bar = ProgressBar(streams.stderr)
    total = dict.fromkeys(ENDS, 0)
    try:
        for number, batch_id in enumerate(batches, start=1):
            told = service.batch(batch_id)
            while told["state"] != "finished":
                _show(bar, told, f"batch {number} of {len(batches)}")
                time.sleep(POLL_S)
                told = service.batch(batch_id)
            for name in ENDS:
                total[name] += told[name]
    finally:
        bar.clear()
    return total


def _show(bar: ProgressBar, told: dict[str, Any], which: str) -> None:
    over = sum(told[name] for name in ENDS)
    left = "standing still" if told["eta_s"] is None else f"about {told['eta_s']} s left"
    message = f"{which}: {over} of {told['total']} pages, {left}"
    bar.show(Event("progress", {"current": over, "total": told["total"], "message": message}))
