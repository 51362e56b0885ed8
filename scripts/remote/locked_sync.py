"""Lets pywrangler vendor the packages, and makes sure that they are those of the hash lock.

pywrangler resolves the packages again and writes `pylock.toml`. It has no option for constraints, and uv refuses
`UV_CONSTRAINT` when it installs from a pylock. But versions that stand in `pylock.toml` already are kept: the lock is
written there first, and what pywrangler made of it is compared afterwards, versions and hashes. The other ways to
deploy need no such detour: `[build]` in every config calls `./scripts/setup --modules`, and `npx wrangler` is
`scripts/wrangler`.
"""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from commands import DeployError, Wrangler

Lock = dict[str, tuple[str, frozenset[str]]]  # version and SHA-256 of the archives, by name
_ENTRY: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+)((?:[^\n]*\\\n)+[^\n]*)", re.MULTILINE)
_HASH: Final = re.compile(r"sha256:([0-9a-f]{64})")


def read_lock(text: str) -> Lock:
    """Read a requirements file with hashes."""
    return {_normalise(name): (version, frozenset(_HASH.findall(rest))) for name, version, rest in _ENTRY.findall(text)}


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def render_pylock(lock: Lock) -> str:
    """Return a pylock.toml with the versions of the lock."""
    packages = (
        f'\n[[packages]]\nname = "{name}"\nversion = "{version}"\n' for name, (version, _) in sorted(lock.items())
    )
    return 'lock-version = "1.0"\ncreated-by = "sluice"\n' + "".join(packages)


def find_differences(lock: Lock, pylock: dict[str, Any]) -> list[str]:
    """Return a text for each package of a pylock that is not the locked one."""
    packages = {_normalise(package["name"]): package for package in pylock.get("packages", [])}
    return [
        difference
        for name in sorted(lock.keys() | packages.keys())
        if (difference := _compare(name, lock.get(name), packages.get(name)))
    ]


def _compare(name: str, locked: tuple[str, frozenset[str]] | None, package: dict[str, Any] | None) -> str:
    if locked is None:
        return f"{name} is not locked"
    if package is None:
        return f"{name} is missing"
    version, hashes = locked
    if package.get("version") != version:
        return f"{name} {package.get('version')} instead of {version}"
    archives = [*package.get("wheels", []), *filter(None, [package.get("sdist"), package.get("archive")])]
    found = {archive.get("hashes", {}).get("sha256") for archive in archives}
    return "" if found and found <= hashes else f"{name} {version} with other bytes"


def sync_locked_packages(root: Path, run: Wrangler) -> None:
    """Run `pywrangler sync`; raise DeployError if it vendors anything but the locked packages."""
    lock = read_lock((root / "requirements/worker.txt").read_text())
    pylock = root / "pylock.toml"
    pylock.write_text(render_pylock(lock))
    run("sync", "--force")
    if differences := find_differences(lock, tomllib.loads(pylock.read_text())):
        raise DeployError(
            f"pywrangler vendored other packages than requirements/worker.txt locks: {', '.join(differences)}. "
            "Deploy without --pywrangler, or run ./scripts/lock and the tests."
        )
