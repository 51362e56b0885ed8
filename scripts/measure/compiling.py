"""time of HostlistCompiler 2.1.1 and of ours, in CPython and inside workerd, on the same lists in one run"""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from sluice.filters.pipeline import transform

from runtime import ROOT, Runtime

DEFAULT = ["RemoveComments", "Compress", "Validate", "Deduplicate", "TrimLines", "InsertFinalNewLine"]
HERE = Path(__file__).parent
PEER = ROOT / ".cache/hostlist-compiler"
NODE = ROOT / "node_modules/.bin/node"


@dataclass(frozen=True, slots=True)
class Case:
    """A list and what is done with it."""

    name: str
    path: Path
    transformations: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lists", nargs="*", type=Path, metavar="LIST", help="filter lists, or a manifest.json of them")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, the best counts (3)")
    parser.add_argument(
        "-t", "--transformation", action="append", metavar="NAME", help=f"repeatable ({' '.join(DEFAULT)})"
    )


def measure(given: argparse.Namespace) -> None:
    install_peer()
    with tempfile.TemporaryDirectory() as folder:
        made = [
            Case(f"made, {n // 1000}k lines", made_list(Path(folder), n), DEFAULT) for n in (100_000, 200_000, 400_000)
        ]
        with bench_worker(Path(folder)) as client:
            print(f"{'list':32} {'peer ms':>8} {'CPython':>8} {'ratio':>6} {'workerd':>8} {'ratio':>6}")
            for case in [*cases(given), *made]:
                print_row(case, given.runs, client)
        if len(given.lists) > 1:
            with bench_worker(Path(folder)) as client:
                print_heap(cases(given), client)


def cases(given: argparse.Namespace) -> list[Case]:
    return [case for path in given.lists for case in cases_of(path, given.transformation or DEFAULT)]


def cases_of(path: Path, transformations: list[str]) -> Iterator[Case]:
    if path.suffix != ".json":
        yield Case(path.name, path, transformations)
        return
    for case in json.loads(path.read_text())["cases"]:
        yield Case(case["name"], path.parent / case["input"], case["transformations"])


def install_peer() -> None:
    if (PEER / "node_modules").exists():
        return
    shutil.copytree(HERE / "hostlist", PEER, dirs_exist_ok=True)
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=PEER, check=True)


def print_row(case: Case, runs: int, client: httpx.Client) -> None:
    peer_ms, cpython_ms, workerd_ms = peer(case, runs), cpython(case, runs), workerd(case, runs, client)
    ratios = f"{cpython_ms:8.0f} {cpython_ms / peer_ms:6.2f} {workerd_ms:8.0f} {workerd_ms / peer_ms:6.2f}"
    print(f"{case.name[:32]:32} {peer_ms:8.0f} {ratios}", flush=True)


def peer(case: Case, runs: int) -> float:
    command = [NODE, HERE / "hostlist/measure.cjs", case.path.resolve(), str(runs), *case.transformations]
    return float(subprocess.run(command, cwd=PEER, capture_output=True, text=True, check=True).stdout)


def cpython(case: Case, runs: int) -> float:
    lines = case.path.read_text(newline="").replace("\r\n", "\n").split("\n")
    times = []
    for _ in range(runs):
        copy = list(lines)
        started = time.perf_counter()
        transform(copy, case.transformations)
        times.append(time.perf_counter() - started)
    return min(times) * 1000


def workerd(case: Case, runs: int, client: httpx.Client) -> float:
    """Measured from outside, because a Worker's clock stands still while it computes."""
    client.delete("/")
    client.post("/", content=case.path.read_bytes())
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        client.get("/", params={"runs": 1, "name": case.transformations}).raise_for_status()
        times.append(time.perf_counter() - started)
    return min(times) * 1000


def print_heap(all_cases: list[Case], client: httpx.Client) -> None:
    client.delete("/")
    for case in all_cases:
        client.post("/", content=case.path.read_bytes())
    reply = client.get("/", params={"runs": 1, "name": DEFAULT}).raise_for_status()
    print(f"\nall together inside workerd: heap {reply.json()['heap'] / 1e6:.0f} MB")


@contextmanager
def bench_worker(folder: Path) -> Iterator[httpx.Client]:
    runtime = Runtime(folder / "state", "--config", str(HERE / "worker/wrangler.toml")).start()
    try:
        with httpx.Client(base_url=runtime.url, timeout=120) as client:
            yield client
    finally:
        runtime.kill()


def made_list(folder: Path, count: int) -> Path:
    """Rules of all kinds in the proportions of real lists, a fifth of them covered by another."""
    kinds = [
        "||ads{n}.example{m}.com^",
        "0.0.0.0 track{n}.example{m}.net",
        "||example{m}.org^$third-party",
        "! note {n}",
    ]
    path = folder / f"{count}.txt"
    path.write_text("\n".join(kinds[n % 4].format(n=n, m=n // 5) for n in range(count)))
    return path
