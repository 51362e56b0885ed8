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
    parser.add_argument("--runs", type=int, default=3, help="warm starts to take the median of (3)")
    parser.add_argument("--no-cold", action="store_true", help="leave out the first start in a fresh clone")


def measure(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if not given.no_cold:
            print(f"ready, cold (fresh clone, all installed): {cold(Path(folder) / 'clone'):7.1f} s", flush=True)
        runs = [warm(Path(folder) / "state") for _ in range(given.runs)]
    seconds = [elapsed for elapsed, _ in runs]
    print(f"ready, warm (median of {given.runs}):                    {statistics.median(seconds):7.1f} s")
    sizes = gzip_kib()
    print(f"\n{'Worker':24} {'heap MB':>8} {'gzip KiB':>9}")
    for worker, heap in heaps(runs[0][1]).items():
        print(f"{worker:24} {heap:>8} {sizes[worker]:>9}")


def warm(state: Path) -> tuple[float, list[str]]:
    started = time.monotonic()
    runtime = Runtime(state).start()
    elapsed = time.monotonic() - started
    runtime.stop()
    return elapsed, runtime.lines


def cold(clone: Path) -> float:
    """What a newcomer waits for: clone, set-up and first start."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    started = time.monotonic()
    runtime = Runtime(clone / "state", root=clone).start()
    elapsed = time.monotonic() - started
    runtime.stop()
    return elapsed


def heaps(lines: list[str]) -> dict[str, int]:
    found = [re.match(r"\[(.+)\] booted, heap (\d+) MB", line) for line in lines]
    return {match[1]: int(match[2]) for match in found if match}


def gzip_kib() -> dict[str, str]:
    printed = subprocess.run([ROOT / "scripts/deploy", "--dry-run"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: line.split()[1] for line in printed.splitlines() if line.endswith("gzipped")}
