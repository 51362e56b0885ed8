"""`sluice why`, `sluice overlap` and `sluice diff`."""

import json
from pathlib import Path

import pytest

from cli.sluice_process import sluice


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("! a\n0.0.0.0 ads.com\n||tree.com^\n@@||ok.tree.com^\n")
    (tmp_path / "b.txt").write_text("! b\n\n||ads.com^\n||b.com^\n/^re[0-9]\\.com$/\n")
    configuration = {
        "name": "T",
        "sources": [{"source": "a.txt", "name": "First", "transformations": ["Compress"]}, {"source": "b.txt"}],
        "transformations": ["RemoveComments", "Compress", "Deduplicate"],
    }
    (tmp_path / "c.json").write_text(json.dumps(configuration))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "verdict", "rule", "places"),
    [
        ("ads.com", "blocked", "||ads.com^", [("First", "a.txt", 2), ("b.txt", "b.txt", 3)]),
        ("x.tree.com", "blocked", "||tree.com^", [("First", "a.txt", 3)]),
        ("A.ok.tree.com.", "allowed", "@@||ok.tree.com^", [("First", "a.txt", 4)]),
        ("re7.com", "blocked", "/^re[0-9]\\.com$/", [("b.txt", "b.txt", 5)]),
        ("goodads.com", "none", None, []),
    ],
)
def test_why(folder: Path, name: str, verdict: str, rule: str | None, places: list[tuple[str, str, int]]):
    """The rule that decides on a name is printed with all its sources, files and lines."""
    done = sluice("why", name, "-c", "c.json", "--json", folder=folder)
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert (answer["verdict"], answer["rule"]) == (verdict, rule)
    assert sorted((at["source"], at["file"], at["line"]) for at in answer["sources"]) == sorted(places)
    assert verdict in sluice("why", name, "-c", "c.json", folder=folder).stdout.decode() or verdict == "none"


def test_overlap(folder: Path):
    """Sources are compared after their own transformations, by equal text."""
    done = sluice("overlap", "-c", "c.json", "--json", folder=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "sources": [{"source": "First", "rules": 3, "unique": 2}, {"source": "b.txt", "rules": 3, "unique": 2}],
        "pairs": [{"a": "First", "b": "b.txt", "shared": 1}],
    }
    assert b"First: 3 rules" in sluice("overlap", "-c", "c.json", folder=folder).stdout


def test_diff(folder: Path):
    """Two lists are compared rule by rule, comments aside, and the exit code is 0."""
    done = sluice("diff", "a.txt", "b.txt", "--json", folder=folder)
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "added": ["||ads.com^", "||b.com^", "/^re[0-9]\\.com$/"],
        "removed": ["0.0.0.0 ads.com", "||tree.com^", "@@||ok.tree.com^"],
        "unchanged": 0,
    }
    assert sluice("diff", "a.txt", "a.txt", folder=folder).stdout == b"0 added, 0 removed, 3 unchanged\n"
