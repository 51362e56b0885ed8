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
    config["name"]: ROOT / config["main"]
    for config in (tomllib.loads(path.read_text()) for path in ROOT.glob("wrangler*.toml"))
}
# The most modules of this project that each Worker may import. A Worker that needs more shows it here, in a review.
MAX_MODULES: Final = {
    "adblock-compiler": 163,
    "edge-preload": 149,
    "sluice-tail": 60,
    "worker-api": 92,
    "worker-news-processor": 107,
    "worker-news-updater": 97,
}
# Only the Workers that take bodies import pydantic, and only the part of it that loads the schemas of models.
TAKE_BODIES: Final = {"adblock-compiler", "edge-preload"}
PYDANTIC: Final = ["pydantic", "pydantic_core"]


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


@pytest.mark.parametrize("worker", sorted(MAX_MODULES))
def test_packages(worker: str):
    """Only the Workers that take bodies import pydantic; other packages are imported when they are needed."""
    assert imports_of(worker)["packages"] == (PYDANTIC if worker in TAKE_BODIES else [])
