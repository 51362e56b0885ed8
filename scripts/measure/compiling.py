"""time of HostlistCompiler 2.1.1 and of sluice, in CPython and inside workerd, on the same lists in one run"""

import argparse
import http.server
import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from runtime import ROOT, Runtime
from sluice.core.filters.pipeline import transform

DEFAULT = ["RemoveComments", "Compress", "Validate", "Deduplicate", "TrimLines", "InsertFinalNewLine"]
HERE = Path(__file__).parent
PATTERN_FILES = ("exclusions_sources", "inclusions_sources")
PEER = ROOT / ".cache/hostlist-compiler"
NODE = ROOT / "node_modules/.bin/node"


@dataclass(frozen=True, slots=True)
class Case:
    """A list and the transformations to apply."""

    name: str
    path: Path
    transformations: list[str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "lists", nargs="*", type=Path, metavar="LIST", help="filter lists, a manifest.json of them, or configurations"
    )
    parser.add_argument("--runs", type=int, default=3, help="runs of each case, of which the best counts (default: 3)")
    parser.add_argument(
        "-t",
        "--transformation",
        action="append",
        metavar="NAME",
        help=f"transformation to apply; repeatable (default: {' '.join(DEFAULT)})",
    )


def measure(options: argparse.Namespace) -> None:
    install_peer()
    with tempfile.TemporaryDirectory() as folder:
        generated = [
            Case(f"generated, {n // 1000}k lines", generate_list(Path(folder), n), DEFAULT)
            for n in (100_000, 200_000, 400_000)
        ]
        cases = [*select_cases(options), *generated]
        width = max(len(case.name) for case in cases)
        with run_bench_worker(Path(folder)) as client:
            print(f"{'list':{width}} {'peer ms':>8} {'CPython':>8} {'ratio':>6} {'workerd':>8} {'ratio':>6}")
            for case in cases:
                print_row(case, options.runs, client, width)
        print_heap(select_cases(options) or generated[:1], Path(folder))
        print_commands(options, Path(folder))


def select_cases(options: argparse.Namespace) -> list[Case]:
    paths = [path for path in options.lists if not is_configuration(path)]
    return [case for path in paths for case in read_cases(path, options.transformation or DEFAULT)]


def is_configuration(path: Path) -> bool:
    return path.suffix == ".json" and "sources" in json.loads(path.read_text())


def read_cases(path: Path, transformations: list[str]) -> Iterator[Case]:
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


def print_row(case: Case, runs: int, client: httpx.Client, width: int) -> None:
    peer_ms, cpython_ms, workerd_ms = (
        measure_peer(case, runs),
        measure_cpython(case, runs),
        measure_workerd(case, runs, client),
    )
    ratios = f"{cpython_ms:8.0f} {cpython_ms / peer_ms:6.2f} {workerd_ms:8.0f} {workerd_ms / peer_ms:6.2f}"
    print(f"{case.name:{width}} {peer_ms:8.0f} {ratios}", flush=True)


def measure_peer(case: Case, runs: int) -> float:
    script = [str(NODE), str(HERE / "hostlist/measure.cjs")]
    command = [*script, str(case.path.resolve()), str(runs), *case.transformations]
    return float(subprocess.run(command, cwd=PEER, capture_output=True, text=True, check=True).stdout)


def measure_cpython(case: Case, runs: int) -> float:
    lines = case.path.read_bytes().decode().replace("\r\n", "\n").split("\n")
    times = []
    for _ in range(runs):
        copy = list(lines)
        started_at = time.perf_counter()
        transform(copy, case.transformations)
        times.append(time.perf_counter() - started_at)
    return min(times) * 1000


def measure_workerd(case: Case, runs: int, client: httpx.Client) -> float:
    """Measure from outside, because the clock of a Worker does not advance while it computes."""
    client.put("/", content=case.path.read_bytes()).raise_for_status()
    times = []
    for _ in range(runs):
        started_at = time.perf_counter()
        client.get("/", params={"name": case.transformations}).raise_for_status()
        times.append(time.perf_counter() - started_at)
    return min(times) * 1000


