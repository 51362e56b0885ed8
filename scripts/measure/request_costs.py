"""processor time of a request beside a Worker that answers "hello": cached list, edge hit, news page, idle minutes"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import httpx

from compiling import Case, generate_list, serve_lists
from measured_site import HOST, TOKEN, admin, origin
from runtime import ROOT, Runtime, until
from service import MADE_LINES, TRANSFORMATIONS, ask, fresh

HERE: Final = Path(__file__).parent / "requests_worker"
CONFIGS: Final = (
    *(ROOT / name for name in ("wrangler.toml", "wrangler.preload.toml")),
    *(ROOT / f"wrangler.news-{name}.toml" for name in ("api", "processor")),
    *(HERE / f"wrangler.{name}.toml" for name in ("hello", "fill")),
)
HELLO: Final = "hello"
ARTICLES: Final = 500
WARM_UP: Final = 10
TRIES: Final = 5
SETTLE_S: Final = 0.2  # until work that goes on after the reply is over
MINUTE: Final = "* * * * *"

Call = Callable[[], object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=7, help="rounds of all endpoints, the best of which counts (7)")
    parser.add_argument("--calls", type=int, default=30, help="calls of each endpoint in a round (30)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the ratios to this file")
    parser.add_argument("--only", metavar="NAME", help="measure this endpoint beside hello")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is called, and what each call must be."""

    name: str
    call: Call


def measure(options: argparse.Namespace) -> None:
    with run_workers() as (runtime, endpoints):
        chosen = [each for each in endpoints if options.only in (None, each.name) or each.name == HELLO]
        best_ms = measure_best_ms(chosen, Processor(runtime), rounds=options.rounds, calls=options.calls)
    print(f"{'endpoint':20} {'processor ms':>12} {'hellos':>7}")
    for name, spent_ms in best_ms.items():
        print(f"{name:20} {spent_ms:12.2f} {spent_ms / best_ms[HELLO]:7.2f}")
    if options.json:
        ratios = {name: {"ratio": round(spent_ms / best_ms[HELLO], 3)} for name, spent_ms in best_ms.items()}
        options.json.write_text(json.dumps({"endpoints": ratios}, indent=2) + "\n")


class Processor:
    """The processor time of one workerd, all threads, in nanoseconds of Linux's scheduler."""

    def __init__(self, runtime: Runtime) -> None:
        session = str(runtime.process.pid)
        found = [path for path in Path("/proc").glob("[0-9]*") if is_workerd(path, session)]
        if len(found) != 1:
            raise SystemExit(f"{len(found)} workerd processes found below /proc, not one: this needs Linux")
        self._tasks = found[0] / "task"

    def spent_ms(self) -> float:
        return sum(int(path.read_text().split()[0]) for path in self._tasks.glob("*/schedstat")) / 1e6


def is_workerd(path: Path, session: str) -> bool:
    """Return whether this is the workerd of our own runtime, which runs in a session of its own."""
    try:
        head, _, tail = (path / "stat").read_text().rpartition(") ")
    except OSError:
        return False
    return head.endswith("(workerd") and tail.split()[3] == session


def measure_best_ms(endpoints: list[Endpoint], processor: Processor, *, rounds: int, calls: int) -> dict[str, float]:
    """Measure in turns, so that other load on the machine affects all; the best round of each is the least disturbed."""

    def spend_ms(call: Call, times: int) -> float:
        before = processor.spent_ms()
        for _ in range(times):
            call_with_retry(call)
        time.sleep(SETTLE_S)
        return (processor.spent_ms() - before) / times

    for endpoint in endpoints:
        spend_ms(endpoint.call, WARM_UP)
    taken = [{each.name: spend_ms(each.call, calls) for each in endpoints} for _ in range(rounds)]
    return {each.name: min(one[each.name] for one in taken) for each in endpoints}


@contextmanager
def run_workers() -> Iterator[tuple[Runtime, list[Endpoint]]]:
    """Run the deployed Workers with their own configs, and beside them the one that answers "hello"."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        lists = [Case("generated", generate_list(folder, MADE_LINES), TRANSFORMATIONS)]
        source = stack.enter_context(serve_lists(lists))
        site = stack.enter_context(origin(0))
        variables = (
            f"ALLOW_PRIVATE_HOSTS={source},{site.address}",
            f"ADMIN_TOKEN={TOKEN}",
            "RATE_LIMIT_MAX_REQUESTS=1000000000",
        )
        arguments = ["--no-cache", f"--route={HOST}=edge-preload", *(f"--var={each}" for each in variables)]
        arguments += [f"--config={path}" for path in CONFIGS]
        runtime = Runtime(folder / "state", *arguments).start()
        stack.callback(runtime.kill)
        admin(runtime, "hits", "PUT", "config", {"site_url": f"http://{HOST}", "origin_url": f"http://{site.address}"})
        yield runtime, [*build_endpoints(runtime, f"http://{source}/0", stack)]


def build_endpoints(runtime: Runtime, source: str, stack: ExitStack) -> Iterator[Endpoint]:
    """Prepare what each endpoint reads, and check with the first call that it is what it is called."""

    def connect(host: str) -> httpx.Client:
        return stack.enter_context(open_client(runtime.url, host))

    hello, lists, site, news, fill = (
        connect(host)
        for host in (
            "hello.localhost",
            "adblock-compiler.localhost",
            HOST,
            "worker-api.localhost",
            "news-fill.localhost",
        )
    )
    yield Endpoint(HELLO, lambda: expect(hello.get("/"), "Content-Type", "text/plain"))
    body = fresh(source)
    ask(lists, body, "MISS")
    yield Endpoint("cached list", lambda: ask(lists, body, "HIT"))
    until(lambda: site.get("/page").headers["X-Cache-Layer"] == "EDGE")
    yield Endpoint("edge hit", lambda: expect(site.get("/page"), "X-Cache-Layer", "EDGE"))
    fill.get("/", params={"count": ARTICLES}).raise_for_status()
    yield Endpoint("news page", lambda: expect(news.get("/api/v1/articles"), "Content-Type", "application/json"))
    for name, worker in (("preload", "edge-preload"), ("news", "worker-news-processor")):
        yield Endpoint(f"idle {name} minute", partial(run_minute, runtime, worker))


def call_with_retry(call: Call) -> None:
    """Call again if the connection was lost: workerd drops some while it works in the background. The best round has none."""
    for _ in range(TRIES - 1):
        try:
            call()
        except httpx.TransportError:
            time.sleep(SETTLE_S)
        else:
            return
    call()


def open_client(url: str, host: str) -> httpx.Client:
    """Return a client that opens a new connection after a pause, because a busy workerd drops idle ones."""
    return httpx.Client(base_url=url, headers={"Host": host}, timeout=120, limits=httpx.Limits(keepalive_expiry=0.5))


def expect(reply: httpx.Response, name: str, value: str) -> None:
    if reply.status_code != 200 or not reply.headers[name].startswith(value):
        raise SystemExit(f"{reply.url} answered {reply.status_code} {dict(reply.headers)}")


def run_minute(runtime: Runtime, worker: str) -> None:
    runtime.cron(worker, MINUTE).raise_for_status()
