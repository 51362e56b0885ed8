"""Copies of this project as git would clone it: without anything that was set up."""

import shutil
import subprocess
from pathlib import Path

from runtime import ROOT


def copy_project(folder: Path) -> None:
    """Copy what git has, or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (source := ROOT / name).is_file():  # not one that was deleted and not committed
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
