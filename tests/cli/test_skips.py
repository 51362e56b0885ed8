"""What is skipped is written down, with its reason, for the end of a run."""

import shutil
import subprocess
import sys
from pathlib import Path

from runtime import ROOT

TESTS = """
import pytest

def test_runs(): pass

def test_program(): pytest.skip("no program:\\n  it is missing")

@pytest.mark.skip(reason="not here")
def test_marked(): pass

@pytest.fixture
def server(): pytest.skip("no server")

def test_fixture(server): pass
"""


def test_each_skip_and_its_reason(tmp_path: Path):
    """A test skipped by itself, by a mark, by a fixture or with its module has a line; a test that ran has none."""
    for name in ("conftest.py", "shards.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / name)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest]\npythonpath = ["."]\n')
    (tmp_path / "test_some.py").write_text(TESTS)
    (tmp_path / "test_whole.py").write_text("import pytest\npytest.skip('no module', allow_module_level=True)\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--skips-to", "skips"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert sorted((tmp_path / "skips").read_text().splitlines()) == [
        "test_some.py::test_fixture: no server",
        "test_some.py::test_marked: not here",
        "test_some.py::test_program: no program: it is missing",
        "test_whole.py: no module",
    ]
