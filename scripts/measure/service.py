"""address of a published list beside /api; cached lists beside /health and a compilation, hits per second, heap, memory"""

import argparse
import itertools
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from compiling import Case, generate_list, serve_lists
from runtime import ROOT, Runtime

HERE = Path(__file__).parent
TRANSFORMATIONS = ["RemoveComments", "Compress", "Validate", "Deduplicate", "TrimLines"]
MADE_LINES = 10_000
LARGE_LINES = 150_000
WARM_UP = 20
# A heap grows in steps: after the first compilations it should not grow any further.
SETTLED_AFTER = 50
MEMORY_STEP = 5000
# Every collection is a full one, and the space for new objects, which otherwise doubles now and then, does not grow.
FULL_COLLECTIONS = "--single-threaded-gc --gc-global --max-semi-space-size=1"
# Of workerd, for each hit of the second half. It was 0.0 and 0.3 without a leak, and 2.5 when each request was kept. What is
# smaller, such as a kept instance of the entry (0.8), tests/workerd/test_compiler_memory.py counts.
MAX_KEPT_KB = 1.0

_NUMBERS = itertools.count()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lists", nargs="*", type=Path, metavar="LIST", help="filter lists, beside the made one")
    parser.add_argument("--samples", type=int, default=200, help="requests of each kind, the median counts (200)")
    parser.add_argument("--seconds", type=float, default=8, help="how long hits are asked for without a pause (8)")
    parser.add_argument("--clients", type=int, default=8, help="how many ask at the same time (8)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of the addresses, the best of which counts (7)")
    parser.add_argument("--addresses-only", action="store_true", help="measure the address of a published list alone")
    parser.add_argument(
        "--compiles", type=int, default=500, help="compilations after which the heap is read again (500)"
    )
    parser.add_argument(
        "--hits",
        type=int,
        default=20_000,
        help="hits during which the memory is read; from 10000 on it is judged (20000)",
    )
    parser.add_argument("--memory-only", action="store_true", help="measure the memory during hits alone")


def measure(arguments: argparse.Namespace) -> None:
    if not arguments.memory_only:
        measure_replies(arguments)
    if arguments.hits and not arguments.addresses_only:
        measure_memory(arguments.hits, arguments.clients)


def measure_replies(arguments: argparse.Namespace) -> None:
    from list_addresses import print_addresses  # noqa: PLC0415 - it needs this module

    print_addresses(MADE_LINES, rounds=arguments.rounds, calls=30, seconds=arguments.seconds, clients=arguments.clients)
    if arguments.addresses_only:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = [Case(f"generated, {MADE_LINES // 1000}k lines", generate_list(folder, MADE_LINES), TRANSFORMATIONS)]
        cases += [Case(path.name, path, TRANSFORMATIONS) for path in arguments.lists]
        with serve_lists(cases) as address, run_service(folder, address) as runtime:
            url = runtime.url
            print(
                f"{'list':32} {'health ms':>9} {'hit ms':>7} {'ratio':>6} {'miss ms':>8} {'miss/hit':>8} {'hits/s':>7}"
            )
            for number, case in enumerate(cases):
                print_row(case, f"http://{address}/{number}", url, arguments)
            print_batch_heap(folder, cases, address, url)
            print_heap(f"http://{address}/0", url, arguments.compiles)


