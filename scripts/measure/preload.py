"""statements of a page, queue costs, first byte by layer and by the purge list, heap, pages a minute, 50,000 pages taken in"""

import argparse
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from measured_site import API, HOST, LARGE, TOKEN, Site, admin, origin
from request_costs import HELLO, Endpoint, Processor, expect, measure_best_ms, open_client
from runtime import Runtime, until

HERE = Path(__file__).parent
CONFIGS = (HERE / "preload_worker/wrangler.toml", HERE / "requests_worker/wrangler.hello.toml")
DEPTHS = (1_000, 10_000, 100_000)
OPERATIONS = 500
ASLEEP_S = 12.0  # an object that nobody asks for so long is evicted
LARGE_BYTES = 10_000_000
AT_ONCE = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=int, default=5, help="runs of each figure: the best push and pop, the median latency (5)"
    )
    parser.add_argument(
        "--addresses", type=int, default=50_000, help="addresses of the sitemap that is taken in (50,000)"
    )
    parser.add_argument("--delay-ms", type=int, default=100, help="how long the site takes for a page (100)")


def measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder, origin(options.delay_ms / 1000) as site:
        arguments = [
            f"--route={HOST}=edge-preload",
            f"--var=ADMIN_TOKEN={TOKEN}",
            "--var=ALLOW_PRIVATE_HOSTS=127.0.0.1",
        ]
        arguments += [f"--config={path}" for path in CONFIGS]
        runtime = Runtime(Path(folder), *arguments).start()
        try:
            print_queue_costs(runtime, options.runs)
            print_statements(runtime, site)
            print_latencies(runtime, site, options.runs)
            print_list_latencies(runtime, site, options.runs)
            print_edge_hit(runtime, options.runs)
            print_heap(runtime)
            print_throughput(runtime, site)
            print_intake(runtime, site, options.addresses)
        finally:
            runtime.kill()


def print_queue_costs(runtime: Runtime, runs: int) -> None:
    """Print the cost of the queue at several depths, measured in turn, so that a short load on the machine does not affect only one of them."""
    for depth in DEPTHS:
        for start in range(0, depth, 5_000):
            request_ms(runtime, depth, "push", start=start, count=min(5_000, depth - start), at_once=500)
    costs: dict[int, list[tuple[float, float]]] = {depth: [] for depth in DEPTHS}
    for run in range(runs):
        for depth in DEPTHS:
            costs[depth].append(queue_cost(runtime, depth, depth + run * OPERATIONS))
    best = {depth: tuple(min(column) for column in zip(*costs[depth], strict=True)) for depth in DEPTHS}
    print(f"{'entries':>8} {'push ms':>9} {'pop ms':>9}")
    for depth, (push_ms, pop_ms) in best.items():
        print(f"{depth:8} {push_ms:9.3f} {pop_ms:9.3f}")
    push, pop = (best[DEPTHS[-1]][each] / best[DEPTHS[0]][each] for each in (0, 1))
    print(f"100k against 1k: push {push:.2f}, pop {pop:.2f} times\n", flush=True)


def queue_cost(runtime: Runtime, depth: int, start: int) -> tuple[float, float]:
    """Return the milliseconds for one push and one pop at a depth, without the cost of an empty request."""
    empty_ms = min(request_ms(runtime, depth, "pop", count=0) for _ in range(3))
    push_ms = request_ms(runtime, depth, "push", start=start, count=OPERATIONS, at_once=1)
    pop_ms = request_ms(runtime, depth, "pop", count=OPERATIONS)
    return (push_ms - empty_ms) / OPERATIONS, (pop_ms - empty_ms) / OPERATIONS


def request_ms(runtime: Runtime, depth: int, path: str, **query: int) -> float:
    """Return the milliseconds of a request, measured from outside: a Worker's clock stands still while it computes."""
    # A new connection: workerd drops one that is idle while it computes.
    params: dict[str, str | int] = {"name": f"q{depth}", **query}
    started = time.perf_counter()
    httpx.get(f"{runtime.url}/bench/{path}", params=params, headers=API, timeout=300).raise_for_status()
    return (time.perf_counter() - started) * 1000


