"""./scripts/setup installs only locked packages."""

import fcntl
import os
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.made_packages import make_project
from runtime import PATIENCE_S, ROOT

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.fixture(name="clone")
def _clone(tmp_path: Path) -> Path:
    """A project with one locked package, `made==1.0`, which builds it, and a folder in place of a registry."""
    return make_clone(tmp_path)


def make_clone(folder: Path) -> Path:
    clone = folder / "clone"
    (clone / "requirements").mkdir(parents=True)
    (clone / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/setup", clone / "scripts/setup")
    (clone / "requirements/development.txt").write_text(make_project(clone, {}))
    return clone


def choose_environment(clone: Path) -> dict[str, str]:
    return os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(clone.parent), "PIP_CONFIG_FILE": os.devnull}


def set_up(clone: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [str(clone / "scripts/setup"), "--python"]
    return subprocess.run(
        command, env=choose_environment(clone), capture_output=True, text=True, check=False, **options
    )


def test_locked_packages_are_installed_once(clone: Path):
    """Locked packages and the project's own command are installed; a second call writes nothing, unless something is gone."""
    done = set_up(clone)
    assert (done.returncode, done.stderr) == (
        0,
        "Setting up: virtual environment …\nSetting up: phrases of the news …\nSetting up: command line …\n",
    )
    assert subprocess.run([clone / ".venv/bin/sluice"], capture_output=True, text=True, check=True).stdout == "runs\n"
    before = snapshot(clone)
    assert set_up(clone).stderr == ""
    assert snapshot(clone) == before  # so that others can use it too
    (clone / ".venv/bin/sluice").unlink()
    assert set_up(clone).stderr == "Setting up: command line …\n"
    assert (clone / ".venv/bin/sluice").exists()


def snapshot(folder: Path) -> dict[Path, int]:
    """Return when each file and folder was changed; a file that was written and removed again changes its folder."""
    return {path: path.lstat().st_mtime_ns for path in (folder, *folder.rglob("*"))}


def test_set_ups_at_once(clone: Path):
    """Of three set-ups at once one installs; the others say that they wait, and find everything done."""
    (clone / ".cache").mkdir()
    lock = (clone / ".cache/setup.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)  # so that none is done before the last has begun
    begun = [start_setup(clone) for _ in range(3)]
    for process in begun:
        assert process.stderr
        assert "waiting for it" in process.stderr.readline()
    lock.close()
    told = "".join(process.communicate(timeout=PATIENCE_S)[1] for process in begun)
    assert [process.returncode for process in begun] == [0, 0, 0], told
    assert told.count("Setting up: virtual environment") == 1
    assert (clone / ".venv/bin/sluice").exists()


def start_setup(clone: Path) -> subprocess.Popen[str]:
    command = [str(clone / "scripts/setup"), "--python"]
    return subprocess.Popen(command, env=choose_environment(clone), stderr=subprocess.PIPE, text=True)


def test_a_folder_of_any_name(clone: Path):
    """The commands of a clone that was moved are written anew, because they have the folder's name in them; nothing is installed again."""
    set_up(clone)
    moved = clone.rename(clone.with_name("-new comer 100% ü #1? it's a&b;c (x) [y] {z} * ~ 例え"))
    for wheel in moved.parent.glob("made-*"):
        wheel.unlink()
    done = set_up(moved)
    assert (done.returncode, done.stderr) == (0, "Setting up: commands of this folder …\nSetting up: command line …\n")
    assert subprocess.run([moved / ".venv/bin/sluice"], capture_output=True, text=True, check=True).stdout == "runs\n"
    assert not [path for path in (moved / ".venv/bin").iterdir() if f"{clone}/.venv" in read_text(path)]
    assert set_up(moved).stderr == ""


def read_text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


@pytest.fixture(name="shared")
def _shared() -> Iterator[Path]:
    """A clone in a folder that every user can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield make_clone(Path(folder))


def test_a_folder_that_cannot_be_written_to(shared: Path):
    """One sentence says so and what to do, in place of the error of a program that was called."""
    shared.chmod(0o555)
    stranger = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    done = set_up(shared, **stranger)
    shared.chmod(0o755)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Nothing can be installed in {shared}, because you may not write there")
    assert "clone the project into a folder of your own" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_in_place_of_the_folder_for_what_is_installed(clone: Path):
    """The sentence is the same where `.cache` is no folder."""
    (clone / ".cache").touch()
    done = set_up(clone)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert ".cache is no folder" in done.stderr


@pytest.mark.parametrize("character", [":", '"', "$", "`", "\\", "\t", "\n"])
def test_a_folder_that_no_environment_can_be_in(clone: Path, character: str):
    """A character that ends a path or a text for the shell is refused before anything is installed."""
    strange = clone.rename(clone.with_name(f"a{character}b"))
    done = set_up(strange)
    assert done.returncode == 1
    assert "rename the folder" in done.stderr
    assert not (strange / ".venv").exists()


def test_a_project_that_cannot_be_built(clone: Path):
    """What fails is said, and is tried again by the next call."""
    (clone.parent / "sluice-1.0-py3-none-any.whl").unlink()
    for _ in range(2):
        done = set_up(clone)
        assert done.returncode == 1
        assert "The command line cannot be built: mend the error above." in done.stderr
        assert "FileNotFoundError" in (clone / ".cache/setup.log").read_text()


def test_a_changed_byte_stops_the_set_up(clone: Path):
    """A package that differs from the locked one by a byte is not installed, and the message names it."""
    with (clone.parent / "made-1.0-py3-none-any.whl").open("ab") as wheel:
        wheel.write(b"x")
    done = set_up(clone)
    assert done.returncode == 1
    assert "A downloaded package differs from the locked one: made==1.0." in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(clone.glob(".venv/lib/*/site-packages/made*"))
    assert set_up(clone).returncode == 1


def test_a_package_without_a_hash_stops_the_set_up(clone: Path):
    """A package without a hash is not installed, and the message says how to lock it."""
    (clone / "requirements/development.txt").write_text("made==1.0\n")
    assert "run ./scripts/lock" in set_up(clone).stderr


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.name))
def test_locks_pin_by_hash_and_name_no_registry(lock: Path):
    """A lock contains only packages with one version and at least one hash."""
    entries = re.split(r"\n(?=\S)", lock.read_text().rstrip("\n"))
    for entry in entries:
        assert re.fullmatch(r"[a-z0-9.-]+==\S+( ; [^\\]+)? (\\\n +--hash=sha256:[0-9a-f]{64} ?)+", entry), entry


def test_the_workers_packages_are_those_of_the_tests():
    """A package has the same version in all locks, so that the tested version is the deployed one."""
    versions: dict[str, set[str]] = {}
    for lock in LOCKS:
        for name, version in re.findall(r"^([a-z0-9.-]+)==(\S+)(?! ; python)", lock.read_text(), re.MULTILINE):
            versions.setdefault(name, set()).add(version)
    worker = set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / "requirements/worker.txt").read_text(), re.MULTILINE))
    assert {name: sorted(versions[name]) for name in worker if len(versions[name]) > 1} == {}
    assert len(worker) >= 8


def test_the_lock_follows_pyproject():
    """Every requirement in pyproject.toml is locked with its version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = [
        project["build-system"]["requires"],
        project["project"]["dependencies"],
        *project["dependency-groups"].values(),
    ]
    wanted = {requirement for group in groups for requirement in group if isinstance(requirement, str)}
    locked = {entry for lock in LOCKS for entry in re.findall(r"^[a-z0-9.-]+==[^ ]+", lock.read_text(), re.MULTILINE)}
    assert wanted - locked == set()


@pytest.mark.parametrize(("is_new", "outcome"), [("true", 0), ("false", 1)])
def test_own_node_where_none_is_locked(tmp_path: Path, is_new: str, outcome: int):
    """Where no locked Node is published the machine's own is taken if it is new enough; else a sentence says what to install."""
    [function] = re.findall(r"(?ms)^link_own_node\(\) \{.*?^\}", (ROOT / "scripts/setup").read_text())
    (tmp_path / "node_modules/.bin").mkdir(parents=True)
    own = tmp_path / "node"
    own.write_text(f"#!/bin/sh\necho {is_new}\n")
    own.chmod(0o755)
    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", f"{function}\nlink_own_node"],
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    linked = tmp_path / "node_modules/.bin/node"
    assert (done.returncode, linked.is_symlink()) == (outcome, not outcome)
    if outcome:
        assert done.stderr == "No locked Node is published for this system: install Node 24 or newer.\n"
    else:
        assert linked.resolve() == own
