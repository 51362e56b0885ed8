"""The shape that keeps every feature testable in plain CPython."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PLATFORM = {"js", "pyodide", "workers"}
# Clock, chance and environment are arguments.
AMBIENT = {"os", "random", "secrets", "socket", "subprocess", "threading", "time", "uuid"}
CONFIGS = sorted(ROOT.glob("wrangler*.toml"))
# A Worker with many classes has more than one module of them.
ENTRIES = sorted(SOURCE.glob("*.py"))
MODULES = sorted(SOURCE.rglob("*.py"))
# What the command line needs of the machine it runs on; no Worker imports it.
COMMAND_LINE = sorted((SOURCE / "sluice/cli").rglob("*.py"))
# Where a service is put together from its feature package and its bindings: they know both sides and decide nothing.
WIRING = sorted((SOURCE / "sluice/workers").rglob("*.py"))
FEATURES = [path for path in MODULES if "platform" not in path.parts and path not in {*ENTRIES, *COMMAND_LINE, *WIRING}]


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FEATURES, ids=name_of)
def test_features_know_no_platform(path: Path):
    """A feature imports nothing of the platform, and nothing that tells the time, draws lots or reads the environment."""
    roots = {name.partition(".")[0] for name in imported(path)}
    assert not roots & (PLATFORM | AMBIENT)
    assert not any(name.startswith(("sluice.platform", "sluice.workers")) for name in imported(path))


@pytest.mark.parametrize("path", WIRING, ids=name_of)
def test_wiring_stays_outside_the_workers_module(path: Path):
    """Wiring reaches the platform through its adapters alone."""
    assert not {name.partition(".")[0] for name in imported(path)} & PLATFORM


@pytest.mark.parametrize("path", [path for path in MODULES if "platform" in path.parts], ids=name_of)
def test_platform_knows_no_feature(path: Path):
    """An adapter imports the web layer and the error tree at most."""
    ours = {name for name in imported(path) if name.startswith("sluice.")}
    assert all(name.startswith(("sluice.core", "sluice.platform", "sluice.web")) for name in ours)


@pytest.mark.parametrize("path", [path for path in MODULES if path not in COMMAND_LINE], ids=name_of)
def test_workers_do_without_the_command_line(path: Path):
    """Nothing that runs in a Worker imports the command line."""
    assert path.name == "__main__.py" or not any(name.startswith("sluice.cli") for name in imported(path))


@pytest.mark.parametrize("path", ENTRIES, ids=name_of)
def test_entry_modules_are_tables_of_contents(path: Path):
    """An entry module stays short; what is worth more lines is worth a module of its own."""
    assert len(path.read_text().splitlines()) <= 60


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_files_hold_one_idea(path: Path):
    """No file grows beyond what one can read at once."""
    assert len(path.read_text().splitlines()) <= 400


def test_configs_agree():
    """All Workers share one compatibility date and one set of flags."""
    configs = [tomllib.loads(path.read_text()) for path in CONFIGS]
    assert len(configs) == 6
    assert len({(config["compatibility_date"], *config["compatibility_flags"]) for config in configs}) == 1


@pytest.mark.parametrize("path", CONFIGS, ids=name_of)
def test_entry_knows_its_name(path: Path):
    """The name that a Worker tells is the name it is deployed under."""
    config = tomllib.loads(path.read_text())
    assert f'NAME = "{config["name"]}"' in (ROOT / config["main"]).read_text()


@pytest.mark.parametrize("path", CONFIGS, ids=name_of)
def test_everyone_is_tailed(path: Path):
    """Every Worker but the tail itself sends its events to sluice-tail."""
    config = tomllib.loads(path.read_text())
    expected = [] if config["name"] == "sluice-tail" else [{"service": "sluice-tail"}]
    assert config.get("tail_consumers", []) == expected


def test_version():
    """The package tells the version it is published under."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f'__version__ = "{project["version"]}"' in (SOURCE / "sluice/__init__.py").read_text()
