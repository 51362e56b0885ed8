"""the largest lists: ten million lines in CPython, and how many lines fit into the memory of a Worker"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from compiling import DEFAULT, Case, run_bench_worker, serve_lists
from runtime import ROOT

FILES = 25
HEAP_LIMIT = 100_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lines", type=int, default=10_000_000, help="lines in CPython (default: 10,000,000)")
    parser.add_argument(
        "--worker-lines",
        type=int,
        nargs="+",
        metavar="COUNT",
        default=[400_000, 500_000, 600_000, 700_000, 800_000],
        help="lists to try inside workerd, the smallest first",
    )


def measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if options.lines:
            measure_command(Path(folder), options.lines)
        measure_worker(Path(folder), options.worker_lines)


def measure_command(folder: Path, count: int) -> None:
    """Compile files of which two in five lines are in an earlier file too, with the command line."""
    paths = [write_file(folder / f"{number}.txt", number, count // FILES) for number in range(FILES)]
    command = [sys.executable, "-m", "sluice", "compile", "-o", str(folder / "out.txt")]
    started_at = time.perf_counter()
    process = subprocess.Popen(
        [*command, *(f"--input={path}" for path in paths)], env={**os.environ, "PYTHONPATH": str(ROOT / "src")}
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit("the compilation failed")
    processor_s, wall_s = usage.ru_utime + usage.ru_stime, time.perf_counter() - started_at
    with (folder / "out.txt").open("rb") as file:
        lines = sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    print(f"{count:,} lines from {FILES} files into {lines:,} lines in CPython: ", end="")
    print(f"{processor_s:.1f} s of processor time, {wall_s:.1f} s, {usage.ru_maxrss / 1e6:.2f} GB", flush=True)


def write_file(path: Path, number: int, count: int) -> Path:
    with path.open("w") as file:
        file.writelines(generate_lines(number * count * 3 // 5, count))
    return path


def generate_lines(first: int, count: int) -> Iterator[str]:
    """Yield lines of about 24 bytes, half of them hosts lines."""
    for number in range(first, first + count):
        name = f"{number * 2_654_435_761 % 4_294_967_296:08x}.example{number % 97}.net"
        yield f"||{name}^\n" if number % 2 else f"0.0.0.0 {name}\n"


def measure_worker(folder: Path, counts: list[int]) -> None:
    """Compile longer and longer lists, each in a fresh Worker, because its heap never shrinks."""
    for count in counts:
        path = folder / "list.txt"
        with path.open("w") as file:
            file.writelines(generate_worker_lines(count))
        heap = measure_heap(folder, Case("list", path, DEFAULT))
        print(
            f"{count:,} lines ({path.stat().st_size / 1e6:.1f} MB) inside workerd: heap {heap / 1e6:.0f} MB", flush=True
        )
        if heap > HEAP_LIMIT:
            return


def generate_worker_lines(count: int) -> Iterator[str]:
    """Yield distinct lines of about 24 bytes, `||x^` and hosts lines in turn."""
    for number in range(count):
        key = number * 2_654_435_761 % 4_294_967_296
        yield f"||{key:08x}.ads{number % 89}.com^\n" if number % 2 else f"0.0.0.0 {key:08x}.t{number % 89}.net\n"


def measure_heap(folder: Path, case: Case) -> int:
    with (
        serve_lists([case]) as address,
        run_bench_worker(folder, "--var", f"ALLOW_PRIVATE_HOSTS={address}") as client,
    ):
        configuration = {"name": "All", "sources": [{"source": f"http://{address}/0"}], "transformations": DEFAULT}
        return int(client.post("/", json=configuration).raise_for_status().json()["heap"])
