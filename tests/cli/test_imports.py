"""What the top level of each Worker imports. Its time is limited where it is deployed, so its size is limited here."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from runtime import PATIENCE_S, ROOT

MAINS: Final = {
    config["name"]: Path(config["main"]).stem
    for config in (tomllib.loads(path.read_text()) for path in ROOT.glob("wrangler*.toml"))
}
# The most modules of this project that each Worker may import. A Worker that needs more shows it here, in a review.
MAX_MODULES: Final = {
    "adblock-compiler": 207,
    "edge-preload": 126,
    "sluice-tail": 65,
    "worker-api": 134,
    "worker-news-processor": 135,
    "worker-news-updater": 135,
}


def imports_of(worker: str) -> dict[str, Any]:
    script = Path(__file__).with_name("worker_imports.py")
    done = subprocess.run(
        [sys.executable, script, MAINS[worker]], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_worker_has_a_limit():
    """No Worker is left out."""
    assert MAX_MODULES.keys() == MAINS.keys()


@pytest.mark.parametrize("worker", sorted(MAX_MODULES))
def test_modules(worker: str):
    """A Worker imports no more modules than it needs."""
    assert imports_of(worker)["modules"] <= MAX_MODULES[worker]
