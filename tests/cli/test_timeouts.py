"""A test that hangs is ended, in either interpreter, however it was started."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from runtime import PATIENCE_S, ROOT

PYODIDE = ("node_modules/.bin/node", "--experimental-wasm-jspi", "scripts/local/pyodide.mjs")
RUNNERS = {
    "CPython": (sys.executable, "-m", "pytest"),
    "Pyodide": (
        *(str(ROOT / part) if "/" in part else part for part in PYODIDE),
        "test",
        str(ROOT / ".cache/test_modules"),
    ),
}
TESTS = "def test_first(): pass\n\ndef test_endless():\n    while True: pass\n"


@pytest.mark.parametrize("runner", RUNNERS)
def test_a_hang_is_ended(runner: str, tmp_path: Path):
    """The limit of pyproject.toml holds without an option, and the test that reached it is named."""
    for name in ("conftest.py", "shards.py"):
        shutil.copy(ROOT / "tests" / name, tmp_path / name)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest]\nstrict_config = true\npythonpath = ["."]\ntimeout = "1"\n')
    (tmp_path / "test_hang.py").write_text(TESTS)
    command = [*RUNNERS[runner], "-p", "no:randomly", "-p", "no:cacheprovider", "-v", "test_hang.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode != 0
    assert "test_first PASSED" in done.stdout
    assert "test_endless" in done.stdout + done.stderr
    assert "Timeout" in done.stdout + done.stderr


def test_there_is_a_limit():
    """The project's own settings have it."""
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]["timeout"] > 0
