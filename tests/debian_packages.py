"""Programs from Debian's packages, unpacked into a folder and never installed: no root is needed, and nothing is started.

`python3 tests/debian_packages.py` fetches them all ahead of the tests.
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

CACHE: Final = Path(__file__).parents[1] / ".cache"
FETCH_TIMEOUT_S: Final = 600


class NotAvailable(Exception):
    """The packages cannot be had on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Packages:
    """What is fetched together, into a folder of this name below the cache."""

    name: str
    # With all that they depend on and this machine lacks.
    programs: tuple[str, ...]
    # Without what they depend on.
    files: tuple[str, ...] = ()
    # A package whose name stands in the description of another, as a pattern: its name changes with the release.
    named_by: tuple[tuple[str, str], ...] = ()


# WordPress comes without its dependencies, because one of them is a web server; these are the ones that it needs.
WORDPRESS: Final = Packages(
    "wordpress",
    (
        *("php-cli", "php-fpm", "php-curl", "php-mbstring", "php-mysql", "php-xml", "php-codesniffer"),
        "mariadb-server-core",
    ),
    ("wordpress", "libjs-underscore", "libjs-cropper", "php-getid3"),
    (("wordpress", "wordpress-theme-[a-z]+"),),
)
# The page that offers lines for dnsmasq fetches the list with curl.
NAME_SERVERS: Final = Packages("name_servers", ("dnsmasq-base", "unbound", "bind9", "bind9-utils", "curl"))


class Unpacked:
    """Packages below a root folder; their programs run with `environment`, by which they find their libraries."""

    def __init__(self, root: Path) -> None:
        self.root = root
        libraries = [*(root / "usr/lib").glob("*-linux-gnu*"), *(root / "lib").glob("*-linux-gnu*")]
        self.environment = os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, libraries))}

    def find(self, pattern: str, name: str | None = None) -> Path:
        """Return the program of the packages, else the one that this machine has under the name, which was then not fetched."""
        folders = [self.root / folder for folder in ("usr/bin", "usr/sbin", "bin", "sbin")]
        if found := [path for folder in folders for path in folder.glob(pattern)]:
            return min(found)
        if own := find_installed(name or pattern):
            return own
        raise NotAvailable(f"neither the packages nor this machine has {name or pattern}")


def find_installed(name: str) -> Path | None:
    """Return this machine's own program; those for administrators need not be on the path."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    return Path(found) if found else None


def fetch_packages(packages: Packages) -> Unpacked:
    """Return the unpacked packages; the first call downloads them, and others wait for it."""
    folder = CACHE / packages.name
    # Another list of packages gets another folder.
    root = folder / sha256(repr(packages).encode()).hexdigest()[:12]
    if missing := [tool for tool in ("apt-get", "apt-cache", "dpkg-deb") if shutil.which(tool) is None]:
        raise NotAvailable(f"{', '.join(missing)} is missing: the packages are Debian's")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not root.is_dir():
            _download(packages, folder).rename(root)
    return Unpacked(root)


def _download(packages: Packages, folder: Path) -> Path:
    for name in ("apt", "packages", "part"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in ("apt/state/lists/partial", "apt/cache/archives/partial", "packages", "part"):
        (folder / name).mkdir(parents=True)
    _apt(folder, "apt-get", "update")
    if wanted := _choose(packages, folder):
        _apt(folder, "apt-get", "download", *wanted, inside="packages")
    for package in sorted((folder / "packages").glob("*.deb")):
        _run(["dpkg-deb", "--extract", str(package), str(folder / "part")], folder)
    shutil.rmtree(folder / "apt")
    shutil.rmtree(folder / "packages")
    return folder / "part"


def _choose(packages: Packages, folder: Path) -> list[str]:
    plan = _apt(folder, "apt-get", "--simulate", "--no-install-recommends", "install", *packages.programs)
    named = []
    for package, pattern in packages.named_by:
        found = re.search(pattern, _apt(folder, "apt-cache", "show", "--no-all-versions", package))
        named += [found[0]] if found else []
    return [*re.findall(r"^Inst (\S+)", plan, re.MULTILINE), *packages.files, *named]


def _apt(folder: Path, tool: str, *arguments: str, inside: str = ".") -> str:
    """Run apt with lists and a cache of its own, so that it needs no rights and no lock."""
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
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=FETCH_TIMEOUT_S, check=False, errors="replace"
        )
    except subprocess.TimeoutExpired as error:
        raise NotAvailable(f"{command[0]} {command[-1]} took more than {FETCH_TIMEOUT_S} s") from error
    if done.returncode:
        raise NotAvailable(f"{command[0]} {command[-1]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout


def main() -> int:
    missing = 0
    for packages in (NAME_SERVERS, WORDPRESS):
        try:
            sys.stdout.write(f"{fetch_packages(packages).root}\n")
        except NotAvailable as error:
            missing = 1
            sys.stderr.write(f"Debian's packages for {packages.name} cannot be had: {error}\n")
    return missing


if __name__ == "__main__":
    sys.exit(main())
