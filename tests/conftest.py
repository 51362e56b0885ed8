"""What every test shares; nothing here needs a plugin, because the unit tests also run inside Pyodide."""

import asyncio
import inspect
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from shards import Shard

# The Worker's interpreter runs what CPython has searched already: fewer examples do.
EXAMPLES = 25 if sys.platform == "emscripten" else 100
# A deadline, and the check that drawing is not slow, would judge the machine.
COMMON = settings(deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("sluice", COMMON, derandomize=True, max_examples=EXAMPLES)
settings.register_profile("explore", COMMON, max_examples=10 * EXAMPLES)
settings.load_profile("sluice")

# hishel is not among the packages of the Worker's interpreter.
JUDGES = ["*/test_independent_judge.py"]
# The Worker's pydantic knows the project's own models. These need pydantic itself, which runs when a Worker is built.
BUILD_TIME = [
    "*/news/test_replies.py",
    "*/news/test_status.py",
    "*/test_api_docs.py",
    "*/test_bodies.py",
    "*/test_contributing.py",
    "*/test_documents.py",
    "*/test_api_document.py",
]
collect_ignore_glob = BUILD_TIME + JUDGES if sys.platform == "emscripten" else []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shard",
        type=Shard.parse,
        default=Shard(1, 1),
        metavar="K/N",
        help="run the K-th of N parts of the test modules",
    )
    parser.addoption("--skips-to", type=Path, metavar="FILE", help="write each skipped test and its reason there")
    if sys.platform == "emscripten":
        parser.addini(
            "timeout", "pytest-timeout's own; it needs threads or signals, and scripts/local/pyodide.mjs has them"
        )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep this shard's modules, in the order that the seed gave them."""
    shard: Shard = config.getoption("--shard")
    chosen = shard.choose(sorted({_module(item) for item in items}))
    config.hook.pytest_deselected(items=[item for item in items if _module(item) not in chosen])
    items[:] = [item for item in items if _module(item) in chosen]


def _module(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).as_posix()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List what was skipped; after a search with fresh seeds, say how each failure is repeated."""
    if (file := config.getoption("--skips-to")) is not None:
        reports = terminalreporter.getreports("skipped")
        file.write_text("".join(f"{report.nodeid}: {_find_reason(report)}\n" for report in reports))
    if settings.get_current_profile_name() != "explore":
        return
    seed = config.getoption("--hypothesis-seed")
    for report in terminalreporter.getreports("failed") + terminalreporter.getreports("error"):
        terminalreporter.write_line(f"To repeat it: ./scripts/test --explore={seed} '{report.nodeid}'")


def _find_reason(report: pytest.TestReport) -> str:
    """Return the text given to `pytest.skip`, in one line: a skip's representation is its file, line and text."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return " ".join(text.removeprefix("Skipped: ").split())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run `async def` tests."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True
