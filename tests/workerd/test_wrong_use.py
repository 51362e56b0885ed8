"""Wrong use gets a sentence that names the way out, never a stack trace."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, until
from workerd.conftest import PROBE, PROBE_CONFIGS, StartRuntime

NOWHERE = "http://127.0.0.1:9/"
HEAD = """\
name = "broken"
main = "src/broken_worker.py"
compatibility_date = "2026-09-08"
compatibility_flags = ["python_workers"]
"""


def run(*arguments: str, root: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [root / "scripts/run", "--port", "0", "--no-watch", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**os.environ, **environment},
    )
    assert done.returncode == 1, done.stdout
    assert "    at " not in done.stderr, "a stack trace"
    return done


def worker(folder: Path, source: str, extra: str = "") -> str:
    (folder / "src").mkdir()
    (folder / "src/broken_worker.py").write_text(source)
    config = folder / "wrangler.toml"
    config.write_text(f"{HEAD}{extra}")
    return str(config)


def test_port_in_use():
    """A port that is taken is named, with the option to choose another."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--port", str(port), *PROBE_CONFIGS)
    assert done.stderr == f"Port {port} is in use; choose another with --port\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--port", "http"], "--port takes 0 to 65535, not http\n"),
        (["--limits", "cheap"], "--limits takes free or paid, not cheap\n"),
        (["--prot", "80"], "Unknown option '--prot'"),
        (["--var", "NAME"], "--var takes NAME=VALUE, not NAME\n"),
        (["--only", "nobody"], "--only: no Worker is named nobody; choose one of: probe, peer\n"),
        (["--route", "example.com=nobody"], "--route: no Worker is named nobody; choose one of: probe, peer\n"),
    ],
)
def test_options(arguments: list[str], sentence: str):
    """A wrong option is told with what is right."""
    assert run(*PROBE_CONFIGS, *arguments).stderr.startswith(sentence)


def test_broken_config(tmp_path: Path):
    """A config that is not TOML is named, with the line."""
    config = tmp_path / "wrangler.toml"
    config.write_text('name = "x"\nmain = [\n')
    assert run("--config", str(config)).stderr.startswith("wrangler.toml, line 3: Invalid TOML")


def test_invalid_config(tmp_path: Path):
    """A config that wrangler would refuse is refused here too, naming the field."""
    config = worker(tmp_path, "", "kv_namespaces = 3\n")
    assert '"kv_namespaces"' in run("--config", config).stderr


def test_missing_config():
    """A config file that does not exist is named."""
    assert "nosuch.toml" in run("--config", "nosuch.toml").stderr


def test_syntax_error(tmp_path: Path):
    """A syntax error in an entry module is told with its file and line."""
    config = worker(tmp_path, "from workers import WorkerEntrypoint\n\nclass Default(WorkerEntrypoint)\n    pass\n")
    stderr = run("--config", config).stderr
    assert 'File "src/broken_worker.py", line 3' in stderr
    assert "SyntaxError: expected ':'" in stderr


def test_class_not_exported(tmp_path: Path):
    """A class that the config names but __all__ does not is missed before anybody calls it."""
    extra = (
        '[durable_objects]\nbindings = [{ name = "Q", class_name = "Queue" }]\n'
        '[[migrations]]\ntag = "v1"\nnew_sqlite_classes = ["Queue"]\n'
    )
    source = (
        "from workers import DurableObject, WorkerEntrypoint\n__all__ = ['Default']\n"
        "class Default(WorkerEntrypoint): ...\nclass Queue(DurableObject): ...\n"
    )
    stderr = run("--config", worker(tmp_path, source, extra)).stderr
    assert "broken_worker.py does not export a DurableObject class named Queue in __all__" in stderr


def test_randomness_at_import(tmp_path: Path):
    """Chance at import is an error here, as it is when deployed."""
    source = "import random\nfrom workers import WorkerEntrypoint\nSEED = random.random()\nclass Default(WorkerEntrypoint): ...\n"
    assert "uses `random` while it is imported" in run("--config", worker(tmp_path, source)).stderr


def test_broken_migration(tmp_path: Path):
    """A migration that SQLite refuses is named."""
    shutil.copytree(PROBE, tmp_path / "probe")
    (tmp_path / "probe/migrations/0002_typo.sql").write_text("CREATE TABEL x (y);\n")
    configs = [
        "--config",
        str(tmp_path / "probe/wrangler.toml"),
        "--config",
        str(tmp_path / "probe/wrangler.peer.toml"),
    ]
    done = run(*configs, "--state", str(tmp_path / "state"))
    assert done.stderr.startswith("migrations/0002_typo.sql: ")


def project_copy(folder: Path) -> Path:
    """Return the project's own files without anything that was installed."""
    copy = folder / "project"
    shutil.copytree(
        ROOT,
        copy,
        ignore=shutil.ignore_patterns(
            ".git", ".venv", ".cache", "node_modules", "python_modules", ".wrangler", "tests"
        ),
    )
    return copy


def test_no_network_on_the_first_start(tmp_path: Path):
    """A first start that cannot reach the registries says what it needs."""
    nowhere = {
        "PIP_INDEX_URL": NOWHERE,
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "0",
        "npm_config_registry": NOWHERE,
    }
    stderr = run(root=project_copy(tmp_path), **nowhere).stderr
    assert "a first start needs the package registries" in stderr


def test_no_npm(tmp_path: Path):
    """Without npm the set-up says that it is needed."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("cat", "cksum", "dirname", "mkdir", "pwd", "rm", "sh"):
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    (tools / "python3").symlink_to(Path(sys.base_prefix) / "bin/python3")
    stderr = run(root=project_copy(tmp_path), PATH=str(tools)).stderr
    assert stderr.startswith("npm is needed")


def test_variable_that_cannot_be_read(start: StartRuntime):
    """A mistake in a variable is told by name, in the form of every other error."""
    runtime = start("--only", "adblock-compiler", "--var", "RATE_LIMIT_MAX_REQUESTS=ten")
    reply = httpx.get(f"{runtime.url}/api", timeout=PATIENCE_S)
    assert (reply.status_code, reply.headers["content-type"]) == (500, "application/problem+json")
    assert "RATE_LIMIT_MAX_REQUESTS must be a whole number" in reply.json()["detail"]
    assert until(lambda: any("RATE_LIMIT_MAX_REQUESTS" in line for line in runtime.lines))
