"""Help is printed before anything is installed."""

import re
import subprocess
from pathlib import Path

import pytest

from cli.project_copy import copy_project
from runtime import PATIENCE_S, ROOT


@pytest.fixture(name="fresh", scope="module")
def _fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "a clone"
    copy_project(folder)
    return folder


def ask(fresh: Path, *command: str) -> str:
    """Return what a script prints in a fresh clone; it may make nothing there."""
    before = set(fresh.rglob("*"))
    done = subprocess.run(
        [fresh / "scripts" / command[0], *command[1:]],
        cwd=fresh.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {path for path in set(fresh.rglob("*")) - before if "__pycache__" not in path.parts} == set()
    return done.stdout


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("--port", "9000", "--help")])
def test_run(fresh: Path, arguments: tuple[str, ...]):
    """./scripts/run lists its options."""
    assert ask(fresh, "run", *arguments).startswith("Usage: ./scripts/run [options]\n")


def test_every_option_of_run_is_listed(fresh: Path):
    """The help lists what is understood, and nothing else."""
    listed = re.findall(r"^  --([a-z-]+)", ask(fresh, "run", "--help"), re.MULTILINE)
    source = (ROOT / "scripts/local/serve.mjs").read_text(encoding="utf-8")
    options = source.partition("      options: {")[2].partition("      },")[0]
    assert sorted({*re.findall(r'^        "?([a-z-]+)"?:', options, re.MULTILINE), "help"}) == sorted(listed)
    assert len(listed) > 5


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("--dry-run", "--help")])
def test_deploy(fresh: Path, arguments: tuple[str, ...]):
    """./scripts/deploy says what a deployment does."""
    assert "What a deployment does, in this order:" in ask(fresh, "deploy", *arguments)


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_bench(fresh: Path, arguments: tuple[str, ...]):
    """./scripts/bench lists the benchmarks, each with a sentence."""
    assert re.search(r"^    startup +what each Worker imports", ask(fresh, "bench", *arguments), re.MULTILINE)
