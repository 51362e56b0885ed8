"""Runs seeds from the command line: one verbosely, or fresh ones until the time is up."""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator

from simulation.compiler import COMPILER
from simulation.news import NEWS
from simulation.preload import PRELOAD
from simulation.shrinking import shrink
from simulation.simulation import Report, Scenario, run_seed

SCENARIOS: dict[str, Scenario] = {each.name: each for each in (PRELOAD, NEWS, COMPILER)}
PROGRESS_S = 30.0
_UNITS = {"s": 1, "m": 60, "h": 3600}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./scripts/test", description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--simulate", metavar="SEED", help="one seed, or SCENARIO:SEED, with its history")
    what.add_argument("--simulate-for", metavar="TIME", type=read_seconds, help="fresh seeds for 90s, 30m or 2h")
    what.add_argument("--simulate-range", metavar="SEED-SEED", help="these seeds")
    what.add_argument("--first-of", metavar="SEED-SEED", help="the first of these seeds that fails, in one line")
    parser.add_argument("--scenario", choices=list(SCENARIOS), action="append")
    options = parser.parse_args()
    names = options.scenario or list(SCENARIOS)
    if options.simulate:
        return _run_one(names, options.simulate)
    if options.first_of:
        return _find_first(names, _read_range(options.first_of))
    if options.simulate_range:
        return _search(names, iter(_read_range(options.simulate_range)), until=None)
    return _search(names, _draw_seeds(), until=time.monotonic() + options.simulate_for)


def read_seconds(text: str) -> float:
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "s")
    return float(number) * _UNITS[unit]


def _read_range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last) + 1)


def _draw_seeds() -> Iterator[int]:
    chance = random.SystemRandom()
    while True:
        yield chance.randrange(2**32)


def _run_one(names: list[str], text: str) -> int:
    scenario, _, seed = text.rpartition(":")
    reports = [run_seed(SCENARIOS[name], int(seed)) for name in ([scenario] if scenario else names)]
    for report in reports:
        print(*report.history, sep="\n")
        print(f"{report.steps} steps, {report.elapsed_s:.0f} s of the virtual clock; {_describe_counts(report.counts)}")
    return 1 if any(report.violation for report in reports) else 0


def _find_first(names: list[str], seeds: range) -> int:
    for seed in seeds:
        for name in names:
            if violation := run_seed(SCENARIOS[name], seed).violation:
                print(seed, str(violation).replace("\n", " "))
                return 1
    return 0


def _search(names: list[str], seeds: Iterator[int], *, until: float | None) -> int:
    """Run seed after seed; print what fails, shrunk, and how often what happened."""
    counts: Counter[str] = Counter()
    began_at = reported_at = time.monotonic()
    runs, failures = 0, 0
    for seed in seeds:
        for name in names:
            report = run_seed(SCENARIOS[name], seed)
            runs, counts = runs + 1, counts + report.counts
            if report.violation:
                failures += 1
                print_failure(SCENARIOS[name], report)
        now = time.monotonic()
        if now - reported_at > PROGRESS_S:
            reported_at = now
            print(f"{runs} runs, {runs / (now - began_at):.1f} a second, {failures} failed", flush=True)
        if until is not None and now > until:
            break
    print(f"{runs} runs, {runs / (time.monotonic() - began_at):.1f} a second, {failures} failed")
    print(_describe_counts(counts))
    return 1 if failures else 0


def print_failure(scenario: Scenario, report: Report, *, budget_s: float = 60.0) -> None:
    """Print the shortest history that could be found in the time, and how to repeat the whole one."""
    small = shrink(scenario, report, budget_s=budget_s)
    print(f"\nFAILED {scenario.name}:{report.seed} {report.violation}")
    print(f"{len(report.actions)} actions and {len(report.faults)} faults, of which these are enough:")
    print(*(f"  {each.at:9.3f} {each}" for each in small.actions), sep="\n")
    print(*(f"  {each.at:9.3f} {each.name}" for each in small.faults), sep="\n")
    print("What then happens:")
    print(*small.history[-60:], sep="\n")
    print(f"To repeat it all: ./scripts/test --simulate {scenario.name}:{report.seed}\n", flush=True)


def _describe_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
