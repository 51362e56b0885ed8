"""Programs from Debian's packages: fetched once, whoever asks, and never installed."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import debian_packages
from debian_packages import NotAvailable, Packages, fetch_packages

PACKAGES = Packages("made", ("made-program",))


@pytest.fixture(name="cache")
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(debian_packages, "CACHE", tmp_path)
    return tmp_path


def test_two_that_ask_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch):
    """The second waits for the first one's download, and uses it."""
    downloads: list[Path] = []
    first, second = threading.Event(), threading.Event()

    def download(_packages: Packages, folder: Path) -> Path:
        downloads.append(folder)
        first.set()
        assert second.wait(60)
        (folder / "part/usr/sbin").mkdir(parents=True)
        (folder / "part/usr/sbin/made").touch()
        return folder / "part"

    monkeypatch.setattr(debian_packages, "_download", download)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(fetch_packages, PACKAGES)
        assert first.wait(60)
        two = pool.submit(fetch_packages, PACKAGES)
        second.set()
        assert one.result().find("made") == two.result().find("made")
    assert downloads == [cache / "made"]


def test_an_interrupted_download(cache: Path, monkeypatch: pytest.MonkeyPatch):
    """What a killed run has left is no package: the next one begins again."""

    def fail(_packages: Packages, folder: Path) -> Path:
        (folder / "part").mkdir()
        raise KeyboardInterrupt

    monkeypatch.setattr(debian_packages, "_download", fail)
    with pytest.raises(KeyboardInterrupt):
        fetch_packages(PACKAGES)
    assert [path.name for path in (cache / "made").iterdir() if path.is_dir()] == ["part"]


def test_no_such_program(tmp_path: Path):
    """A program that neither the packages nor the machine has is told by name."""
    with pytest.raises(NotAvailable, match="made-up"):
        debian_packages.Unpacked(tmp_path).find("made-up")


def test_a_machine_without_debians_tools(tmp_path: Path):
    """It is said which tool is missing."""
    command = [sys.executable, debian_packages.__file__]
    environment = os.environ | {"PATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "for name_servers cannot be had: apt-get, apt-cache, dpkg-deb is missing" in done.stderr