def print_latencies(runtime: Runtime, site: Site, runs: int) -> None:
    """Print the median time until the first byte of a page, by the layer that serves it."""
    admin(runtime, "hits", "PUT", "config", {"site_url": f"http://{HOST}", "origin_url": f"http://{site.address}"})
    print(f"{'first byte by':>14} {'ms':>6}", flush=True)
    with httpx.Client(base_url=runtime.url, headers={"Host": HOST}, timeout=60) as visitor:

        def forget(path: str) -> None:
            httpx.get(f"{runtime.url}/bench/edge", params={"url": f"http://{HOST}{path}"}, headers=API)

        for layer in ("ORIGIN", "R2", "EDGE"):
            times = [visit(visitor, f"/page/{n}", layer, forget) for n in range(10 * runs)]
            print(f"{layer:>14} {statistics.median(times):6.1f}", flush=True)
    print()


def print_statements(runtime: Runtime, site: Site) -> None:
    """Print what a page costs between its enqueuing and the end of its drain, as the object counts it."""
    url = f"http://{site.address}"
    admin(runtime, "counted", "PUT", "config", {"site_url": url})
    warm_counted(runtime, url, "/first")
    before = count_statements(runtime)
    warm_counted(runtime, url, "/second")
    print(
        f"{count_statements(runtime) - before} SQL statements of the object for one warmed page, log and mirror included\n"
    )


def warm_counted(runtime: Runtime, url: str, path: str) -> None:
    """Warm a page, and wait without asking the object."""
    admin(runtime, "counted", "POST", "enqueue", {"urls": [url + path]})
    until(lambda: any(row["url"] == url + path for row in admin(runtime, "counted", "GET", "log")["log"]))
    time.sleep(1)  # for the mirror, which follows the log


def count_statements(runtime: Runtime) -> int:
    reply = httpx.get(f"{runtime.url}/bench/statements", params={"zone": "counted"}, headers=API, timeout=60)
    return int(reply.raise_for_status().json())


def print_list_latencies(runtime: Runtime, site: Site, runs: int) -> None:
    """Print how long a visitor of a page at the edge waits: the list of purges is fresh, is older than the delay, and its object sleeps."""
    admin(runtime, "hits", "PUT", "config", {"site_url": f"http://{HOST}", "origin_url": f"http://{site.address}"})
    print(f"{'list':>12} {'ms':>8} {'worst':>8}", flush=True)
    for name, wait_s, count in (("fresh", 0.0, 10 * runs), ("old", 2.1, 2 * runs), ("asleep", ASLEEP_S, runs)):
        times = []
        for _ in range(count):
            time.sleep(wait_s)
            times.append(first_byte_ms(runtime))
        print(f"{name:>12} {statistics.median(times):8.1f} {max(times):8.1f}", flush=True)
    print()


def first_byte_ms(runtime: Runtime) -> float:
    started = time.perf_counter()
    with httpx.stream("GET", f"{runtime.url}/page/0", headers={"Host": HOST}, timeout=60) as reply:
        elapsed_ms = (time.perf_counter() - started) * 1000
        reply.read()
    if reply.headers["X-Cache-Layer"] == "ORIGIN":
        raise SystemExit("the page was not answered from a copy")
    return elapsed_ms


def print_intake(runtime: Runtime, site: Site, addresses: int) -> None:
    """Print the longest time that another call to the same object waits while a large sitemap is taken in."""
    url = f"http://{site.address}"
    locations = "".join(f"<url><loc>{url}/intake/{n}</loc></url>" for n in range(addresses))
    site.sitemap = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'.encode()
    limits = {"preload_queue_max_depth": 2 * addresses, "preload_queue_backend": "durable-object"}
    admin(
        runtime, "intake", "PUT", "config", {"site_url": url, "preload_rpm_limit": 1, "preload_rps_limit": 1, **limits}
    )
    started = time.monotonic()
    admin(runtime, "intake", "POST", "sitemap", {})
    waits = []
    while True:
        asked = time.monotonic()
        depth = admin(runtime, "intake", "GET", "status")["queue_depth"]
        waits.append(time.monotonic() - asked)
        if depth >= addresses - 5 or time.monotonic() - started > 600:
            break
        time.sleep(0.02)
    elapsed_s = time.monotonic() - started
    print(
        f"\n{depth} of {addresses} addresses in {elapsed_s:.1f} s; another call waited {1000 * statistics.median(waits):.0f} ms, at most {1000 * max(waits):.0f} ms"
    )


