"""operations that Cloudflare bills, counted in workerd for each unit of work, and the monthly bill of three profiles"""

import argparse
import http.server
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx

from compiling import Case, generate_list, serve_lists
from measured_site import HOST, TOKEN, admin, origin
from prices import BASE_USD, PRICES, PRICES_READ, PROFILES, add_up, charge, list_price
from request_costs import ARTICLES, HERE, MINUTE, Processor, open_client
from runtime import ROOT, Runtime
from service import TRANSFORMATIONS, ask, fresh

LINES: Final = 10_000
PAGES: Final = 20  # of one batch
REPEATS: Final = 2
QUIET_S: Final = 2.0  # without an operation, after which a unit of work counts as finished
# A message waits for others for 5 s. The sweeper looks again every 15 s while jobs come, which is no part of one job.
JOB_QUIET_S: Final = 8.0
MOST_S: Final = 30.0
FILL: Final = "news-fill"
COMPILER: Final = "adblock-compiler"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write units and bills to this file")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of work whose operations are counted. `work` does the unit `amount` times."""

    name: str
    work: Callable[[], object]
    amount: int = 1
    quiet_s: float = QUIET_S


def measure(options: argparse.Namespace) -> None:
    units = count_units()
    print_units(units)
    profiles = {name: add_up(profile, units) for name, profile in PROFILES.items()}
    print_bills(profiles)
    if options.json:
        bills = {
            name: {
                "usd_month": round(BASE_USD + sum(charge(operations).values()), 2),
                "usd_month_without_included": round(list_price(operations), 2),
            }
            for name, operations in profiles.items()
        }
        options.json.write_text(json.dumps({"units": units, "profiles": bills}, indent=2) + "\n")


def print_units(units: dict[str, dict[str, float]]) -> None:
    for name, operations in units.items():
        counted = ", ".join(f"{amount:g} {operation}" for operation, amount in sorted(operations.items()))
        print(f"{name:22} {counted}")


def print_bills(profiles: dict[str, dict[str, float]]) -> None:
    print(f"\n{'operation':20} {'included':>14} {'$ per million':>14}   prices of {PRICES_READ}")
    for name, price in PRICES.items():
        print(f"{name:20} {price.included:14,.0f} {price.usd_per_million:14.3f}   {price.page}")
    print(f"\n{'profile':26} {'$ a month':>10} {'all priced':>11}   beyond what is included")
    for name, operations in profiles.items():
        charges = charge(operations)
        beyond = ", ".join(f"{operation} {usd:.2f}" for operation, usd in charges.items())
        usd = BASE_USD + sum(charges.values())
        print(f"{name:26} {usd:10.2f} {list_price(operations):11.2f}   {beyond or 'nothing'}")


