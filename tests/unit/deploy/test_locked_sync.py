"""pywrangler vendors what the hash lock names, or nothing is deployed."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands import DeployError
from deploy import main
from locked_sync import find_differences, read_lock, render_pylock, sync_locked_packages

ROOT = Path(__file__).parents[3]
A, B = "a" * 64, "b" * 64
LOCK = (
    f"idna==3.20 \\\n    --hash=sha256:{A} \\\n    --hash=sha256:{B}\npydantic-core==2.50.4 \\\n    --hash=sha256:{B}\n"
)


def package(name: str, version: str, digest: str) -> dict[str, Any]:
    return {"name": name, "version": version, "wheels": [{"url": "https://…", "hashes": {"sha256": digest}}]}


GOOD = [package("idna", "3.20", A), package("pydantic_core", "2.50.4", B)]


def test_lock_is_read():
    """Names, versions and all hashes are read from a requirements file; the real one has all its packages."""
    assert read_lock(LOCK) == {"idna": ("3.20", frozenset({A, B})), "pydantic-core": ("2.50.4", frozenset({B}))}
    real = (ROOT / "requirements/worker.txt").read_text()
    assert len(read_lock(real)) == real.count("==") >= 8


def test_pylock_has_the_versions():
    """The file that pywrangler starts from is a pylock with the locked versions."""
    pylock = tomllib.loads(render_pylock(read_lock(LOCK)))
    assert pylock["lock-version"] == "1.0"
    assert {each["name"]: each["version"] for each in pylock["packages"]} == {"idna": "3.20", "pydantic-core": "2.50.4"}


@pytest.mark.parametrize(
    ("packages", "differences"),
    [
        (GOOD, []),
        ([package("idna", "3.21", A), GOOD[1]], ["idna 3.21 instead of 3.20"]),
        ([package("idna", "3.20", "c" * 64), GOOD[1]], ["idna 3.20 with other bytes"]),
        ([{"name": "idna", "version": "3.20"}, GOOD[1]], ["idna 3.20 with other bytes"]),
        (GOOD[:1], ["pydantic-core is missing"]),
        ([*GOOD, package("extra", "1.0", A)], ["extra is not locked"]),
    ],
)
def test_differences(packages: list[dict[str, Any]], differences: list[str]):
    """Another version, other bytes, a missing package and one more are all told."""
    assert find_differences(read_lock(LOCK), {"packages": packages}) == differences


class Pywrangler:
    """`pywrangler sync` as far as pylock.toml shows it: it keeps the versions that it finds there."""

    def __init__(self, root: Path, version_of_idna: str = "") -> None:
        self.root = root
        self.version_of_idna = version_of_idna
        self.ran: list[tuple[str, ...]] = []

    def __call__(self, *arguments: str) -> str:
        self.ran.append(arguments)
        pylock = self.root / "pylock.toml"
        if arguments[0] == "sync":
            versions = {each["name"]: each["version"] for each in tomllib.loads(pylock.read_text())["packages"]}
            idna = self.version_of_idna or versions["idna"]
            pylock.write_text(
                "".join(
                    f'[[packages]]\nname = "{name}"\nversion = "{version}"\n'
                    f'wheels = [{{ url = "x", hashes = {{ sha256 = "{B}" }} }}]\n'
                    for name, version in (versions | {"idna": idna}).items()
                )
            )
        return "Total Upload: 1.00 KiB / gzip: 1.00 KiB"


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/worker.txt").write_text(LOCK)
    (tmp_path / "wrangler.toml").write_text('name = "one"\nmain = "entry.py"\n')
    (tmp_path / "entry.py").write_text("")
    return tmp_path


def test_pywrangler_uploads(project: Path):
    """With --pywrangler the packages are vendored first, once, and pywrangler builds; wrangler itself does nothing."""
    pywrangler = Pywrangler(project)

    def refuse(*arguments: str) -> str:
        raise AssertionError(arguments)

    assert main(["--dry-run", "--pywrangler"], project, refuse, pywrangler) == 0
    assert [each[:2] for each in pywrangler.ran] == [("sync", "--force"), ("deploy", "--dry-run")]


def test_other_packages_stop_the_deployment(project: Path):
    """If pywrangler takes another version all the same, nothing is built."""
    pywrangler = Pywrangler(project, version_of_idna="3.21")
    with pytest.raises(DeployError, match=r"idna 3\.21 instead of 3\.20"):
        sync_locked_packages(project, pywrangler)
    assert main(["--dry-run", "--pywrangler"], project, lambda *_: "", pywrangler) == 1
    assert [each[0] for each in pywrangler.ran] == ["sync", "sync"]
