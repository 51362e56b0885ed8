"""Deployments and rollbacks with the real wrangler, against a stand-in of Cloudflare's API on loopback.

The project has three Workers: `tail`; `owner`, which has a database and a Durable Object; and `caller`, which calls it.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final

import pytest

from cli.cloudflare_api import ACCOUNT, Account, serve
from runtime import PATIENCE_S, ROOT, until
from worker_config import WorkerConfig, read_configs

COMMON: Final = 'main = "src/entry.py"\ncompatibility_date = "2026-09-08"\ncompatibility_flags = ["python_workers"]\nworkers_dev = false\n'
OBJECT: Final = """
[durable_objects]
code_update_strategy = { mode = "immediate" }
bindings = [{ name = "QUEUE", class_name = "Queue" }]

[[migrations]]
tag = "v1"
new_sqlite_classes = ["Queue"]
"""
DATABASE: Final = """
[[d1_databases]]
binding = "DB"
database_name = "data"
database_id = "01234567-89ab-cdef-0123-456789abcdef"
"""
CONFIGS: Final = {
    "tail": f'name = "tail"\n{COMMON}',
    "owner": f'name = "owner"\n{COMMON}tail_consumers = [{{ service = "tail" }}]\n{OBJECT}{DATABASE}',
    "caller": f'name = "caller"\n{COMMON}{OBJECT}\n[[services]]\nbinding = "OWNER"\nservice = "owner"\n',
}
IMMEDIATE: Final = {"mode": "immediate"}
SCRIPTS: Final = f"/accounts/{ACCOUNT}/workers/scripts"
OWNERS: Final = [config for config in read_configs(ROOT) if config.all("migrations")]


class Site:
    """A project that is deployed to an account of its own."""

    def __init__(self, folder: Path, account: Account, address: str) -> None:
        self.folder = folder
        self.account = account
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("CLOUDFLARE_")
        } | {
            "PATH": f"{ROOT / 'node_modules/.bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "CLOUDFLARE_API_BASE_URL": address,
            "CLOUDFLARE_API_TOKEN": "a-token",
            "WRANGLER_SEND_METRICS": "false",
        }

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(self.folder / "scripts/remote/deploy.py"), *arguments],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def deploy(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        with self.start(*arguments) as process:
            output, errors = process.communicate(timeout=PATIENCE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def wrangler(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = self._environment | {"CLOUDFLARE_ACCOUNT_ID": ACCOUNT}
        return subprocess.run(
            ["wrangler", *arguments],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )

    @property
    def running(self) -> dict[str, dict[str, float]]:
        return {name: worker.shares for name, worker in self.account.workers.items()}

    def count_deployments(self) -> int:
        return sum(len(worker.deployments) for worker in self.account.workers.values())

    def list_processes(self) -> list[str]:
        """Return the processes that work on this project."""
        done = subprocess.run(["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True)
        return [line for line in done.stdout.splitlines() if f"--config {self.folder}" in line]


@pytest.fixture(name="site")
def _site(tmp_path: Path) -> Iterator[Site]:
    for name, text in CONFIGS.items():
        (tmp_path / f"wrangler.{name}.toml").write_text(text)
    (tmp_path / "src").mkdir()
    (tmp_path / "src/entry.py").write_text(
        "from workers import WorkerEntrypoint\n\n\nclass Default(WorkerEntrypoint): ...\n"
    )
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations/0001_articles.sql").write_text("CREATE TABLE articles (id TEXT);")
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    account = Account()
    with serve(account) as address:
        yield Site(tmp_path, account, address)


@pytest.fixture(name="deployed")
def _deployed(site: Site) -> Site:
    """All Workers run, as somebody deployed them long ago; the traffic of `owner` is split between two versions.

    It has no database here, which saves two calls of wrangler in each deployment.
    """
    config = site.folder / "wrangler.owner.toml"
    config.write_text(config.read_text().removesuffix(DATABASE))
    for name in CONFIGS:
        site.account.change_by_hand(name)
        site.account.workers[name].migration_tag = "v1"
    owner = site.account.workers["owner"]
    site.account.change_by_hand("owner", {owner.add_version({}): 10, next(iter(owner.versions)): 90})
    return site


@contextmanager
def hold(account: Account, call: str) -> Iterator[Event]:
    """Let a call of the API wait; yield what lets it go."""
    account.gates[call] = Event()
    yield account.gates[call]
    account.gates.pop(call).set()


def test_first_deployment(site: Site):
    """After a first deployment there is nothing to go back to: the operator is told so, and how to remove a Worker. Visitors
    keep what was deployed, because without it they would get nothing at all.
    """
    done = site.deploy()
    assert (done.returncode, done.stderr) == (0, "")
    assert site.account.list_uploads() == ["tail", "owner", "caller"]
    running = site.running

    back = site.deploy("--rollback")
    assert back.returncode == 1
    assert back.stderr.splitlines() == [
        f"{name} has no former version: this was its first deployment, and it runs on. "
        f"npx wrangler delete --config wrangler.{name}.toml removes it."
        for name in ("tail", "owner", "caller")
    ]
    assert "The deployment applied 0001_articles.sql." in back.stdout
    assert site.running == running


def test_complete_deployment(deployed: Site):
    """All that ran before runs again, shares of the traffic included, callers first. Visitors get the former pages at once, from
    Durable Objects too. A second rollback finds nothing to do.
    """
    before = deployed.running
    assert deployed.deploy().returncode == 0
    assert not any(before[name].keys() & shares.keys() for name, shares in deployed.running.items())

    deployed.account.calls.clear()
    back = deployed.deploy("--rollback")
    assert (back.returncode, back.stderr) == (0, "")
    assert deployed.running == before
    changed = [call for call in deployed.account.calls if call.startswith("POST ") and call.endswith("/deployments")]
    assert changed == [f"POST {SCRIPTS}/{name}/deployments" for name in ("caller", "owner", "tail")]
    for name in ("owner", "caller"):
        strategies = [each["code_update_strategy"] for each in deployed.account.workers[name].deployments[:2]]
        assert strategies == [IMMEDIATE, IMMEDIATE], name  # of the rollback and of the deployment

    deployments = deployed.count_deployments()
    again = deployed.deploy("--rollback")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.count(" is not changed: ") == 3
    assert (deployed.running, deployed.count_deployments()) == (before, deployments)


def test_partial_deployment(deployed: Site):
    """Cloudflare refuses the third Worker: the operator reads its reason and the two ways out. Until the rollback visitors get the
    new versions of the first two, which old callers can use; after it, what they got before. The third is not touched.
    """
    before = deployed.running
    deployed.account.refused = {"caller"}
    done = deployed.deploy()
    assert done.returncode == 1
    assert "Script startup exceeded CPU time limit." in done.stderr
    assert "run it again to go on, or ./scripts/deploy --rollback to go back to the former versions" in done.stderr
    assert [name for name, shares in deployed.running.items() if shares != before[name]] == ["tail", "owner"]

    untouched = len(deployed.account.workers["caller"].deployments)
    back = deployed.deploy("--rollback")
    assert (back.returncode, back.stderr) == (0, "")
    assert f"caller is not changed: {next(iter(before['caller']))} runs" in back.stdout
    assert deployed.running == before
    assert len(deployed.account.workers["caller"].deployments) == untouched


def test_repeated_deployment(deployed: Site):
    """A deployment that failed half-way is run again and succeeds: a rollback then leads to what ran before the first attempt, so
    visitors do not stay with half of the new code.
    """
    before = deployed.running
    deployed.account.refused = {"caller"}
    assert deployed.deploy().returncode == 1
    deployed.account.refused = set()
    assert deployed.deploy().returncode == 0
    assert deployed.deploy("--rollback").returncode == 0
    assert deployed.running == before


def test_deployment_by_hand_in_between(deployed: Site):
    """Somebody mended a Worker by hand after the deployment: the operator is told who and when, and visitors keep the mended
    version, unless the operator insists.
    """
    before = deployed.running
    assert deployed.deploy().returncode == 0
    mended = next(iter(deployed.account.change_by_hand("owner")))
    running, deployments = deployed.running, deployed.count_deployments()

    refused = deployed.deploy("--rollback")
    assert refused.returncode == 1
    assert f"owner was changed after the deployment: {mended} runs since 2026-11-18T10:" in refused.stderr
    assert "by somebody@example.com" in refused.stderr
    assert "Nothing was rolled back. ./scripts/deploy --rollback --force goes back all the same" in refused.stderr
    assert "./scripts/deploy --rollback tail caller rolls back only these" in refused.stderr
    assert (deployed.running, deployed.count_deployments()) == (running, deployments)

    assert deployed.deploy("--rollback", "--force").returncode == 0
    assert deployed.running == before


def test_killed_deployment(deployed: Site):
    """The deployment is killed while Cloudflare takes an upload, which then comes to be all the same: its version is known by its
    tag, and visitors get what they had before.
    """
    before = deployed.running
    upload = f"POST {SCRIPTS}/owner/versions"
    with hold(deployed.account, upload), deployed.start() as process:
        until(lambda: upload in deployed.account.calls)
        process.kill()
    until(lambda: deployed.running["owner"] != before["owner"] and not deployed.list_processes())
    back = deployed.deploy("--rollback")
    assert (back.returncode, back.stderr) == (0, "")
    assert deployed.running == before


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_deployment(deployed: Site, how: signal.Signals, code: int):
    """Ctrl-C during an upload ends wrangler too, and the operator reads how to go on or back. Visitors of the Worker whose upload
    was cut off notice nothing.
    """
    before = deployed.running
    upload = f"POST {SCRIPTS}/tail/versions"
    with hold(deployed.account, upload), deployed.start() as process:
        until(lambda: upload in deployed.account.calls)
        assert deployed.list_processes()
        process.send_signal(how)
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == code
        assert errors.splitlines()[-1] == "interrupted"
        assert "run it again to go on, or ./scripts/deploy --rollback" in errors
        assert deployed.list_processes() == []
    assert deployed.running == before


def test_silent_api(site: Site):
    """An API that accepts a connection and never answers ends the deployment: the operator reads which command waited, for how
    long, and what to do. Nothing was changed for visitors.
    """
    with hold(site.account, "GET /user/tokens/verify"):
        done = site.deploy("--time-limit", "2")
    assert done.returncode == 1
    assert done.stderr == (
        "wrangler whoami --json did not end within 2 s and was stopped: check the connection to Cloudflare and try again, or allow "
        "more with --time-limit SECONDS\n"
    )
    assert site.running == {}


@pytest.mark.parametrize("config", OWNERS, ids=[config.name for config in OWNERS])
def test_objects_take_new_code_at_once(site: Site, config: WorkerConfig):
    """The configs of this project: a first upload and later ones tell Cloudflare to run new code in Durable Objects at once, so that
    a visitor is not answered by an old object behind a new Worker.
    """
    assert len(OWNERS) == 5
    for _ in range(2):
        done = site.wrangler("deploy", "--config", str(config.path))
        assert done.returncode == 0, done.stderr
    strategies = [each["code_update_strategy"] for each in site.account.workers[config.name].deployments]
    assert strategies == [IMMEDIATE, IMMEDIATE]
