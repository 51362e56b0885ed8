"""Runs tests against a changed copy of the tree, each in a process of its own that was forked after the expensive imports."""

import importlib
import json
import multiprocessing
import multiprocessing.connection
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from mutant_tree import copy_tree

PROCESSES: Final = 2
NICENESS: Final = 10
MAX_MEMORY_BYTES: Final = 4 << 30
# What most tests import and no change reaches.
COMMON: Final = (
    "asyncio",
    "feedparser",
    "hypothesis.strategies",
    "idna",
    "publicsuffixlist",
    "pydantic",
    "pytest",
    "sqlite3",
    "unittest.mock",
)
PYTEST: Final = (
    "-x",
    "-q",
    "--no-header",
    "--tb=no",
    "--allow-hosts=127.0.0.1",
    "--randomly-dont-reorganize",
    "-p",
    "no:cacheprovider",
    "-W",
    "ignore::pytest.PytestAssertRewriteWarning",
)
_FORK: Final = multiprocessing.get_context("fork")


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Tests to run, one module after another, over a tree in which one file has another text; without a file over the tree itself."""

    tests: Sequence[Path]
    path: Path | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run found: the test module that failed first, or none; the seconds of those that passed."""

    failed: Path | None = None
    is_timeout: bool = False
    passed_s: dict[Path, float] = field(default_factory=dict)


@dataclass(slots=True)
class _Child:
    run: Run
    process: Any
    results: Connection
    tree: Path
    last: Path  # the test module that began last
    ends_at: float
    passed_s: dict[Path, float] = field(default_factory=dict)

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.join()
        self.results.close()
        shutil.rmtree(self.tree, ignore_errors=True)


class Runner:
    """Runs at most two at a time.

    A run starts no further test module when its budget of processor time is spent, and is ended when one module takes
    longer than the timeout.
    """

    def __init__(self, root: Path, budget_s: float, timeout_s: float) -> None:
        self._root = root
        self._budget_s = budget_s
        self._timeout_s = timeout_s
        self._children: list[_Child] = []
        for name in COMMON:
            importlib.import_module(name)

    @property
    def is_full(self) -> bool:
        return len(self._children) >= PROCESSES

    @property
    def is_idle(self) -> bool:
        return not self._children

    def start(self, run: Run) -> None:
        tree = Path(tempfile.mkdtemp(prefix="mutant-"))
        copy_tree(self._root, tree, run.path, run.source)
        results, sender = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_run_tests, args=(tree, run.tests, self._budget_s, sender))
        sys.stdout.flush()
        process.start()
        sender.close()
        self._children.append(_Child(run, process, results, tree, run.tests[0], time.monotonic() + self._timeout_s))

    def wait(self) -> tuple[Run, Outcome]:
        """Return the next run that ends, and what it found."""
        while True:
            for child in list(self._children):
                if (outcome := self._look_at(child)) is not None:
                    self._children.remove(child)
                    child.end()
                    return child.run, outcome
            left_s = min(child.ends_at for child in self._children) - time.monotonic()
            multiprocessing.connection.wait([child.results for child in self._children], timeout=max(0, left_s))

    def end(self) -> None:
        while self._children:
            self._children.pop().end()

    def _look_at(self, child: _Child) -> Outcome | None:
        """Return the outcome of a run that has one; a process that died has failed in the module that it was running."""
        try:
            while child.results.poll():
                word, path, seconds = child.results.recv()
                match word:
                    case "begin":
                        child.last = path
                        child.ends_at = time.monotonic() + self._timeout_s
                    case "passed":
                        child.passed_s[path] = seconds
                    case "failed":
                        return Outcome(path, passed_s=child.passed_s)
                    case "done":
                        return Outcome(passed_s=child.passed_s)
        except EOFError:
            return Outcome(child.last, passed_s=child.passed_s)
        if time.monotonic() >= child.ends_at:
            return Outcome(child.last, is_timeout=True, passed_s=child.passed_s)
        return None


def _run_tests(tree: Path, tests: Sequence[Path], budget_s: float, results: Connection) -> None:
    """Run in a forked process: one call of pytest for each module, until one fails or the budget is spent."""
    _become_quiet(tree)
    pytest = importlib.import_module("pytest")
    for path in tests:
        module_began_s = time.process_time()
        if module_began_s > budget_s:
            break
        results.send(("begin", path, 0.0))
        code = pytest.main([*PYTEST, str(tree / path)])
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            results.send(("failed", path, 0.0))
            os._exit(0)
        results.send(("passed", path, time.process_time() - module_began_s))
    results.send(("done", tree, 0.0))
    os._exit(0)


def _become_quiet(tree: Path) -> None:
    os.setsid()
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    nothing = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - until the process ends
    sys.dont_write_bytecode = True
    os.chdir(tree)


class Durations:
    """The processor time of each test module when it passed last, kept for the next run."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._seconds: dict[str, float] = {}
        with suppress(OSError, ValueError):
            self._seconds = json.loads(file.read_text())

    def add(self, passed_s: dict[Path, float]) -> None:
        self._seconds |= {path.as_posix(): round(seconds, 2) for path, seconds in passed_s.items()}

    def save(self) -> None:
        self._file.parent.mkdir(exist_ok=True)
        self._file.write_text(json.dumps(self._seconds))

    def get(self, path: Path) -> float:
        return self._seconds.get(path.as_posix(), 1.0)
