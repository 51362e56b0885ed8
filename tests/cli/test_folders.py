"""The scripts in a folder whose name has a space, signs that mean something in addresses, and letters that are not ASCII."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from cli.project_copy import copy_project
from runtime import ROOT, START_TIMEOUT_S, Runtime

NAME: Final = "new comer 100% ü #1?"
# To install these again takes minutes and shows nothing about the folder. Their files are shared with this clone.
INSTALLED: Final = (".venv", "node_modules")


@pytest.fixture(name="strange", scope="module")
def _strange() -> Iterator[Path]:
    """A clone in such a folder, on the same disk, that was set up there."""
    parent = Path(tempfile.mkdtemp(prefix="folders-", dir=ROOT / ".cache"))
    folder = parent / NAME
    copy_project(folder)
    for name in INSTALLED:
        shutil.copytree(
            ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("*sluice*"), copy_function=os.link
        )
    shutil.copytree(ROOT / "python_modules", folder / "python_modules")
    (folder / ".cache").mkdir()
    for name in ("npm.done", "vendor.done"):
        shutil.copy(ROOT / ".cache" / name, folder / ".cache")
    run_shell("{ cat requirements/development.txt; pwd; } | cksum >.cache/venv.done", folder)
    try:
        done = run(folder / "scripts/setup", folder=folder)
        assert done.returncode == 0, done.stderr
        yield folder
    finally:
        shutil.rmtree(parent)


def run(*command: str | Path, folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, input=stdin, capture_output=True, text=True, check=False, timeout=START_TIMEOUT_S
    )


def run_shell(command: str, folder: Path) -> None:
    assert run("sh", "-c", command, folder=folder).returncode == 0


def test_set_up_once(strange: Path):
    """A second call has nothing to do."""
    done = run(strange / "scripts/setup", folder=strange.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_command_line(strange: Path):
    """The command line runs, from wherever it is called."""
    done = run(strange / "scripts/sluice", "transform", "-t", "ConvertToAscii", folder=Path("/"), stdin="||bücher.de^")
    assert (done.returncode, done.stdout, done.stderr) == (0, "||xn--bcher-kva.de^", "")


def test_workers(strange: Path):
    """The chosen Workers boot and answer; each says so as soon as it has booted, before all are ready."""
    runtime = Runtime(strange / "a state", "--only", "sluice-tail,worker-api", root=strange).start()
    try:
        with runtime.client("sluice-tail") as client:
            assert client.get("/health").json()["status"] == "ok"
        with runtime.client("worker-api") as client:
            assert "<html" in client.get("/").text
    finally:
        code = runtime.stop()
    assert code == 0
    assert runtime.lines[0] == "Starting two Workers …"
    booted = [re.search(r'"worker":"([a-z-]+)","message":"booted, heap', line) for line in runtime.lines[1:3]]
    assert {found[1] for found in booted if found} == {"sluice-tail", "worker-api"}
    assert runtime.lines[3].startswith("Ready on http://127.0.0.1:")


def test_stopped_while_workers_boot(strange: Path):
    """Who stops it before it is ready reads no error."""
    state = str(strange / "another state")
    command = [str(strange / "scripts/run"), "--port", "0", "--state", state, "--only", "sluice-tail"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        lines = [process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        lines += process.stdout.readlines()
    assert process.returncode == 0, lines
    assert lines[0] == "Starting one Worker …\n"
    assert [line for line in lines[1:] if not line.startswith("{")] == ["Stopping …\n"]


@pytest.mark.parametrize(
    "command",
    [
        ("scripts/deploy", "--dry-run", "sluice-tail"),
        ("npx", "wrangler", "deploy", "--dry-run", "--config", "wrangler.tail.toml"),
    ],
    ids=["deploy", "npx wrangler"],
)
def test_dry_deployment(strange: Path, command: tuple[str, ...]):
    """A Worker is built and measured as in any other folder."""
    first = command[0] if command[0] == "npx" else strange / command[0]
    done = run(first, *command[1:], folder=strange)
    assert done.returncode == 0, done.stderr
    assert "gzip" in done.stdout


def test_benchmarks(strange: Path):
    """A benchmark is found and says what it takes."""
    done = run(strange / "scripts/bench", "startup", "--help", folder=strange)
    assert (done.returncode, "--no-cold" in done.stdout, done.stderr) == (0, True, "")
