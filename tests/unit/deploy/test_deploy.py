"""The deployment creates what is missing once, writes the ids down, and refuses what would not work."""

import os
from pathlib import Path

import pytest

from deploy import main
from smoke import CHECKS
from unit.deploy.fake_account import ACCOUNT_ID, DATABASE_ID, NAMESPACE_ID, Account
from worker_config import WorkerConfig, find_used_bindings, read_configs

COMPILER = """\
name = "compiler"
main = "entry.py"
tail_consumers = [{ service = "tail" }]

[[kv_namespaces]]
binding = "CACHE"
id = "cache"

[[d1_databases]]
binding = "DB"
database_name = "sluice"
database_id = "sluice"

[[r2_buckets]]
binding = "FILES"
bucket_name = "files"

[[queues.producers]]
binding = "JOBS"
queue = "jobs"

[[queues.consumers]]
queue = "jobs"
dead_letter_queue = "dead"

[durable_objects]
bindings = [{ name = "QUEUE", class_name = "Queue" }]

[ai]
binding = "AI"

[vars]
LIMIT = "3"
"""
TAIL = 'name = "tail"\nmain = "entry.py"\n\n[[kv_namespaces]]\nbinding = "LOGS"\nid = "cache"\n'


@pytest.fixture(autouse=True)
def _any_account(monkeypatch: pytest.MonkeyPatch) -> None:
    """A deployment settles the account for all commands after it: not for the next test."""
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "")


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    (tmp_path / "wrangler.toml").write_text(COMPILER)
    (tmp_path / "wrangler.tail.toml").write_text(TAIL)
    (tmp_path / "entry.py").write_text("")
    return tmp_path


def test_creates_all_that_is_missing(project: Path):
    """Queues, buckets, namespaces and databases come to be, and the ids stand in the configs."""
    account = Account()
    assert main([], project, account) == 0
    assert account.kept == {"queues": ["dead", "jobs"], "r2": ["files"], "kv": ["sluice-cache"], "d1": ["sluice"]}
    compiler = WorkerConfig.read(project / "wrangler.toml").content
    assert compiler["kv_namespaces"] == [{"binding": "CACHE", "id": NAMESPACE_ID}]
    assert compiler["d1_databases"][0]["database_id"] == DATABASE_ID


def test_namespace_is_shared(project: Path):
    """Two Workers that name the same namespace get the same one."""
    main([], project, Account())
    tail = WorkerConfig.read(project / "wrangler.tail.toml").content
    assert tail["kv_namespaces"][0]["id"] == NAMESPACE_ID


def test_again_changes_nothing(project: Path):
    """A second deployment creates nothing and leaves the configs as they are."""
    account = Account()
    main([], project, account)
    before = (project / "wrangler.toml").read_text()
    account.ran.clear()
    assert main([], project, account) == 0
    assert not [command for command in account.ran if "create" in command]
    assert (project / "wrangler.toml").read_text() == before


def test_order(project: Path):
    """The tail consumer is deployed before those that name it, and the database is migrated before both."""
    account = Account()
    main([], project, account)
    after = [
        command[-1].rsplit("/", 1)[-1] if command[0] == "deploy" else command[2]
        for command in account.ran
        if command[0] == "deploy" or command[:2] == ("d1", "migrations")
    ]
    assert after == ["list", "apply", "wrangler.tail.toml", "wrangler.toml"]


def test_unbound_name(project: Path, capsys: pytest.CaptureFixture[str]):
    """Code that uses a binding which the config lacks is not deployed."""
    (project / "entry.py").write_text('BINDINGS = (Binding("CACHE", "kv"), Binding("LOST", "kv"))\n')
    account = Account()
    assert main(["compiler"], project, account) == 1
    assert capsys.readouterr().err == "wrangler.toml does not bind what entry.py uses: add LOST\n"
    assert account.ran == []