def visit(visitor: httpx.Client, path: str, layer: str, forget: Callable[[str], None]) -> float:
    if layer == "R2":
        forget(path)
    started = time.perf_counter()
    with visitor.stream("GET", path) as reply:
        chunks = reply.iter_raw()
        next(chunks)
        elapsed_ms = (time.perf_counter() - started) * 1000
        deque(chunks, maxlen=0)
    if reply.headers["X-Cache-Layer"] != layer:
        raise SystemExit(f"{path} was answered by {reply.headers['X-Cache-Layer']}, not by {layer}")
    # Background work must be over before the next layer is measured.
    time.sleep(0.05)
    return elapsed_ms


def print_edge_hit(runtime: Runtime, runs: int) -> None:
    """Print the processor time of workerd for an edge hit, beside that of a Worker that answers "hello"."""
    with open_client(runtime.url, "hello.localhost") as hello, open_client(runtime.url, HOST) as site:
        until(lambda: site.get("/page/0").headers["X-Cache-Layer"] == "EDGE")
        endpoints = [
            Endpoint(HELLO, lambda: expect(hello.get("/"), "Content-Type", "text/plain")),
            Endpoint("edge hit", lambda: expect(site.get("/page/0"), "X-Cache-Layer", "EDGE")),
        ]
        best_ms = measure_best_ms(endpoints, Processor(runtime), rounds=runs, calls=30)
    print(
        f"processor time of an edge hit: {best_ms['edge hit'] / best_ms[HELLO]:.2f} times that of hello\n", flush=True
    )


def print_heap(runtime: Runtime) -> None:
    """Print how much Python's heap grows while many visitors get large files that are stored as far as there is room."""

    def fetch(number: int) -> int:
        reply = httpx.get(f"{runtime.url}{LARGE}{LARGE_BYTES}/{number}", headers={"Host": HOST}, timeout=300)
        return len(reply.raise_for_status().content)

    def heap_mb() -> float:
        return int(httpx.get(f"{runtime.url}/bench/heap", headers=API, timeout=60).text) / 1e6

    before_mb = heap_mb()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        received = sum(pool.map(fetch, range(AT_ONCE)))
    grown_mb = heap_mb() - before_mb
    print(f"heap with {AT_ONCE} answers at once, {received / 1e6:.0f} MB: {before_mb:.1f} MB + {grown_mb:.1f} MB\n")


def print_throughput(runtime: Runtime, site: Site) -> None:
    print(f"{'limits':>16} {'pages':>6} {'seconds':>8} {'per minute':>11} {'at once':>8} {'in 1 s':>7} {'in 60 s':>8}")
    defaults: dict[str, int] = {}
    lifted = {"preload_rps_limit": 1000, "preload_rpm_limit": 60_000}
    for name, limits, pages in (("lifted", lifted, 300), ("defaults", defaults, 240)):
        site.times.clear()
        site.most_at_once = 0
        elapsed_s = warm_pages(runtime, site, limits, pages)
        seen = f"{site.most_at_once:8} {site.most_within(1.0):7} {site.most_within(60.0):8}"
        print(f"{name:>16} {pages:6} {elapsed_s:8.1f} {pages * 60 / elapsed_s:11.0f} {seen}", flush=True)


def warm_pages(runtime: Runtime, site: Site, limits: dict[str, int], pages: int) -> float:
    """Return the seconds until all pages are warm."""
    url = f"http://{site.address}"
    admin(runtime, "warm", "PUT", "config", {"site_url": url, **limits})
    urls = [f"{url}/{len(limits)}/{n}" for n in range(pages)]
    started = time.monotonic()
    batch = admin(runtime, "warm", "POST", "enqueue", {"urls": urls})["preload_batch_id"]
    until(lambda: admin(runtime, "warm", "GET", f"batches/{batch}")["state"] == "finished", timeout_s=600)
    return time.monotonic() - started
