"""The address of a published list beside GET /api: processor time and requests per second, from R2 and from the cache."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx

from compiling import Case, generate_list, serve_lists
from request_costs import Endpoint, Processor, measure_best_ms
from runtime import Runtime, until

WORKER: Final = "adblock-compiler"
TOKEN: Final = "bench-operator-token"  # noqa: S105 - of a local Worker
BASE: Final = "GET /api"
# The cache in front of the Worker leaves a request with credentials alone, so it reaches Python.
UNCACHED: Final = {"Authorization": "none", "Accept-Encoding": "gzip"}


def print_addresses(lines: int, *, rounds: int, calls: int, seconds: float, clients: int) -> None:
    with run_list(lines) as runtime, runtime.client(WORKER) as client:
        etag = client.get("/lists/bench.txt", headers=UNCACHED).headers["etag"]
        requests: Mapping[str, tuple[str, dict[str, str], int]] = {
            BASE: ("/api", UNCACHED, 200),
            "list, one read of R2": ("/lists/bench.txt", UNCACHED, 200),
            "list, not compressed": ("/lists/bench.txt", {**UNCACHED, "Accept-Encoding": "identity"}, 200),
            "list, 304": ("/lists/bench.txt", {**UNCACHED, "If-None-Match": etag}, 304),
            "list, from the cache": ("/lists/bench.txt", {"Accept-Encoding": "gzip"}, 200),
        }
        endpoints = [Endpoint(name, _build_call(client, *request)) for name, request in requests.items()]
        best_ms = measure_best_ms(endpoints, Processor(runtime), rounds=rounds, calls=calls)
        print(
            f"\n{'a published list, ' + f'{lines:,} lines':32} {'processor ms':>12} {'of /api':>8} {'per second':>10}"
        )
        for name, request in requests.items():
            rate = _count_per_second(runtime, request, clients, seconds)
            print(f"{name:32} {best_ms[name]:12.2f} {best_ms[name] / best_ms[BASE]:8.2f} {rate:10.0f}", flush=True)


def _build_call(client: httpx.Client, path: str, headers: dict[str, str], status: int) -> Any:
    def call() -> None:
        with client.stream("GET", path, headers=headers) as reply:
            size = sum(len(chunk) for chunk in reply.iter_raw())
        if reply.status_code != status or (status == 200) != bool(size):
            raise SystemExit(f"{path} answered {reply.status_code} with {size} bytes")

    return call


def _count_per_second(
    runtime: Runtime, request: tuple[str, dict[str, str], int], clients: int, seconds: float
) -> float:
    end = time.perf_counter() + seconds

    def ask_until_end(_number: int) -> int:
        count = 0
        with runtime.client(WORKER) as client:
            call = _build_call(client, *request)
            while time.perf_counter() < end:
                call()
                count += 1
        return count

    with ThreadPoolExecutor(clients) as pool:
        return sum(pool.map(ask_until_end, range(clients))) / seconds


@contextmanager
def run_list(lines: int) -> Iterator[Runtime]:
    """Run the deployed Worker, with one list published."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serve_lists([Case("generated", generate_list(folder, lines), [])]) as address:
            variables = (f"--var=ALLOW_PRIVATE_HOSTS={address}", f"--var=ADMIN_TOKEN={TOKEN}")
            runtime = Runtime(folder / "state", "--only", WORKER, *variables).start()
            try:
                with runtime.client(WORKER) as client:
                    _publish(client, f"http://{address}/0")
                yield runtime
            finally:
                runtime.kill()


def _publish(client: httpx.Client, source: str) -> None:
    body = {"configuration": {"name": "Bench", "sources": [{"source": source}]}}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    client.put("/lists/bench", json=body, headers=headers).raise_for_status()
    until(lambda: (client.get("/lists/bench").json()["lastBuild"] or {}).get("outcome") == "published")
