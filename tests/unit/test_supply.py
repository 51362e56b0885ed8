"""What others publish comes in as it was locked: by a hash or a commit, and without running anything on the way."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.y*ml"))
LOCKED = json.loads((ROOT / "package-lock.json").read_text())["packages"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: str(path.name))
def test_actions_are_pinned(workflow: Path):
    """Each action is named by its commit, because a tag can be moved; the tag stands beside it for people."""
    used = re.findall(r"(?m)^[\s-]*uses:\s*(.+)$", workflow.read_text())
    assert used
    assert [each for each in used if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", each)] == []


def test_packages_have_hashes():
    """Every npm package of the lock has the hash of its archive."""
    others = {path: facts for path, facts in LOCKED.items() if path}
    assert others
    assert [path for path, facts in others.items() if not facts.get("integrity", "").startswith("sha512-")] == []


def test_no_package_runs_a_script():
    """npm runs no script of a package, whoever calls it; the set-up says so itself too."""
    assert "ignore-scripts=true" in (ROOT / ".npmrc").read_text().splitlines()
    calls = re.findall(r"(?m)^\s*npm (?:ci|install|rebuild)\b.*$", (ROOT / "scripts/setup").read_text())
    assert [call.split()[:3] for call in calls] == [["npm", "ci", "--ignore-scripts"]]


def test_programs_are_locked_for_each_system():
    """Node is a package of its own for each system, as its usual package would fetch it by a script, past the lock."""
    for system in ("linux-x64", "linux-arm64"):
        facts = LOCKED[f"node_modules/node-{system}"]
        assert (facts["optional"], facts["bin"], facts.get("hasInstallScript")) == (True, {"node": "bin/node"}, None)
    assert "node_modules/node" not in LOCKED
