"""two instances while everything is purged each second, 60 and 1,000 pages purged on the free plan, kill -9 at random moments"""

import argparse
import asyncio
import http.server
import json
import random
import secrets
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from runtime import PATIENCE_S, Runtime, until
from sluice.core.preload.request_signing import sign_request

CONFIGS = [Path(__file__).parent / f"twins/wrangler.{name}.toml" for name in ("first", "second")]
TOKEN = "bench-operator-token"  # noqa: S105 - for this run alone
KEY = "bench-key-of-all-zones"
HOSTS = ("purged.test", "twin.test")  # the first instance and the second
SITE_URL = f"http://{HOSTS[0]}"
API = {"Host": "edge-preload.localhost", "Authorization": f"Bearer {TOKEN}"}
ZONE = "purged"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=int, default=60, help="how long everything is purged each second (60; 0: not at all)"
    )
    parser.add_argument("--visitors", type=int, default=200, help="visitors of the two instances (200)")
    parser.add_argument("--pages", type=int, default=50, help="their pages (50)")
    parser.add_argument("--kills", type=int, default=20, help="how often the runtime is killed (20; 0: never)")


def measure(options: argparse.Namespace) -> None:
    with origin() as site, tempfile.TemporaryDirectory() as folder:
        for name, limits in (("paid", ()), ("free", ("--limits", "free"))):
            runtime = start(Path(folder) / name, *limits)
            try:
                if name == "free":
                    print_sizes(runtime, site)
                    continue
                if options.seconds:
                    print_twins(runtime, site, options)
                if options.kills:
                    print_kills(runtime, site, options.kills)
            finally:
                runtime.kill()


def start(state: Path, *arguments: str) -> Runtime:
    """Return the two instances on one state."""
    routes = [
        f"--route={host}={worker}" for host, worker in zip(HOSTS, ("edge-preload", "edge-preload-twin"), strict=True)
    ]
    variables = (f"ADMIN_TOKEN={TOKEN}", f"SIGNING_KEY={KEY}", "ALLOW_PRIVATE_HOSTS=127.0.0.1")
    configs = [part for config in CONFIGS for part in ("--config", str(config))]
    return Runtime(state, *configs, *routes, *(f"--var={each}" for each in variables), *arguments).start()


@dataclass
class Site:
    """A site whose pages say when they were asked for; it counts its requests."""

    address: str = ""
    requests: Counter[str] = field(default_factory=Counter)
    headers: dict[str, str] = field(default_factory=lambda: {"Cache-Control": "max-age=86400", "Cache-Tag": "all"})
    sitemap: bytes = b""
    edition: int = 0


