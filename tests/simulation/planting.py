"""Defects planted on purpose: what the simulation must find, so that its silence means something.

`PYTHONPATH=src:tests .venv/bin/python -m simulation.planting [--seeds 60] [NAME …]` patches a copy of `src` and runs seeds against it until
one fails. A patch replaces a text that occurs once in its file; a test says so, so that none of them rots.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from simulation.compiler_plants import COMPILER_PLANTS
from simulation.news_plants import NEWS_PLANTS
from simulation.preload_plants import PRELOAD_PLANTS

SOURCE = Path(__file__).parents[2] / "src"
TESTS = Path(__file__).parents[1]


class Finding(NamedTuple):
    seed: int | None  # the first that fails; None: none does
    check: str
    spent_s: float


def plant(name: str, folder: Path) -> None:
    """Write a copy of the sources with this defect."""
    each = PLANTS[name]
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in each.patches:
        path = folder / "sluice" / file
        text = path.read_text()
        if text.count(old) != 1:
            raise ValueError(f"{name}: {old!r} occurs {text.count(old)} times in {file}")
        path.write_text(text.replace(old, new))


def search(name: str, seeds: int) -> Finding:
    """Run seeds against the planted defect until one fails."""
    began_at = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        # The tests find the migrations beside the sources.
        source = Path(folder) / "src"
        plant(name, source)
        environment = os.environ | {"PYTHONPATH": f"{source}:{TESTS}", "PYTHONHASHSEED": "0"}
        scenario = PLANTS[name].scenario
        command = [sys.executable, "-m", "simulation.run", "--scenario", scenario, "--first-of", f"0-{seeds - 1}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1}:
        raise RuntimeError(done.stderr)
    spent_s = time.monotonic() - began_at
    if not done.returncode:
        return Finding(None, "", spent_s)
    seed, _, text = done.stdout.strip().splitlines()[-1].partition(" ")
    return Finding(int(seed), text, spent_s)


PLANTS = {each.name: each for each in (*PRELOAD_PLANTS, *NEWS_PLANTS, *COMPILER_PLANTS)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=60)
    options = parser.parse_args()
    names = options.names or list(PLANTS)
    missed = 0
    for name in names:
        seed, check, spent_s = search(name, options.seeds)
        missed += seed is None
        outcome = f"MISSED in {options.seeds} seeds" if seed is None else f"found by seed {seed}: {check[:110]}"
        print(f"{name}: {outcome} ({spent_s:.0f} s)", flush=True)
    print(f"{len(names) - missed} of {len(names)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
