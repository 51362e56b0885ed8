"""PHP, MariaDB and WordPress from Debian's packages, unpacked into a folder and never installed: no root is needed.

`python3 tests/wordpress/debian_packages.py FOLDER` fetches them ahead of the tests.
"""

import fcntl
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

PROGRAMS: Final = (
    *("php-cli", "php-fpm", "php-curl", "php-mbstring", "php-mysql", "php-xml", "php-codesniffer"),
    "mariadb-server-core",
)
# WordPress comes without its dependencies, because one of them is a web server; these are the ones that it needs.
SITE: Final = ("wordpress", "libjs-underscore", "libjs-cropper", "php-getid3")
FETCH_TIMEOUT_S: Final = 600


class NotAvailable(Exception):
    """The packages cannot be had on this machine; the text says why."""


def fetch_packages(folder: Path) -> Path:
    """Returns the root folder of the unpacked packages; the first call downloads them, and others wait for it."""
    folder = folder.resolve()  # the commands run inside it
    # Another list of packages gets another folder.
    root = folder / sha256(repr((PROGRAMS, SITE)).encode()).hexdigest()[:12]
    if missing := [tool for tool in ("apt-get", "apt-cache", "dpkg-deb") if shutil.which(tool) is None]:
        raise NotAvailable(f"{', '.join(missing)} is missing: the packages are Debian's")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.is_dir():
            _download(folder).rename(root)
    return root


def _download(folder: Path) -> Path:
    for name in ("apt", "packages", "part"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("apt/state/lists/partial", "apt/cache/archives/partial", "packages", "part"):
        (folder / name).mkdir(parents=True)
    _apt(folder, "apt-get", "update")
    # What this machine lacks of PHP and MariaDB, dependencies included.
    plan = _apt(folder, "apt-get", "--simulate", "--no-install-recommends", "install", *PROGRAMS)
    theme = re.search(r"wordpress-theme-[a-z]+", _apt(folder, "apt-cache", "show", "--no-all-versions", "wordpress"))
    wanted = [*re.findall(r"^Inst (\S+)", plan, re.MULTILINE), *SITE, *([theme[0]] if theme else [])]
    _apt(folder, "apt-get", "download", *wanted, inside="packages")
    for package in sorted((folder / "packages").glob("*.deb")):
        _run(["dpkg-deb", "--extract", str(package), str(folder / "part")], folder)
    shutil.rmtree(folder / "apt")
    shutil.rmtree(folder / "packages")
    return folder / "part"


def _apt(folder: Path, tool: str, *arguments: str, inside: str = ".") -> str:
    """Runs apt with lists and a cache of its own, so that it needs no rights and no lock."""
    options = {
        "Dir::State": folder / "apt/state",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": folder / "apt/cache",
        "APT::Sandbox::User": "",
        "Debug::NoLocking": 1,
        "Acquire::Languages": "none",
        "Acquire::Retries": 3,
    }
    given = [part for name, value in options.items() for part in ("-o", f"{name}={value}")]
    return _run([tool, "-qq", *given, *arguments], folder / inside)


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False, errors="replace"
    )
    if done.returncode:
        raise NotAvailable(f"{command[0]} {command[-1]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{fetch_packages(Path(sys.argv[1]))}\n")
    except NotAvailable as error:
        sys.exit(f"WordPress cannot be fetched: {error}")
