"""What is left out of a Worker's upload is not needed by it, and what is cut of its data is not used."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from public_suffixes import cut_public_suffixes
from runtime import PATIENCE_S, ROOT
from sluice.core.filters.syntax import public_suffixes
from sluice.core.filters.syntax.public_suffixes import load_public_suffixes

VENDORED: Final = ROOT / "python_modules"
CONFIGS: Final = {
    config["name"]: config
    for config in (tomllib.loads(path.read_text()) for path in sorted(ROOT.glob("wrangler*.toml")))
}
PACKAGES_OF_MODELS: Final = {
    "annotated_types",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
}


def to_pattern(glob: str) -> re.Pattern[str]:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*\*|\*)", glob)))


def list_uploaded(worker: str) -> set[str]:
    excluded = [to_pattern(glob) for glob in CONFIGS[worker]["python_modules"]["exclude"]]
    paths = [str(path.relative_to(VENDORED)) for path in VENDORED.rglob("*") if path.is_file()]
    return {path for path in paths if not any(pattern.fullmatch(path) for pattern in excluded)}


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_imported_packages_are_uploaded(worker: str):
    """Every package that a Worker imports is in its upload, and no other package that has models."""
    script = Path(__file__).with_name("worker_imports.py")
    command = [sys.executable, str(script), Path(CONFIGS[worker]["main"]).stem]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    found: dict[str, Any] = json.loads(done.stdout)
    uploaded = {path.partition("/")[0].removesuffix(".py") for path in list_uploaded(worker)}
    assert set(found["packages"]) <= uploaded
    assert uploaded & PACKAGES_OF_MODELS == set(found["packages"]) & PACKAGES_OF_MODELS


def test_public_suffixes_are_the_same(monkeypatch: pytest.MonkeyPatch):
    """The list that is deployed has the rules of the list that was cut, and a second cut changes nothing."""
    deployed = (VENDORED / "publicsuffixlist/public_suffix_list.dat").read_text()
    assert cut_public_suffixes(deployed) == deployed
    load = load_public_suffixes.__wrapped__
    whole = load()
    monkeypatch.setattr(public_suffixes, "get_data", lambda *_names: deployed.encode())
    assert load() == whole
    assert len(whole.plain) > 5000
