"""what each Worker imports: processor time beside a probe, modules, heap, upload size; the command line; the time to ready"""

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from runtime import ROOT, Runtime

PROBE = Path(__file__).parent / "startup_worker/probe_startup.py"
PYDANTIC = ".cache/pydantic"  # as it was installed; the Workers get one that loads their models
MOST_EXPENSIVE = 10
COMMAND_RUNS = 15  # of each process, in turns, of which the median counts
BASELINE = "import pydantic, asyncio"


@dataclass(frozen=True, slots=True)
class Imports:
    """The top level of one Worker; `own_s` is the time of each module without that of its imports."""

    import_cpu_s: float
    modules: list[str]
    own_s: dict[str, float]
    heap_mb: float

    @classmethod
    def measure(cls, main: Path) -> Self:
        """Import an entry module in a fresh interpreter, from sources without compiled files."""
        command = ["node_modules/.bin/node", "scripts/local/pyodide.mjs", "imports", main.stem, str(main.parent)]
        packages = [PYDANTIC, "python_modules"] if main == PROBE else ["python_modules"]
        done = subprocess.run([*command, *packages], cwd=ROOT, capture_output=True, text=True, check=True)
        return cls(**json.loads(done.stdout))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--imports", type=int, default=5, help="imports of each Worker, the best of which counts (5)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures of the imports to this file")
    parser.add_argument("--runs", type=int, default=3, help="warm starts, the median of which is printed (3)")
    parser.add_argument("--no-ready", action="store_true", help="skip the time to ready, cold and warm")
    parser.add_argument("--no-cold", action="store_true", help="skip the first start in a fresh clone")


def measure(options: argparse.Namespace) -> None:
    probe, workers = measure_imports(options.imports)
    sizes = measure_gzip_kib()
    print_imports(probe, workers, sizes)
    if options.json:
        options.json.write_text(json.dumps(to_json(probe, workers, sizes), indent=2) + "\n")
    print_command_line()
    if not options.no_ready:
        print_time_to_ready(options)


def measure_imports(times: int) -> tuple[Imports, dict[str, Imports]]:
    """Return the best of several imports of the probe and of each Worker, taken in turns."""
    mains = {"": PROBE} | read_main_modules()
    rounds = [{name: Imports.measure(main) for name, main in mains.items()} for _ in range(times)]
    best = {name: min((each[name] for each in rounds), key=lambda found: found.import_cpu_s) for name in mains}
    return best.pop(""), best


def read_main_modules() -> dict[str, Path]:
    configs = [tomllib.loads(path.read_text()) for path in sorted(ROOT.glob("wrangler*.toml"))]
    return {config["name"]: ROOT / config["main"] for config in configs}


def print_imports(probe: Imports, workers: dict[str, Imports], sizes: dict[str, int]) -> None:
    print(f"probe (the SDK, pydantic, one model): {probe.import_cpu_s:.2f} s of processor time to import")
    print(f"\n{'Worker':24} {'import s':>8} {'probes':>7} {'modules':>8} {'heap MB':>8} {'gzip KiB':>9}")
    for name, found in workers.items():
        ratio = found.import_cpu_s / probe.import_cpu_s
        times = f"{found.import_cpu_s:8.2f} {ratio:7.2f}"
        print(f"{name:24} {times} {len(found.modules):8} {found.heap_mb:8.1f} {sizes[name]:9}")
    for name, found in workers.items():
        print(f"\n{name}, most expensive modules, without what they import:")
        for module, own_s in sorted(found.own_s.items(), key=lambda item: -item[1])[:MOST_EXPENSIVE]:
            print(f"  {own_s * 1000:6.1f} ms  {module}")


def to_json(probe: Imports, workers: dict[str, Imports], sizes: dict[str, int]) -> dict[str, Any]:
    return {
        "probe": {"import_cpu_s": probe.import_cpu_s},
        "workers": {
            name: {
                "import_cpu_s": found.import_cpu_s,
                "modules": len(found.modules),
                "heap_mb": found.heap_mb,
                "gzip_kib": sizes[name],
            }
            for name, found in workers.items()
        },
    }


def measure_gzip_kib() -> dict[str, int]:
    output = subprocess.run([ROOT / "scripts/deploy", "--dry-run"], capture_output=True, text=True, check=True).stdout
    return {line.split()[0]: int(line.split()[1]) for line in output.splitlines() if line.endswith("gzipped")}


def print_command_line() -> None:
    """Compare the processor time of a short compilation with that of the imports which any such program needs."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "small.txt").write_text("||ads.example.com^\n0.0.0.0 track.example.net\n||co.uk^\n")
        compilation = [str(ROOT / "scripts/sluice"), "compile", "-i", "small.txt", "-o", "list.txt"]
        commands = {"sluice": compilation, "baseline": [str(ROOT / ".venv/bin/python"), "-c", BASELINE]}
        rounds = [{name: measure_cpu_s(each, folder) for name, each in commands.items()} for _ in range(COMMAND_RUNS)]
    own_s, baseline_s = (statistics.median(each[name] for each in rounds) for name in commands)
    print(
        f"\ncommand line, a small file: {own_s:.3f} s of processor time, {own_s / baseline_s:.2f} of {BASELINE!r}",
        flush=True,
    )


def measure_cpu_s(command: list[str], folder: str) -> float:
    """Return the processor time of a process and of those that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def print_time_to_ready(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        if not options.no_cold:
            cold_s = measure_cold_start(Path(folder) / "clone")
            print(f"\nready, cold (fresh clone, all installed): {cold_s:7.1f} s", flush=True)
        seconds = [measure_warm_start(Path(folder) / "state") for _ in range(options.runs)]
    print(f"ready, warm (median of {options.runs}):                    {statistics.median(seconds):7.1f} s")


def measure_warm_start(state: Path) -> float:
    started = time.monotonic()
    runtime = Runtime(state).start()
    elapsed = time.monotonic() - started
    runtime.stop()
    return elapsed


def measure_cold_start(clone: Path) -> float:
    """Return the seconds of the first start after a fresh clone, with the set-up."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    started = time.monotonic()
    runtime = Runtime(clone / "state", root=clone).start()
    elapsed = time.monotonic() - started
    runtime.stop()
    return elapsed