class Counter:
    """Counts the operations of all Workers, and the processor time of workerd."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._processor = Processor(runtime)

    def count(self, unit: Unit) -> dict[str, float]:
        """Do the work several times and return what one unit takes."""
        self._settle(unit.quiet_s)
        before, spent_ms = self._read(), 0.0
        for _ in range(REPEATS):
            before_ms = self._processor.spent_ms()
            unit.work()
            time.sleep(unit.quiet_s)
            spent_ms += self._processor.spent_ms() - before_ms
            self._settle(unit.quiet_s)
        after = self._read()
        units = REPEATS * unit.amount
        counted = {name: round((total - before.get(name, 0)) / units, 2) for name, total in after.items()}
        return {name: amount for name, amount in counted.items() if amount} | {
            "processor_ms": round(spent_ms / units, 1)
        }

    def _read(self) -> dict[str, float]:
        workers = httpx.get(f"{self._runtime.url}/cdn-cgi/local/operations", timeout=60).json()
        total: dict[str, float] = {}
        del workers[FILL]  # it is not deployed
        for operations in workers.values():
            for name, amount in operations.items():
                total[name] = total.get(name, 0) + amount
        return total

    def _settle(self, quiet_s: float) -> None:
        """Wait until nothing was counted for a while, but not for alarms that come again and again."""
        last, since = self._read(), time.monotonic()
        end = since + MOST_S
        while time.monotonic() < min(since + quiet_s, end):
            time.sleep(0.25)
            if (now := self._read()) != last:
                last, since = now, time.monotonic()


def count_units() -> dict[str, dict[str, float]]:
    with ExitStack() as stack:
        units = stack.enter_context(run_workers())
        return {unit.name: units.counter.count(unit) for unit in units.list_units(stack)}


@dataclass(frozen=True, slots=True)
class Workers:
    """All Workers with what they read, on this machine."""

    runtime: Runtime
    counter: Counter
    source: str
    news: "NewsSite"

    def list_units(self, stack: ExitStack) -> Iterator[Unit]:
        yield from self._list_units(stack)
        yield from self._page_units(stack)
        yield from self._news_units(stack)

    def _connect(self, stack: ExitStack, host: str) -> httpx.Client:
        return stack.enter_context(open_client(self.runtime.url, host))

    def _list_units(self, stack: ExitStack) -> Iterator[Unit]:
        client = self._connect(stack, f"{COMPILER}.localhost")
        body = fresh(self.source)
        ask(client, body, "MISS")
        yield Unit("list hit", lambda: ask(client, body, "HIT"))
        yield Unit("list miss", lambda: ask(client, fresh(self.source), "MISS"))
        post = partial(client.post, "/compile/async", headers={"Content-Type": "application/json"})
        yield Unit("job", lambda: post(content=fresh(self.source)).raise_for_status(), quiet_s=JOB_QUIET_S)
        yield Unit("hourly cron", partial(self._cron, COMPILER, "0 * * * *"), quiet_s=5)
        yield Unit("six-hourly warming", partial(self._cron, COMPILER, "0 */6 * * *"), quiet_s=5)

    def _page_units(self, stack: ExitStack) -> Iterator[Unit]:
        visitor = self._connect(stack, HOST)
        fill = self._connect(stack, f"{FILL}.localhost")
        numbers = count()

        def warm() -> None:
            urls = [f"http://{HOST}/warm/{next(numbers)}" for _ in range(PAGES)]
            admin(self.runtime, "shop", "POST", "enqueue", {"urls": urls})

        def visit(path: str, layer: str) -> None:
            found = visitor.get(path).headers["X-Cache-Layer"]
            if found != layer:
                raise SystemExit(f"{path} was answered by {found}, not by {layer}")

        def visit_r2() -> None:
            fill.get("/forget", params={"url": f"http://{HOST}/page"}).raise_for_status()
            visit("/page", "R2")

        yield Unit("idle preload minute", partial(self._cron, "edge-preload", MINUTE))
        yield Unit("page warmed", warm, amount=PAGES, quiet_s=5)
        yield Unit("page served by origin", lambda: visit(f"/new/{next(numbers)}", "ORIGIN"))
        visit("/page", "ORIGIN")
        yield Unit("page served by edge", lambda: visit("/page", "EDGE"))
        yield Unit("page served by R2", visit_r2)

    def _news_units(self, stack: ExitStack) -> Iterator[Unit]:
        fill, api = (self._connect(stack, f"{name}.localhost") for name in (FILL, "worker-api"))
        fill.get("/", params={"count": ARTICLES}).raise_for_status()

        def publish() -> None:
            self.news.articles += 1
            self._cron("worker-news-updater", "0 * * * *")

        # The first article makes the processor read all that were stored for it.
        publish()
        self._process_article()
        yield Unit("hourly news update", publish)
        yield Unit("article", self._process_article, amount=1)
        yield Unit("idle news minute", partial(self._cron, "worker-news-processor", MINUTE))
        yield Unit("API request", lambda: api.get("/api/v1/articles").raise_for_status())

    def _process_article(self) -> None:
        """Perform all three stages, a minute each."""
        for _ in range(3):
            self._cron("worker-news-processor", MINUTE)

    def _cron(self, worker: str, expression: str) -> None:
        self.runtime.cron(worker, expression).raise_for_status()


@contextmanager
def run_workers() -> Iterator[Workers]:
    """Run all Workers with their own configs, and beside them the one that prepares what they read."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(serve_lists([Case("", generate_list(folder, LINES), TRANSFORMATIONS)] * 5))
        site, news = stack.enter_context(origin(0)), stack.enter_context(serve_news())
        variables = describe_variables(address, f"{address},{site.address},{news.address}", news.address)
        configs = [*sorted(ROOT.glob("wrangler*.toml")), HERE / "wrangler.fill.toml"]
        arguments = ["--no-cache", f"--route={HOST}=edge-preload", *(f"--config={path}" for path in configs)]
        arguments += [f"--var={name}={value}" for name, value in variables.items()]
        runtime = Runtime(folder / "state", *arguments).start()
        stack.callback(runtime.kill)
        admin(runtime, "shop", "PUT", "config", {"site_url": f"http://{HOST}", "origin_url": f"http://{site.address}"})
        yield Workers(runtime, Counter(runtime), f"http://{address}/0", news)


def describe_variables(lists: str, allowed: str, news: str) -> dict[str, str]:
    """Return variables with as many sources and lists as the defaults have: five are checked, three are warmed."""
    sources = [f"http://{lists}/{number}" for number in range(5)]
    warmed = [{"name": f"Warm {url}", "sources": [{"source": url}]} for url in sources[:3]]
    return {
        "ADMIN_TOKEN": TOKEN,
        "ALLOW_PRIVATE_HOSTS": allowed,
        "HEALTH_SOURCES": json.dumps([{"name": url, "url": url, "expectedMinRules": 1} for url in sources]),
        "NEWS_FEEDS": f"http://{news}/feed",
        "RATE_LIMIT_MAX_REQUESTS": "1000000000",
        "WARM_CONFIGURATIONS": json.dumps(warmed),
    }


class NewsSite:
    """A site with a feed; `articles` is how many it has published."""

    address = ""
    articles = 0


@contextmanager
def serve_news() -> Iterator[NewsSite]:
    site = NewsSite()

    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_feed = self.path == "/feed"
            body = (build_feed(site) if is_feed else build_page(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/rss+xml" if is_feed else "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: Any) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        site.address = f"127.0.0.1:{server.server_port}"
        yield site
        server.shutdown()


def build_feed(site: NewsSite) -> str:
    items = "".join(
        f"<item><title>Bitcoin miner number {number} opens a plant</title><link>http://{site.address}/{number}</link></item>"
        for number in range(site.articles, 0, -1)
    )
    return f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'


def build_page(path: str) -> str:
    sentence = f"The bitcoin plant {path[1:]} will take power that nobody else needs, the company said on Monday."
    return f"<html><body><article>{f'<p>{sentence}</p>' * 8}</article></body></html>"
