"""./scripts/deploy as a process: the order of its calls, and the smoke test against the real local runtime.

`wrangler` is a script here that records its calls and answers as for an empty account: what is claimed is the order of the
calls and what is made of the answers. `test_rollback.py` has the real one.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime import PATIENCE_S, ROOT, Runtime

INSTALLED = (".git", ".venv", ".cache", "node_modules", "python_modules", ".wrangler", "tests")
FAKE = """\
#!{python}
import json, os, pathlib, sys, tomllib

arguments = sys.argv[1:]
folder = pathlib.Path(os.environ["FAKE_ACCOUNT"])
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps([pathlib.Path(each).name if each.endswith(".toml") else each for each in arguments]) + "\\n")
name = tomllib.loads(pathlib.Path(arguments[-1]).read_text())["name"] if arguments[-1].endswith(".toml") else ""
spaces = folder / "spaces"
match arguments:
    case ["whoami", "--json"]:
        print(json.dumps({{"loggedIn": True, "accounts": [{{"id": "mine", "name": "mine"}}]}}))
    case ["deployments", "list", *_]:
        print("[]")
    case ["kv", "namespace", "list"]:
        titles = spaces.read_text().split() if spaces.exists() else []
        print(json.dumps([{{"title": title, "id": f"{{at:032x}}"}} for at, title in enumerate(titles, 1)]))
    case ["kv", "namespace", "create", title]:
        with spaces.open("a") as file:
            file.write(title + "\\n")
    case ["d1", "info", *_]:
        print(json.dumps({{"uuid": "01234567-89ab-cdef-0123-456789abcdef"}}))
    case ["secret", "list", *_] if name == "edge-preload":
        print(json.dumps([{{"name": "SIGNING_KEY"}}]))
    case ["secret", "list", *_]:
        sys.exit(f'Worker "{{name}}" not found.')
    case ["deploy", *_]:
        print(f"Uploaded {{name}}\\n  http://{{name}}.localhost:{{os.environ['FAKE_PORT']}}\\nCurrent Version ID: 1")
    case _:
        print("done")
"""


@pytest.fixture(name="runtime", scope="module")
def _runtime(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    runtime = Runtime(tmp_path_factory.mktemp("state"), "--var", "ADMIN_TOKEN=a-secret-of-the-operator").start()
    yield runtime
    runtime.kill()


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    """A copy, because a deployment writes ids into the configs."""
    copy = tmp_path / "project"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*INSTALLED))
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/wrangler"
    fake.write_text(FAKE.format(python=sys.executable))
    fake.chmod(0o755)
    return copy


def deploy(project: Path, *arguments: str, port: str = "9") -> subprocess.CompletedProcess[str]:
    folder = project.parent
    path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, str(project / "scripts/remote/deploy.py"), *arguments],
        env=os.environ
        | {"PATH": path, "FAKE_ACCOUNT": str(folder), "FAKE_PORT": port, "CLOUDFLARE_ACCOUNT_ID": "mine"},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def list_calls(project: Path) -> list[list[str]]:
    return [json.loads(line) for line in (project.parent / "calls").read_text().splitlines()]


def test_deployment(project: Path, runtime: Runtime):
    """All is created and migrated first, the secrets are told, the tail Worker is uploaded first, and all is tried."""
    done = deploy(project, port=runtime.url.rsplit(":", 1)[1])
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    calls = list_calls(project)
    steps = list(dict.fromkeys(call[0] if call[:2] != ["d1", "migrations"] else "migrate" for call in calls))
    assert steps == ["whoami", "queues", "r2", "kv", "d1", "migrate", "secret", "deployments", "deploy"]
    uploads = [call[-1] for call in calls if call[0] == "deploy"]
    assert uploads[0] == "wrangler.tail.toml"
    assert sorted(uploads) == sorted(path.name for path in ROOT.glob("wrangler*.toml"))
    assert "edge-preload: missing secret ADMIN_TOKEN: without it no zone can be created" in done.stdout
    assert "missing secret SIGNING_KEY" not in done.stdout
    assert "deploying sluice-tail before others: it receives the events of " in done.stdout
    assert "ok      adblock-compiler        POST /compile (compiles a list)" in done.stdout
    assert "FAILED" not in done.stdout


def test_check(runtime: Runtime):
    """`--check` of the local runtime tries every Worker and prints a line for each check."""
    done = subprocess.run(
        [ROOT / "scripts/deploy", "--check", runtime.url],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert {line.split()[1] for line in lines} == {
        "adblock-compiler",
        "edge-preload",
        "sluice-tail",
        "worker-api",
        "worker-news-processor",
        "worker-news-updater",
    }
    assert [line for line in lines if not line.startswith("ok ")] == [
        "note    edge-preload            with ADMIN_TOKEN set, the warming of each zone is tried as well"
    ]
    assert "ok      worker-api              GET /api/v1/articles (articles, or none yet)" in lines


def test_check_of_one_address(project: Path, runtime: Runtime):
    """The address of one Worker is recognised by its health, and only its own checks run."""
    done = deploy(project, "--check", runtime.url.replace("127.0.0.1", "edge-preload.localhost"))
    assert done.returncode == 0
    assert {line.split()[1] for line in done.stdout.splitlines()} == {"edge-preload"}


def test_check_fails(project: Path):
    """What does not answer is a failure with its reason, and the exit code is 1."""
    done = deploy(project, "--check", "http://worker-api.localhost:9")
    assert (done.returncode, done.stderr) == (1, "checks that failed: 1\n")
    assert done.stdout.startswith("FAILED  http://127.0.0.1:9      GET /health (every binding answers): no answer (")


def test_check_of_something_else(project: Path, runtime: Runtime):
    """A server that is not the Worker it should be fails its check."""
    address = runtime.url.replace("127.0.0.1", "worker-api.localhost")
    (project / "wrangler.tail.toml").write_text(
        (ROOT / "wrangler.tail.toml").read_text().replace("sluice-tail", "gone")
    )
    done = deploy(project, "gone", "--check", address.replace("worker-api.localhost", "127.0.0.1"))
    assert done.returncode == 1
    assert "FAILED  gone                    GET /health (every binding answers): answered 200" in done.stdout