@contextmanager
def origin() -> Iterator[Site]:
    site = Site()

    class Pages(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked_at, edition = time.monotonic(), site.edition
            site.requests[self.path] += 1
            time.sleep(random.uniform(0, 0.1))  # noqa: S311 - as long as a page takes
            is_sitemap = self.path == "/sitemap.xml"
            body = site.sitemap if is_sitemap else json.dumps({"asked_at": asked_at, "edition": edition}).encode()
            with suppress(ConnectionError):
                self.send_response(200)
                for name, value in site.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/xml" if is_sitemap else "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

        def handle(self) -> None:
            with suppress(ConnectionError):  # a runtime that is killed takes its connections along
                super().handle()

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    with Server(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        site.address = f"127.0.0.1:{server.server_port}"
        yield site
        server.shutdown()


def admin(runtime: Runtime, method: str, path: str, body: Any = None) -> Any:
    url = f"{runtime.url}/api/v1/zones/{ZONE}/{path}"
    return httpx.request(method, url, json=body, headers=API, timeout=PATIENCE_S).raise_for_status().json()


def register(runtime: Runtime, site: Site, **config: Any) -> None:
    body = {"site_url": SITE_URL, "origin_url": f"http://{site.address}", **config}
    admin(runtime, "PUT", "config", body)


def build_purge(**what: Any) -> tuple[bytes, dict[str, str]]:
    """Return the content and the headers of a signed purge."""
    content = json.dumps({"zone_id": ZONE, "idempotency_key": f"purge-{uuid.uuid4()}", **what}).encode()
    nonce = secrets.token_hex(16)
    headers = sign_request(KEY, "POST", "/api/v1/purge", content, now=time.time(), nonce=nonce)
    return content, headers | {"Content-Type": "application/json", "Host": API["Host"]}


def purge(runtime: Runtime, **what: Any) -> str:
    content, headers = build_purge(**what)
    reply = httpx.post(f"{runtime.url}/api/v1/purge", content=content, headers=headers, timeout=PATIENCE_S)
    return str(reply.raise_for_status().json()["purge_id"])


@dataclass
class Watch:
    """What visitors saw while pages were purged; times are those of the monotonic clock."""

    purges: list[tuple[float, float]] = field(default_factory=list)  # when each holds, and when it was sent
    sent: int = 0  # purges, also those whose answer was lost
    visits: int = 0
    hits: int = 0
    too_old: int = 0
    worst_s: float = 0.0  # how much longer than the delay old content was served

    def check(self, began_at: float, asked_at: float) -> None:
        """Count a visit. Its content is too old if a purge that held when the visitor came was sent after the origin was asked."""
        self.visits += 1
        for holds_at, sent_at in self.purges:
            if holds_at <= began_at and asked_at < sent_at:
                self.too_old += 1
                self.worst_s = max(self.worst_s, began_at - holds_at)
                return


def visit_twins(runtime: Runtime, site: Site, *, seconds: int, visitors: int, pages: int) -> tuple[Watch, int]:
    """Return what visitors of two instances saw while everything was purged each second, and how often the origin was asked."""
    register(runtime, site, preload_post_purge=False)
    site.requests.clear()
    watch = Watch()
    asyncio.run(_visit_twins(runtime, watch, seconds, visitors, pages))
    return watch, site.requests.total()


async def _visit_twins(runtime: Runtime, watch: Watch, seconds: int, visitors: int, pages: int) -> None:
    ends_at = time.monotonic() + seconds
    # Without connections that are kept: workerd drops one that is idle while it computes.
    limits = httpx.Limits(max_connections=visitors + 10, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=runtime.url, timeout=PATIENCE_S, limits=limits) as client:

        async def visit(number: int) -> None:
            draw = random.Random(number)  # noqa: S311
            while time.monotonic() < ends_at:
                began_at, host = time.monotonic(), HOSTS[number % 2]
                try:
                    reply = await client.get(f"/page{draw.randrange(pages)}", headers={"Host": host})
                except httpx.TransportError:
                    continue
                reply.raise_for_status()
                watch.hits += reply.headers["X-Cache"] == "HIT"
                watch.check(began_at, reply.json()["asked_at"])

        async def purge_each_second() -> None:
            while time.monotonic() < ends_at:
                sent_at = time.monotonic()
                content, headers = build_purge(**{"global": True})
                watch.sent += 1
                with suppress(httpx.TransportError):  # nobody knows whether it was accepted, so it promises nothing
                    reply = await client.post("/api/v1/purge", content=content, headers=headers)
                    delay_s = reply.raise_for_status().json()["estimated_completion_ms"] / 1000
                    watch.purges.append((time.monotonic() + delay_s, sent_at))
                await asyncio.sleep(max(0.0, 1 - (time.monotonic() - sent_at)))

        await asyncio.gather(purge_each_second(), *(visit(number) for number in range(visitors)))


def purge_many(runtime: Runtime, site: Site, pages: int) -> dict[str, Any]:
    """Store pages as visitors do, purge them all by their tag, and wait until they are gone."""
    register(runtime, site, preload_post_purge=False)
    with httpx.Client(base_url=runtime.url, headers={"Host": HOSTS[0]}, timeout=PATIENCE_S) as visitor:
        for number in range(pages):
            until(partial(_is_visited, visitor, f"/{pages}/{number}"))
    until(lambda: admin(runtime, "GET", "traffic")["coverage"]["warm"] >= pages)
    began_at = time.monotonic()
    purge_id = purge(runtime, tags=["all"])
    progress = until(lambda: (now := admin(runtime, "GET", f"purges/{purge_id}"))["state"] == "done" and now)
    left = admin(runtime, "GET", "traffic")["coverage"]["pages"]
    return {"removed": progress["pages_removed"], "left": left, "seconds": time.monotonic() - began_at}


def _is_visited(visitor: httpx.Client, path: str) -> bool:
    try:
        return visitor.get(path).status_code == 200
    except httpx.TransportError:
        return False


def kill_repeatedly(runtime: Runtime, site: Site, *, pages: int, kills: int, seed: int = 11) -> dict[str, Any]:
    """Kill the runtime at random moments while a sitemap is read, pages are warmed and all are purged; then look at each page."""
    register(runtime, site, preload_rpm_limit=60_000, preload_rps_limit=1000)
    draw = random.Random(seed)  # noqa: S311
    urls = [f"{SITE_URL}/kill{number}" for number in range(pages)]
    locations = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    site.sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'.encode()
    site.requests.clear()
    admin(runtime, "POST", "sitemap", {})
    for number in range(kills):
        if number % 3 == 1:
            site.edition += 1
            purge(runtime, tags=["all"])
        elif number % 3 == 2:
            admin(runtime, "POST", "sitemap", {})
        time.sleep(draw.uniform(0, 1.5))
        runtime.kill()
        runtime.start()
        runtime.cron("edge-preload", "* * * * *")
    site.edition += 1
    purge_id = purge(runtime, urls=urls[:50], tags=["all"])
    until(lambda: admin(runtime, "GET", f"purges/{purge_id}")["state"] == "done")
    until(lambda: admin(runtime, "GET", "status")["queue_depth"] == 0)
    stored = {row["url"] for row in admin(runtime, "GET", "pages?limit=1000")["pages"]}
    with httpx.Client(base_url=runtime.url, headers={"Host": HOSTS[0]}, timeout=PATIENCE_S) as visitor:
        editions = Counter(visitor.get(f"/kill{number}").json()["edition"] for number in range(pages))
    return {
        "lost": len(set(urls) - stored),
        "newest": editions[site.edition],
        "dead letters": admin(runtime, "GET", "failed")["count"],
        "requests": site.requests.total(),
    }


def print_twins(runtime: Runtime, site: Site, options: argparse.Namespace) -> None:
    pages = options.pages
    watch, requests = visit_twins(runtime, site, seconds=options.seconds, visitors=options.visitors, pages=pages)
    print(f"{options.visitors} visitors of two instances, {pages} pages, {watch.sent} purges of everything:")
    print(f"{watch.visits} visits, {watch.hits} hits, {watch.too_old} too old (worst {watch.worst_s:.2f} s)")
    most = pages * watch.sent * 2
    print(f"{requests} requests to the origin of at most {most} (pages x purges x 2)\n", flush=True)


def print_sizes(runtime: Runtime, site: Site) -> None:
    for pages in (60, 1000):
        result = purge_many(runtime, site, pages)
        print(
            f"{pages} pages on the free plan: {result['removed']} removed, {result['left']} left, "
            f"{result['seconds']:.1f} s",
            flush=True,
        )
    print()


def print_kills(runtime: Runtime, site: Site, kills: int) -> None:
    result = kill_repeatedly(runtime, site, pages=200, kills=kills)
    print(f"200 pages, killed {kills} times: {result}\n", flush=True)