def print_commands(options: argparse.Namespace, folder: Path) -> None:
    """Measure both command lines as processes, start included: each list alone, and each configuration."""
    commands = {path.name: ["-i", str(path.resolve())] for path in options.lists if path.suffix != ".json"}
    for path in filter(is_configuration, options.lists):
        commands[path.name] = ["-c", str(write_local_configuration(path, folder))]
    for name, arguments in commands.items():
        peer_s = measure_command(
            [str(NODE), str(PEER / "node_modules/.bin/hostlist-compiler"), *arguments], folder, options.runs
        )
        own_s = measure_command([str(ROOT / "scripts/sluice"), "compile", *arguments], folder, options.runs)
        print(
            f"command line, {name}: HostlistCompiler {peer_s:.2f} s, sluice {own_s:.2f} s, ratio {own_s / peer_s:.2f}",
            flush=True,
        )


def measure_command(command: list[str], folder: Path, runs: int) -> float:
    times = []
    for _ in range(runs):
        started_at = time.perf_counter()
        subprocess.run([*command, "-o", str(folder / "out.txt")], cwd=folder, capture_output=True, check=True)
        times.append(time.perf_counter() - started_at)
    return min(times)


def write_local_configuration(path: Path, folder: Path) -> Path:
    """Replace each source by a file beside the configuration whose name has a word of the source's name; drop the others.

    A published configuration names addresses; its exclusions and its own rules stand beside it, as PREFIX_exclusions.txt.
    """
    prefix = path.name.removesuffix("configuration.json")
    configuration = json.loads(path.read_text())
    files = [file for file in sorted(path.parent.iterdir()) if file.suffix in {".txt", ".hosts"}]
    unused = {file: set(file.stem.lower().split("_")) for file in files if not file.name.startswith(prefix)}
    sources = []
    for source in configuration["sources"]:
        words = set(source["name"].lower().replace("-", "").split())
        own = path.parent / f"{prefix}{Path(source['source']).name}"
        match = own if own.exists() else max(unused, key=lambda file: len(unused[file] & words), default=None)
        if match == own or (match and len(unused[match] & words) >= min(2, len(unused[match]))):
            unused.pop(match, None)
            sources.append({**source, "source": str(match)})
    configuration["sources"] = sources
    for part in (configuration, *sources):
        part.update(
            {
                key: [str(path.parent / f"{prefix}{Path(file).name}") for file in part[key]]
                for key in PATTERN_FILES
                if key in part
            }
        )
    local = folder / path.name
    local.write_text(json.dumps(configuration))
    return local


def print_heap(all_cases: list[Case], folder: Path) -> None:
    """Compile all lists into one in a fresh Worker, which downloads them; a heap never shrinks, so this is the maximum."""
    with (
        serve_lists(all_cases) as address,
        run_bench_worker(folder, "--var", f"ALLOW_PRIVATE_HOSTS={address}") as client,
    ):
        sources = [{"source": f"http://{address}/{number}"} for number in range(len(all_cases))]
        configuration = {"name": "All", "sources": sources, "transformations": DEFAULT}
        reply = client.post("/", json=configuration).raise_for_status().json()
    heap, lines = reply["heap"] / 1e6, reply["lines"]
    print(f"\nall compiled into one list of {lines} lines inside workerd: heap {heap:.0f} MB")


@contextmanager
def serve_lists(all_cases: list[Case]) -> Iterator[str]:
    """Serve the lists on a loopback address, by number."""

    class Lists(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            content = all_cases[int(self.path[1:])].path.read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_args: object) -> None:
            """Log nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lists) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def run_bench_worker(folder: Path, *arguments: str) -> Iterator[httpx.Client]:
    runtime = Runtime(folder / "state", "--config", str(HERE / "compile_worker/wrangler.toml"), *arguments).start()
    try:
        with httpx.Client(base_url=runtime.url, timeout=120) as client:
            yield client
    finally:
        runtime.kill()


def generate_list(folder: Path, count: int) -> Path:
    """Write rules of all kinds in the proportions of real lists, a fifth of them covered by another."""
    kinds = [
        "||ads{n}.example{m}.com^",
        "0.0.0.0 track{n}.example{m}.net",
        "||example{m}.org^$third-party",
        "! note {n}",
    ]
    path = folder / f"{count}.txt"
    path.write_text("\n".join(kinds[n % 4].format(n=n, m=n // 5) for n in range(count)))
    return path
