"""The commits that passed the whole suite on this machine, one a line, the newest last.

`passed.py check` answers whether HEAD is one of them. `passed.py begin` prints the commit that a run can vouch for: HEAD, if
the work tree is clean. `passed.py record COMMIT` notes it after the run, if nothing has changed meanwhile.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

MAX_COMMITS: Final = 100


class NotPassed(Exception):
    """No run vouches for what stands here; the text says why."""


def read_clean_head() -> str:
    """Return HEAD's commit if the work tree has exactly what it has."""
    head = _git("rev-parse", "--verify", "HEAD^{commit}").strip()
    if _git("status", "--porcelain", "--untracked-files=normal"):
        raise NotPassed(f"the work tree is not clean, it differs from commit {head[:12]}: see git status")
    return head


def check() -> str:
    head = read_clean_head()
    if head not in _read():
        raise NotPassed(f"no whole run of ./scripts/test is recorded for commit {head[:12]}")
    return f"Commit {head[:12]} has passed."


def record(commit: str) -> str:
    if read_clean_head() != commit:
        raise NotPassed(f"HEAD is no longer commit {commit[:12]}, with which the run began")
    file = _locate_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    with _lock(file.parent):
        commits = [*(each for each in _read() if each != commit), commit]
        part = file.with_suffix(".part")
        part.write_text("".join(f"{each}\n" for each in commits[-MAX_COMMITS:]))
        part.replace(file)  # whoever reads meanwhile gets the old file or the new one
    return f"Commit {commit[:12]} is recorded: ./scripts/test --passed."


def _locate_file() -> Path:
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # By its specification a relative path is ignored: it would be another folder for each caller.
    return (given if given.is_absolute() else Path.home() / ".cache") / "sluice/passed"


def _read() -> list[str]:
    file = _locate_file()
    return file.read_text(errors="replace").split() if file.exists() else []


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keep the runs of this user's other clones out; the lock ends with the process at the latest."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _git(*arguments: str) -> str:
    try:
        return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout
    except FileNotFoundError as error:
        raise NotPassed("git is not installed") from error
    except subprocess.CalledProcessError as error:
        raise NotPassed(f"git {arguments[0]} says: {error.stderr.strip()}") from error


# What is done, and how a refusal begins.
COMMANDS: Final[dict[str, tuple[Callable[..., str], str]]] = {
    "check": (check, "Not passed"),
    "begin": (read_clean_head, "This run will not be recorded"),
    "record": (record, "This run is not recorded"),
}


def main(command: str, *arguments: str) -> int:
    work, refusal = COMMANDS[command]
    try:
        sys.stdout.write(f"{work(*arguments)}\n")
    except (NotPassed, OSError) as error:
        sys.stderr.write(f"{refusal}: {error}.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
