"""./scripts/test records the commit of a whole run that passed, and answers for it later."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from passed import MAX_COMMITS
from runtime import ROOT

# Stands for the parts of the suite: nothing is installed, and a run passes unless `broken` is there.
STUBS = {
    "scripts/setup": "mkdir -p .cache",
    "scripts/lint": "[ ! -e broken ]",
    "scripts/deploy": "if [ -e during ]; then sh during; fi",
    ".venv/bin/python": """
while [ $# -gt 0 ]; do
    if [ "$1" = --skips-to ] && [ -e skipping ]; then echo "tests/${2##*/}.py::test_it: no program" >"$2"; fi
    shift
done""",
    "node_modules/.bin/node": ":",
}


class Clone:
    """A git repository with this project's ./scripts/test, and parts of a suite that end at once."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder = folder
        self.file = cache / "sluice/passed"
        self.environment = os.environ | {
            "XDG_CACHE_HOME": str(cache),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
            **{f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        for name, text in STUBS.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        (folder / "scripts/local").mkdir()
        for name in ("scripts/test", "scripts/local/passed.py"):
            shutil.copy(ROOT / name, folder / name)
        (folder / ".gitignore").write_text(".cache/\n.venv/\nnode_modules/\nduring\n")
        self.git("init", "--quiet")
        self.commit()

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )

    def git(self, *arguments: str) -> str:
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A change")
        return self.git("rev-parse", "HEAD")

    def test(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("scripts/test", *arguments)

    def record(self) -> None:
        done = self.run("python3", "scripts/local/passed.py", "record", self.git("rev-parse", "HEAD"))
        assert done.returncode == 0, done.stderr


@pytest.fixture(name="clone")
def _clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path / "clone", tmp_path / "cache")


def test_a_commit_that_passed(clone: Clone):
    """After a whole run on a clean work tree HEAD is recorded, once; an older and a newer commit are not."""
    assert (clone.test("--passed").returncode, clone.file.exists()) == (1, False)
    head = clone.commit()
    for _ in range(2):
        done = clone.test()
        assert done.returncode == 0, done.stdout + done.stderr
    assert clone.file.read_text() == f"{head}\n"
    assert (clone.test("--passed").returncode, clone.test("--passed").stdout) == (
        0,
        f"Commit {head[:12]} has passed.\n",
    )
    newer = clone.commit()
    done = clone.test("--passed")
    assert done.returncode == 1
    assert done.stderr == f"Not passed: no whole run of ./scripts/test is recorded for commit {newer[:12]}.\n"
    clone.git("checkout", "--quiet", head)
    assert clone.test("--passed").returncode == 0


@pytest.mark.parametrize("change", ["new file", "edit", "staged"])
def test_a_work_tree_that_is_not_clean(clone: Clone, change: str):
    """What no commit has is not vouched for: neither recorded, nor answered for when its HEAD is recorded."""
    head = clone.commit()
    (clone.folder / ("other" if change == "new file" else ".gitignore")).write_text(".cache/\n.venv/\nnode_modules/\n")
    if change == "staged":
        clone.git("add", "--all")
    done = clone.test()
    assert done.returncode == 0, done.stderr
    assert "This run will not be recorded: the work tree is not clean" in done.stderr
    assert not clone.file.exists()
    clone.file.parent.mkdir(parents=True)
    clone.file.write_text(f"{head}\n")
    done = clone.test("--passed")
    assert done.returncode == 1
    assert done.stderr.startswith("Not passed: the work tree is not clean")


@pytest.mark.parametrize(
    ("during", "reason"),
    [
        ("echo x >x", "the work tree is not clean"),
        ("git commit --quiet --allow-empty -m x", "HEAD is no longer commit"),
    ],
)
def test_a_change_during_the_run(clone: Clone, during: str, reason: str):
    """A run in which the files or HEAD changed vouches for no commit."""
    (clone.folder / "during").write_text(during)
    done = clone.test()
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"This run is not recorded: {reason}" in done.stderr
    assert not clone.file.exists()


def test_runs_that_do_not_count(clone: Clone):
    """A run that fails, one of a few tests, and a search with fresh seeds leave nothing."""
    (clone.folder / "broken").touch()
    clone.commit()
    assert clone.test().returncode != 0
    (clone.folder / "broken").unlink()
    clone.commit()
    for arguments in (["tests/unit"], ["-k", "name"], ["--explore=1"]):
        assert clone.test(*arguments).returncode == 0
    assert not clone.file.exists()


def test_the_record_is_bounded(clone: Clone):
    """The newest commits are kept."""
    clone.file.parent.mkdir(parents=True)
    old = [f"{number:040x}" for number in range(MAX_COMMITS)]
    clone.file.write_text("".join(f"{each}\n" for each in old))
    clone.record()
    assert clone.file.read_text().split() == [*old[1:], clone.git("rev-parse", "HEAD")]


def test_clones_that_pass_at_once(tmp_path: Path):
    """Each of many runs that end at the same time is recorded."""
    clones = [Clone(tmp_path / f"clone{number}", tmp_path / "cache") for number in range(6)]
    for number, clone in enumerate(clones):
        (clone.folder / "number").write_text(str(number))
    heads = {clone.commit() for clone in clones}
    with ThreadPoolExecutor(len(clones)) as pool:
        list(pool.map(Clone.record, clones))
    assert set(clones[0].file.read_text().split()) == heads


def test_no_clone(tmp_path: Path):
    """Without git's folder, such as in an archive, the answer is no, with the reason."""
    clone = Clone(tmp_path / "clone", tmp_path / "cache")
    shutil.rmtree(clone.folder / ".git")
    clone.environment["GIT_CEILING_DIRECTORIES"] = str(tmp_path)
    done = clone.test("--passed")
    assert done.returncode == 1
    assert done.stderr.startswith("Not passed: git rev-parse says: fatal: not a git repository")


def test_skips_are_listed(clone: Clone):
    """At the end of a run stands what each part has skipped, and why; when nothing was, nothing stands there."""
    assert "Skipped" not in clone.test().stdout
    (clone.folder / "skipping").touch()
    _, _, listed = clone.test().stdout.partition("== Skipped")
    parts = ["shard1", "shard2", "shard3", "shard4", "unit", "wordpress"]
    assert listed.splitlines()[1 : len(parts) + 1] == [f"tests/{part}.py::test_it: no program" for part in parts]


@pytest.mark.parametrize(
    ("arguments", "mode"),
    [
        (("tests/unit/core", "-k", "name"), "--unit"),
        (("tests/unit/core/test_one.py::test_it[a b]",), "--unit"),
        (("-x", "tests/unit"), "--unit"),
        (("tests/unit", "tests/cli"), "--tests"),
        (("tests/cli/test_one.py::test_it", "tests/unit"), "--tests"),
        (("-k", "name"), "--tests"),
        ((), "--tests"),
    ],
)
def test_what_is_set_up(clone: Clone, arguments: tuple[str, ...], mode: str):
    """Unit tests wait for nothing that they do not need; every other run for all."""
    for path in ("tests/unit/core", "tests/cli"):
        (clone.folder / path).mkdir(parents=True)
        (clone.folder / path / "test_one.py").touch()
    (clone.folder / "scripts/setup").write_text('#!/bin/sh\nmkdir -p .cache\necho "$1" >.cache/mode\n')
    assert clone.test(*arguments).returncode == 0
    assert (clone.folder / ".cache/mode").read_text().strip() == mode


def test_help(clone: Clone):
    """The help is the usage alone, and starts nothing."""
    (clone.folder / "scripts/setup").write_text("#!/bin/sh\ntouch started\n")
    done = clone.test("--help")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Usage: ./scripts/test")
    assert {line.split()[0] for line in lines if line.strip()} >= {"Usage:", "./scripts/test"}
    assert not any(line.startswith(("#", "!")) or "setup" in line for line in lines)
    assert not (clone.folder / "started").exists()
