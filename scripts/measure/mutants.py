"""which small changes of the core and the services no unit test notices: a share by package, and each one that survived"""

import argparse
import compileall
import random
import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mutant_edits import Edit, find_edits, makes_other_program
from mutant_tests import ImportGraph

if TYPE_CHECKING:
    from mutant_runs import Outcome, Run

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = Path("src/sluice")
PACKAGES: Final = ("core", "services")
BUILT: Final = ("core/news/vocabulary", "core/filters/syntax/public_suffixes.py")
EQUIVALENTS: Final = Path(__file__).with_name("mutants_equivalent.txt")
DURATIONS: Final = ROOT / ".cache/mutants.json"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit of one file, whose path is below src/sluice."""

    path: Path
    edit: Edit
    source: str  # without the edit
    text: str  # the changed lines, before and after

    @property
    def line(self) -> int:
        return self.edit.find_line(self.source)

    @property
    def package(self) -> str:
        return "/".join(self.path.parts[:3][: len(self.path.parts) - 1])

    def __str__(self) -> str:
        return f"{self.path.as_posix()}:{self.line}: {self.text}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--count", type=int, default=200, help="changes to try (200)")
    parser.add_argument("--seed", type=int, default=1, help="which of all changes are tried, and in what order (1)")
    parser.add_argument(
        "--package",
        action="append",
        metavar="PATH",
        help="only what is below this path in src/sluice, such as core/filters; may be given several times",
    )
    parser.add_argument("--minutes", type=float, default=60, help="start no further change after these (60)")
    parser.add_argument("--list", action="store_true", help="print the changes and the tests they get, and run none")
    parser.add_argument("--steps", type=int, default=5, help="imports between a test module and what it tests (5)")
    parser.add_argument(
        "--tests-s",
        type=float,
        default=15,
        help="start no further test module when its tests took these seconds of processor time (15)",
    )
    parser.add_argument(
        "--timeout", type=float, default=90, help="seconds of one test module after which a change counts as found (90)"
    )


def measure(options: argparse.Namespace) -> None:
    named = read_equivalents(EQUIVALENTS.read_text(encoding="utf-8"))
    everything = find_mutants(ROOT / SOURCES, options.package or PACKAGES)
    mutants = choose_mutants(everything, named, options.count, options.seed)
    graph = ImportGraph.read(ROOT)
    print(f"{len(everything):,} places, {len(mutants)} chosen by the seed {options.seed}", flush=True)
    if options.list:
        for mutant in mutants:
            tests = graph.find_tests(SOURCES / mutant.path, options.steps)
            print(f"{mutant} [{', '.join(path.stem for _, path in tests[:3])}, {len(tests)} in all]")
        return
    hunt = Hunt(graph, options)
    try:
        hunt.run(mutants)
    except KeyboardInterrupt:
        print("\nEnded early.")
    finally:
        hunt.end()
    print(report(hunt.found, hunt.survived, hunt.seconds))
    print(f"\nTo repeat it: {name_command(options)}")


def name_command(options: argparse.Namespace) -> str:
    packages = "".join(f" --package {each}" for each in options.package or ())
    return f"./scripts/bench mutants --count {options.count} --seed {options.seed}{packages}"


def find_mutants(sources: Path, packages: Sequence[str]) -> list[Mutant]:
    """Return all changes of the sources below these paths, in their order."""
    mutants: list[Mutant] = []
    for path in sorted(sources.rglob("*.py")):
        below = path.relative_to(sources)
        if _is_below(below, packages) and not _is_below(below, BUILT):
            mutants += list_mutants(below, path.read_text(encoding="utf-8"))
    return mutants


def _is_below(path: Path, folders: Sequence[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def list_mutants(path: Path, source: str) -> list[Mutant]:
    return [Mutant(path, edit, source, edit.describe(source)) for edit in find_edits(source)]


def choose_mutants(mutants: Sequence[Mutant], equivalents: set[tuple[str, str]], count: int, seed: int) -> list[Mutant]:
    """Return some of them, the same for the same seed, without those that change nothing a test could notice.

    The kinds take turns, so that the many constants leave places for the others.
    """
    shuffled = random.Random(seed).sample(mutants, len(mutants))  # noqa: S311 - nothing is secret
    seen: Counter[str] = Counter()
    turns: list[tuple[int, Mutant]] = []
    for mutant in shuffled:
        turns.append((seen[mutant.edit.kind], mutant))
        seen[mutant.edit.kind] += 1
    ordered = (mutant for _, mutant in sorted(turns, key=lambda turn: turn[0]))
    left = (mutant for mutant in ordered if (mutant.path.as_posix(), mutant.text) not in equivalents)
    return list(islice((mutant for mutant in left if makes_other_program(mutant.edit, mutant.source)), count))


def read_equivalents(text: str) -> set[tuple[str, str]]:
    """Return the file and the change of each line; the reason, its third column, is for the reader."""
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    for row in rows:
        if len(row) != 3 or not all(map(str.strip, row)):
            raise ValueError(f"A line needs a file, a change and a reason, with tabs between them: {' '.join(row)!r}")
    return {(path, change) for path, change, _ in rows}


class Hunt:
    """Tries changes; a test module that fails with the change must pass without it."""

    def __init__(self, graph: ImportGraph, options: argparse.Namespace) -> None:
        from mutant_runs import Durations, Run, Runner  # noqa: PLC0415 - forks, which not every interpreter can

        self.found: list[Mutant] = []
        self.survived: list[Mutant] = []
        self.seconds = 0.0
        self._began_s = time.monotonic()
        self._graph = graph
        self._options = options
        self._runner = Runner(ROOT, options.tests_s, options.timeout)
        self._durations = Durations(DURATIONS)
        self._sound: set[Path] = set()
        self._make_run = Run
        self._checks: deque[Run] = deque()
        self._running: dict[Run, Mutant | None] = {}

    def run(self, mutants: Sequence[Mutant]) -> None:
        """Try the changes in their order until all are tried or the time is up."""
        for folder in ("src/sluice", "tests/unit", "tests/fakes"):
            compileall.compile_dir(ROOT / folder, quiet=2)
        waiting = deque(mutants)
        while self._checks or waiting or not self._runner.is_idle:
            if time.monotonic() - self._began_s > self._options.minutes * 60:
                waiting.clear()
            while not self._runner.is_full and (self._checks or waiting):
                if self._checks:
                    self._start(self._checks.popleft(), None)
                else:
                    self._try(waiting.popleft())
            if not self._runner.is_idle:
                self._settle(*self._runner.wait())

    def _try(self, mutant: Mutant) -> None:
        if tests := self._choose_tests(mutant):
            self._start(self._make_run(tests, SOURCES / mutant.path, mutant.edit.apply(mutant.source)), mutant)
        else:
            self.survived.append(mutant)

    def _start(self, run: "Run", mutant: Mutant | None) -> None:
        self._running[run] = mutant
        self._runner.start(run)

    def _settle(self, run: "Run", outcome: "Outcome") -> None:
        self._durations.add(outcome.passed_s)
        self._sound |= outcome.passed_s.keys()
        mutant = self._running.pop(run)
        if mutant is None:
            if outcome.failed:
                raise SystemExit(f"{outcome.failed} fails without any change: mend that first.")
            return
        (self.found if outcome.failed else self.survived).append(mutant)
        if outcome.failed and not outcome.is_timeout and outcome.failed not in self._sound:
            self._sound.add(outcome.failed)
            self._checks.append(self._make_run((outcome.failed,)))

    def end(self) -> None:
        self._runner.end()
        self._durations.save()
        self.seconds = time.monotonic() - self._began_s

    def _choose_tests(self, mutant: Mutant) -> tuple[Path, ...]:
        """Return the tests of its module: those of its own service first, of these near and cheap ones."""
        tests = self._graph.find_tests(SOURCES / mutant.path, self._options.steps)
        service = mutant.path.parts[:2]

        def rank(test: tuple[int, Path]) -> tuple[bool, float, Path]:
            steps, path = test
            return path.parts[2:4] != service, steps * (self._durations.get(path) + 0.5), path

        return tuple(path for _, path in sorted(tests, key=rank))


def report(found: Sequence[Mutant], survived: Sequence[Mutant], seconds: float) -> str:
    """Return who survived, and a table of the packages."""
    lines = [f"survived: {mutant}" for mutant in sorted(survived, key=lambda each: (each.path, each.line, each.text))]
    tried = Counter(mutant.package for mutant in (*found, *survived))
    caught = Counter(mutant.package for mutant in found)
    lines += ["", f"{'package':32} {'tried':>6} {'found':>6} {'share':>6}"]
    lines += [_format_row(package, tried[package], caught[package]) for package in sorted(tried)]
    lines += [_format_row("all", tried.total(), caught.total()), "", f"{seconds / 60:.1f} minutes"]
    return "\n".join(lines)


def _format_row(package: str, tried: int, caught: int) -> str:
    return f"{package:32} {tried:6} {caught:6} {caught / max(1, tried):6.0%}"