def test_not_logged_in(project: Path, capsys: pytest.CaptureFixture[str]):
    """Without an account nothing is tried, and the way out is named."""
    assert main([], project, Account(logged_in=False)) == 1
    assert "wrangler login" in capsys.readouterr().err


def test_account_is_settled(project: Path):
    """wrangler is told the account of the login: it might remember that of another."""
    assert main(["tail"], project, Account()) == 0
    assert os.environ["CLOUDFLARE_ACCOUNT_ID"] == ACCOUNT_ID


def test_several_accounts(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """A login with several accounts is asked to choose one, and nothing is deployed before."""
    account = Account(accounts=("one", "two"))
    assert main(["tail"], project, account) == 1
    assert capsys.readouterr().err == (
        "set CLOUDFLARE_ACCOUNT_ID to the id of the account to deploy to; this login has:\n  a: one\n  a: two\n"
    )
    assert account.running == {}
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "two")
    assert main(["tail"], project, account) == 0


@pytest.mark.parametrize("limit", ["0", "-3", "nan", "1e9", "soon"])
def test_time_limit_must_be_one(project: Path, limit: str):
    """A time limit that limits nothing is refused."""
    with pytest.raises(SystemExit, match="2"):
        main(["--time-limit", limit], project, Account())


def test_force_is_for_rollbacks(project: Path):
    """`--force` alone is refused: a deployment has nothing to force."""
    with pytest.raises(SystemExit, match="2"):
        main(["--force"], project, Account())


def test_unknown_worker(project: Path, capsys: pytest.CaptureFixture[str]):
    """A name that is no Worker's is refused with those that are."""
    assert main(["compilr"], project, Account()) == 1
    assert capsys.readouterr().err == "no Worker is named compilr; choose one of: tail, compiler\n"


@pytest.mark.parametrize(("kib", "code"), [("2999.5", 0), ("3073.0", 1)])
def test_dry_run_checks_the_size(project: Path, kib: str, code: int):
    """A dry run builds every Worker without an account, and refuses an upload over 3 MB."""
    ran: list[tuple[str, ...]] = []

    def build(*arguments: str) -> str:
        ran.append(arguments)
        return f"Total Upload: 9000.00 KiB / gzip: {kib} KiB"

    assert main(["--dry-run"], project, build) == code
    assert all(command[:2] == ("deploy", "--dry-run") for command in ran)


def test_bindings_of_a_config(project: Path):
    """Every kind of binding counts, variables included."""
    compiler = next(config for config in read_configs(project) if config.name == "compiler")
    assert compiler.bindings == {"CACHE", "DB", "FILES", "JOBS", "QUEUE", "AI", "LIMIT"}


def test_find_used_bindings():
    """Names are found in the table of bindings and where the environment is read."""
    assert find_used_bindings(
        "class A:\n def f(self): return self.env.KV.get, self.env.ready\nBinding('DB', 'd1')"
    ) == {
        "KV",
        "DB",
    }


@pytest.mark.parametrize("address", ["worker-api", "ftp://example.com", "https://"])
def test_check_needs_an_address(project: Path, capsys: pytest.CaptureFixture[str], address: str):
    """The smoke test refuses what is not the address of a server."""
    assert main(["--check", address], project, Account()) == 1
    assert capsys.readouterr().err == (
        f"--check takes an address such as https://worker-api.example.workers.dev, not {address}\n"
    )


def test_no_address(project: Path, capsys: pytest.CaptureFixture[str]):
    """A Worker for which wrangler prints no address is not passed over in silence."""
    assert main(["tail"], project, Account()) == 0
    assert "tail has no workers.dev address: try it with ./scripts/deploy --check URL" in capsys.readouterr().out


def test_every_worker_is_tried():
    """The smoke test has checks for every Worker, beyond those that all have in common."""
    assert CHECKS.keys() == {config.name for config in read_configs(Path(__file__).parents[3])}
    assert all(CHECKS.values())
