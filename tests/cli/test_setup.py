"""./scripts/setup installs only locked packages."""

import hashlib
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from runtime import ROOT
from sluice.cli.main import COMMANDS

LOCKS = sorted((ROOT / "requirements").glob("*.txt"))


@pytest.fixture(name="clone")
def _clone(tmp_path: Path) -> Path:
    """A project with one locked package, `made==1.0`, and a folder in place of a registry."""
    clone = tmp_path / "clone"
    (clone / "requirements").mkdir(parents=True)
    (clone / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/setup", clone / "scripts/setup")
    wheel = tmp_path / "made-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("made.py", "MADE = 1\n")
        archive.writestr("made-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: made\nVersion: 1.0\n")
        archive.writestr("made-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("made-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (clone / "requirements/development.txt").write_text(f"made==1.0 \\\n    --hash=sha256:{digest}\n")
    return clone


def set_up(clone: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(clone.parent), "PIP_CONFIG_FILE": os.devnull}
    command = [str(clone / "scripts/setup"), "--python"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_locked_packages_are_installed_once(clone: Path):
    """Locked packages are installed, and a second call has nothing to do."""
    done = set_up(clone)
    assert (done.returncode, done.stderr) == (0, "Setting up: virtual environment …\n")
    subprocess.run([clone / ".venv/bin/python", "-c", "import made"], check=True)
    assert set_up(clone).stderr == ""


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
    groups = [project["project"]["dependencies"], *project["dependency-groups"].values()]
    wanted = {requirement for group in groups for requirement in group if isinstance(requirement, str)}
    locked = {entry for lock in LOCKS for entry in re.findall(r"^[a-z0-9.-]+==[^ ]+", lock.read_text(), re.MULTILINE)}
    assert wanted - locked == set()


def test_every_command_starts(tmp_path: Path):
    """./scripts/sluice starts each command with the few packages that it has, and none of the virtual environment's."""
    (tmp_path / "a.txt").write_text("||co.uk^\n||ads.example^\n")
    calls = [*([name, "--help"] for name in COMMANDS), ["compile", "-i", "a.txt", "-o", "out.txt"]]
    for arguments in calls:
        done = subprocess.run([ROOT / "scripts/sluice", *arguments], cwd=tmp_path, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "||co.uk^" not in (tmp_path / "out.txt").read_text()