def print_row(case: Case, source: str, url: str, arguments: argparse.Namespace) -> None:
    hit = fresh(source)
    with httpx.Client(base_url=url, timeout=120) as client:
        ask(client, hit, "MISS")
        for _ in range(WARM_UP):
            ask(client, hit, "HIT")
        # In turns, so that other load on the machine affects both.
        pairs = [(time_ms(client.get, "/health"), time_ms(ask, client, hit, "HIT")) for _ in range(arguments.samples)]
        misses = [time_ms(ask, client, fresh(source), "MISS") for _ in range(max(3, arguments.samples // 20))]
    health_ms, hit_ms = (statistics.median(times) for times in zip(*pairs, strict=True))
    miss_ms = statistics.median(misses)
    rate = hits_per_second(url, hit, arguments.clients, arguments.seconds)
    figures = (
        f"{health_ms:9.1f} {hit_ms:7.1f} {hit_ms / health_ms:6.2f} {miss_ms:8.1f} {miss_ms / hit_ms:8.1f} {rate:7.0f}"
    )
    print(f"{case.name[:32]:32} {figures}", flush=True)


def print_batch_heap(folder: Path, cases: list[Case], address: str, url: str) -> None:
    """Compile six large lists in one batch. The lists are served as long as the function runs."""
    first = len(cases)
    cases += [Case("large", generate_list(folder, LARGE_LINES + number), TRANSFORMATIONS) for number in range(6)]
    items = [
        {"id": str(number), "configuration": json.loads(fresh(f"http://{address}/{first + number}"))["configuration"]}
        for number in range(6)
    ]
    with httpx.Client(base_url=url, timeout=600) as client:
        results = client.post("/compile/batch", json={"requests": items}).raise_for_status().json()["results"]
    compiled = sum(result["success"] for result in results)
    with httpx.Client(base_url=url, timeout=120) as client:
        used = heap_bytes(client)
    print(f"\nheap after {compiled} lists of {LARGE_LINES:,} lines in one batch {used / 1e6:.1f} MB", flush=True)


def print_heap(source: str, url: str, compiles: int) -> None:
    with httpx.Client(base_url=url, timeout=120) as client:
        for _ in range(SETTLED_AFTER):
            ask(client, fresh(source), "MISS")
        settled = heap_bytes(client)
        for _ in range(compiles):
            ask(client, fresh(source), "MISS")
        growth = heap_bytes(client) - settled
    print(
        f"\nheap after {SETTLED_AFTER} compilations {settled / 1e6:.1f} MB, after {compiles} more {growth / 1e6:+.1f} MB"
    )


def measure_memory(hits: int, clients: int) -> None:
    """Print the memory of workerd during hits; end with an error if too much of it stays.

    V8 collects little in full, because it does not know the size of what workerd holds for an object of JavaScript, such as a
    request (cloudflare/workerd, issues 6824 and 6894). So the memory grows for tens of thousands of requests, in Workers
    without a line of this project too. What grows although every collection is a full one is held by something: only this
    row decides.
    """
    steps = [*range(0, hits, MEMORY_STEP), hits]
    print(f"\n{'MB of workerd':20}", *(f"{step:>7,}" for step in steps), f"{'KB/hit':>7}")
    print_memory("as it runs", None, steps, clients)
    kept_kb = print_memory("full collections", FULL_COLLECTIONS, steps, clients)
    if hits >= 2 * MEMORY_STEP and kept_kb > MAX_KEPT_KB:  # the first thousands warm everything up
        raise SystemExit(
            f"workerd keeps {kept_kb:.1f} KB of each hit, more than {MAX_KEPT_KB:g}: something holds what belongs to a request"
        )


def print_memory(label: str, v8_flags: str | None, steps: list[int], clients: int) -> float:
    """Return by how many KB workerd grows with each hit of the second half of the steps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case = Case("memory", generate_list(folder, MADE_LINES), TRANSFORMATIONS)
        with serve_lists([case]) as address, run_service(folder, address, v8_flags=v8_flags) as runtime:
            hit = fresh(f"http://{address}/0")
            with httpx.Client(base_url=runtime.url, timeout=120) as client:
                ask(client, hit, "MISS")
            sizes = [runtime.workerd_bytes()]
            for before, after in itertools.pairwise(steps):
                ask_often(runtime.url, hit, clients, after - before)
                sizes.append(runtime.workerd_bytes())
    middle = (len(steps) - 1) // 2
    growth_kb = (sizes[-1] - sizes[middle]) / 1000 / (steps[-1] - steps[middle])
    print(f"{label:20}", *(f"{size / 1e6:7.0f}" for size in sizes), f"{growth_kb:7.1f}", flush=True)
    return growth_kb


def ask_often(url: str, body: bytes, clients: int, hits: int) -> None:
    def ask_some(number: int) -> None:
        with httpx.Client(base_url=url, timeout=120) as client:
            for _ in range(number, hits, clients):
                ask(client, body, "HIT")

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(ask_some, range(clients)))


def fresh(source: str) -> bytes:
    """Return a request that was never made before."""
    configuration: dict[str, Any] = {"name": f"List {next(_NUMBERS)}", "sources": [{"source": source}]}
    return json.dumps({"configuration": configuration | {"transformations": TRANSFORMATIONS}}).encode()


def ask(client: httpx.Client, body: bytes, expected: str) -> None:
    """Read the reply as it comes over the wire, without decompressing it."""
    headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip"}
    with client.stream("POST", "/compile", content=body, headers=headers) as reply:
        size = sum(len(chunk) for chunk in reply.iter_raw())
    if reply.status_code != 200 or reply.headers["X-Cache"] != expected or not size:
        raise SystemExit(f"not a {expected}: {reply.status_code} {reply.headers}")


def time_ms(work: Any, *values: Any) -> float:
    started = time.perf_counter()
    work(*values)
    return (time.perf_counter() - started) * 1000


def hits_per_second(url: str, body: bytes, clients: int, seconds: float) -> float:
    end = time.perf_counter() + seconds

    def ask_until_end(_number: int) -> int:
        count = 0
        with httpx.Client(base_url=url, timeout=120) as client:
            while time.perf_counter() < end:
                ask(client, body, "HIT")
                count += 1
        return count

    with ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(ask_until_end, range(clients))) / seconds


def heap_bytes(client: httpx.Client) -> int:
    return int(client.get("/bench/heap").raise_for_status().text)


@contextmanager
def run_service(folder: Path, address: str, *variables: str, v8_flags: str | None = None) -> Iterator[Runtime]:
    """Run the deployed Worker with its own config, but for the entry, which also reports the heap."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("sluice", "__pycache__"))
    shutil.copy(HERE / "service_worker/heap_worker.py", folder / "src")
    shutil.copytree(ROOT / "migrations", folder / "migrations")
    config = (
        (ROOT / "wrangler.toml")
        .read_text()
        .replace('"build/adblock-compiler/python/compiler_worker.py"', '"src/heap_worker.py"', 1)
    )
    (folder / "wrangler.toml").write_text(config)
    every = (f"ALLOW_PRIVATE_HOSTS={address}", "RATE_LIMIT_MAX_REQUESTS=1000000000", *variables)
    arguments = ("--config", str(folder / "wrangler.toml"), *(f"--var={each}" for each in every))
    runtime = Runtime(folder / "state", *arguments, v8_flags=v8_flags).start()
    try:
        yield runtime
    finally:
        runtime.kill()
