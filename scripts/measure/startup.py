"""time to ready cold and warm, heap per Worker after import, gzip size per Worker"""

import argparse
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from runtime import ROOT, Runtime


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=int, default=3, help="number of warm starts, of which the median is printed (default: 3)"
    )
    parser.add_argument("--no-cold", action="store_true", help="skip the first start in a fresh clone")


def measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if not options.no_cold:
            print(
                f"ready, cold (fresh clone, all installed): {measure_cold_start(Path(folder) / 'clone'):7.1f} s",
                flush=True,
            )
        runs = [measure_warm_start(Path(folder) / "state") for _ in range(options.runs)]
    seconds = [elapsed for elapsed, _ in runs]
    print(f"ready, warm (median of {options.runs}):                    {statistics.median(seconds):7.1f} s")
    sizes = measure_gzip_kib()
    print(f"\n{'Worker':24} {'heap MB':>8} {'gzip KiB':>9}")
    for worker, heap in read_heap_sizes(runs[0][1]).items():
        print(f"{worker:24} {heap:>8} {sizes[worker]:>9}")


def measure_warm_start(state: Path) -> tuple[float, list[str]]:
    started = time.monotonic()
    runtime = Runtime(state).start()
    elapsed = time.monotonic() - started
    runtime.stop()
    return elapsed, runtime.lines


def measure_cold_start(clone: Path) -> float:
    """Return the seconds of the first start after a fresh clone, with the set-up."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    started = time.monotonic()
    runtime = Runtime(clone / "state", root=clone).start()
    elapsed = time.monotonic() - started
    runtime.stop()
    return elapsed


def read_heap_sizes(lines: list[str]) -> dict[str, int]:
    matches = [re.match(r"\[(.+)\] booted, heap (\d+) MB", line) for line in lines]
    return {match[1]: int(match[2]) for match in matches if match}


def measure_gzip_kib() -> dict[str, str]:
    output = subprocess.run([ROOT / "scripts/deploy", "--dry-run"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: line.split()[1] for line in output.splitlines() if line.endswith("gzipped")}
