"""An upload has the locked packages: wrangler completes them before it builds, or stops."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from cli.made_packages import make_project
from runtime import PATIENCE_S, ROOT, Runtime

NOWHERE = "http://127.0.0.1:9/"
INSTALLED = (".git", ".venv", ".cache", "node_modules", "python_modules", ".wrangler", "tests")
TOOLS = {"PATH": f"{ROOT / 'node_modules/.bin'}{os.pathsep}{os.environ['PATH']}"}
NO_REGISTRY = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_FIND_LINKS": "",
    "PIP_NO_INDEX": "1",
    "npm_config_registry": NOWHERE,
    "npm_config_fetch_retries": "0",
}


def copy_project(folder: Path) -> Path:
    """Return the project as a fresh clone has it."""
    copy = folder / "project"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*INSTALLED))
    shutil.rmtree(copy / "build")
    return copy


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


# What the build looks at of the vendored packages.
VENDORED = {
    "pydantic/__init__.py": "",
    "pydantic_core/__init__.py": "",
    "publicsuffixlist/public_suffix_list.dat": "com\n// ===END ICANN DOMAINS===\nprivate.com\n",
}


def note_pages(clone: Path) -> None:
    """Mark the packages of the pages as installed: this project has none, and a registry for them is not at hand."""
    (clone / "src/sluice/console/libraries").mkdir(parents=True)
    (clone / "node_modules/.bin").mkdir(parents=True)
    (clone / "node_modules/.bin/node").touch()
    (clone / ".cache").mkdir()
    for name in ("package.json", "package-lock.json"):
        (clone / name).write_text("{}\n")
    for step, content in (("npm", b"{}\n{}\n"), ("libraries", b"{}\n")):
        marker = subprocess.run(["cksum"], input=content, capture_output=True, check=True).stdout
        (clone / f".cache/{step}.done").write_bytes(marker)


@pytest.fixture(name="clone")
def _clone(tmp_path: Path) -> Path:
    """A project whose Workers need one package, `made==1.0`, and a folder in place of a registry."""
    clone = tmp_path / "clone"
    (clone / "requirements").mkdir(parents=True)
    (clone / "scripts/build").mkdir(parents=True)
    for name in ("setup", "build/public_suffixes.py"):
        shutil.copy(ROOT / "scripts" / name, clone / "scripts" / name)
    # This project has no API to describe and no models, only the public suffixes.
    for path in ("core/errors.py", "core/filters/syntax/public_suffixes.py", "core/filters/syntax/punycode.py"):
        (clone / "src/sluice" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "src/sluice" / path, clone / "src/sluice" / path)
    (clone / "wrangler.toml").touch()
    (clone / "scripts/build/documents.py").write_text("import os, sys\nos.makedirs(sys.argv[1], exist_ok=True)\n")
    write_schemas = "import pathlib, sys\npathlib.Path(sys.argv[1], 'pydantic/schemas.json').touch()\n"
    (clone / "scripts/build/models.py").write_text(write_schemas)
    (clone / "scripts/build/uploads.py").write_text("import os\nos.makedirs('build', exist_ok=True)\n")
    (clone / "scripts/build/declared_lists.py").write_text("import sys\nopen(sys.argv[2], 'w').close()\n")
    (clone / "src/sluice/workers").mkdir(parents=True)
    note_pages(clone)
    lock = make_project(clone, VENDORED)
    for name in ("development", "worker"):
        (clone / f"requirements/{name}.txt").write_text(lock)
    return clone


def set_up_modules(clone: Path) -> str:
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(clone.parent), "PIP_CONFIG_FILE": os.devnull}
    done = run(clone, "./scripts/setup", "--modules", **offline)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_modules_are_installed_once(clone: Path):
    """`--modules` vendors what the lock names, without npm, and has nothing to do the second time."""
    assert "Setting up: vendored packages …\n" in set_up_modules(clone)
    assert (clone / "python_modules/made.py").is_file()
    assert "private" not in (clone / "python_modules/publicsuffixlist/public_suffix_list.dat").read_text()
    assert set_up_modules(clone) == ""


def test_other_modules_are_replaced(clone: Path):
    """Another version, another package or a missing folder is replaced by what the lock names."""
    set_up_modules(clone)
    for name in ("made-0.9.dist-info", "other-1.0.dist-info", "gone"):
        (clone / "python_modules/made-1.0.dist-info").rename(clone / "python_modules" / name)
        assert (
            set_up_modules(clone)
            == "Setting up: vendored packages …\nSetting up: API documents, models and uploads …\n"
        ), name
        assert [path.name for path in (clone / "python_modules").glob("*.dist-info")] == ["made-1.0.dist-info"]


def test_missing_modules_stop_a_plain_wrangler(tmp_path: Path):
    """wrangler itself, in a clone where nothing is installed and no registry answers, uploads nothing and says why."""
    done = run(copy_project(tmp_path), "wrangler", "deploy", "--dry-run", **TOOLS, **NO_REGISTRY)
    assert done.returncode == 1
    assert "a first start needs the package registries" in done.stdout
    assert "Total Upload" not in done.stdout


def test_npx_wrangler_is_the_locked_one(tmp_path: Path):
    """`npx wrangler` runs the locked version with the locked Node, whatever Node the machine has, and without a network."""
    locked = json.loads((ROOT / "package.json").read_text())["devDependencies"]["wrangler"]
    done = run(ROOT, "npx", "wrangler", "--version", npm_config_cache=str(tmp_path), **NO_REGISTRY)
    assert (done.returncode, done.stdout.strip()) == (0, locked), done.stderr


def test_modules_without_compiled_files_are_served(tmp_path: Path):
    """What `pywrangler sync` leaves, sources alone, serves as well as what the set-up has compiled."""
    copy = copy_project(tmp_path)
    (copy / "scripts/setup").write_text("#!/bin/sh\n")  # it would compile them
    (copy / "node_modules").symlink_to(ROOT / "node_modules")
    (copy / ".cache").symlink_to(ROOT / ".cache")
    (copy / "build").symlink_to(ROOT / "build")
    shutil.copytree(ROOT / "python_modules", copy / "python_modules", ignore=shutil.ignore_patterns("*.pyc"))
    (copy / "python_modules/pyvenv.cfg").touch()
    runtime = Runtime(tmp_path / "state", "--only", "adblock-compiler,sluice-tail", root=copy).start()
    try:
        assert httpx.get(f"{runtime.url}/health", timeout=PATIENCE_S).json()["status"] == "ok"
    finally:
        runtime.kill()
