"""The project's wrangler as a process, on the local state of a runtime."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from runtime import PATIENCE_S, ROOT


def wrangler(state: Path, config: str, *words: str) -> Sequence[str]:
    """Return the command, as its user types it, on this state."""
    place = ("--local", "--persist-to", str(state), "--config", config)
    return (str(ROOT / "scripts/wrangler"), *words, *place)


def run_wrangler(state: Path, config: str, *words: str) -> str:
    """Return what the command prints; fail if it does."""
    done = subprocess.run(
        wrangler(state, config, *words), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
