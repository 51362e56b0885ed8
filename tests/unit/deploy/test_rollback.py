"""A rollback returns to the noted versions, and only where the deployment's own version runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from deploy import main
from unit.deploy.fake_account import ACCOUNT_ID, Account

TAIL = 'name = "tail"\nmain = "entry.py"\n'
OWNER = 'name = "owner"\nmain = "entry.py"\ntail_consumers = [{ service = "tail" }]\n'
CALLER = 'name = "caller"\nmain = "entry.py"\nservices = [{ binding = "OWNER", service = "owner" }]\n'
DATABASE = '[[d1_databases]]\nbinding = "DB"\ndatabase_name = "data"\ndatabase_id = "data"\n'
NAMES = ("tail", "owner", "caller")  # in the order of a deployment


@pytest.fixture(autouse=True)
def _any_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "")


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    for name, text in zip(NAMES, (TAIL, OWNER, CALLER), strict=True):
        (tmp_path / f"wrangler.{name}.toml").write_text(text)
    (tmp_path / "entry.py").write_text("")
    return tmp_path


@pytest.fixture(name="account")
def _account() -> Account:
    """All Workers run already."""
    account = Account()
    for name in NAMES:
        account.upload(name)
    return account


def read_notes(project: Path) -> dict[str, Any]:
    notes: dict[str, Any] = json.loads((project / f".deployments/{ACCOUNT_ID}.json").read_text())
    return notes


def test_all_go_back_callers_first(project: Path, account: Account):
    """The operator has all former versions back; a caller never runs before what it calls knows it no longer."""
    before = dict(account.running)
    assert main([], project, account) == 0
    assert main(["--rollback"], project, account) == 0
    assert account.running == before
    assert account.list_changed() == ["caller", "owner", "tail"]


def test_shares_of_the_traffic_come_back(project: Path, account: Account):
    """A Worker whose traffic was split has the same versions with the same shares again."""
    before = {"owner-one": 33.5, "owner-two": 66.5}
    account.running["owner"] = dict(before)
    assert main([], project, account) == 0
    assert main(["--rollback"], project, account) == 0
    assert account.running["owner"] == before


def test_only_the_last_deployment_is_taken_back(project: Path, account: Account):
    """After all were deployed and then one alone, a rollback concerns that one."""
    assert main([], project, account) == 0
    before = dict(account.running)
    assert main(["owner"], project, account) == 0
    assert main(["--rollback"], project, account) == 0
    assert account.running == before
    assert account.list_changed() == ["owner"]


def test_a_named_worker_goes_back_before_its_own_deployment(project: Path, account: Account):
    """The note of a Worker stays while others are deployed."""
    first = dict(account.running)
    assert main([], project, account) == 0
    assert main(["owner"], project, account) == 0
    later = dict(account.running)
    assert main(["--rollback", "tail"], project, account) == 0
    assert account.running == {**later, "tail": first["tail"]}


def test_nothing_was_uploaded(project: Path, account: Account, capsys: pytest.CaptureFixture[str]):
    """A deployment that failed at its first upload leaves nothing to take back, and the one before it stays."""
    assert main([], project, account) == 0
    before = dict(account.running)
    account.refused = {"tail"}
    assert main([], project, account) == 1
    assert main(["--rollback"], project, account) == 0
    assert "tail is not changed: " in capsys.readouterr().out
    assert account.running == before


def test_failed_before_an_upload(project: Path, account: Account, capsys: pytest.CaptureFixture[str]):
    """A deployment that ended before its first upload leaves nothing to take back."""
    (project / "wrangler.owner.toml").write_text(OWNER + DATABASE)
    assert main(["tail"], project, account) == 0
    before = dict(account.running)

    def fail(*arguments: str) -> str:
        if arguments[:3] == ("d1", "migrations", "list"):
            raise KeyboardInterrupt
        return account(*arguments)

    assert main([], project, fail) == 130
    assert main(["--rollback"], project, account) == 0
    assert "the last deployment ended before an upload: nothing is to be rolled back" in capsys.readouterr().out
    assert account.running == before


def test_repeated_deployment(project: Path, account: Account):
    """Deployments that fail count with the one that succeeds after them; after a rollback the next one begins afresh."""
    before = dict(account.running)
    account.refused = {"caller"}
    assert main([], project, account) == 1
    assert main([], project, account) == 1
    account.refused = set()
    assert main(["caller"], project, account) == 0
    assert main(["--rollback"], project, account) == 0
    assert account.running == before
    tag = read_notes(project)["tag"]
    assert main([], project, account) == 0
    assert read_notes(project)["tag"] != tag


def test_first_deployment_of_one(project: Path, account: Account, capsys: pytest.CaptureFixture[str]):
    """Where one Worker is new, the others go back, and the exit code says that not all is as before."""
    del account.running["caller"]
    before = dict(account.running)
    assert main([], project, account) == 0
    new = account.running["caller"]
    assert main(["--rollback"], project, account) == 1
    assert account.running == {**before, "caller": new}
    assert capsys.readouterr().err == (
        "caller has no former version: this was its first deployment, and it runs on. "
        "npx wrangler delete --config wrangler.caller.toml removes it.\n"
    )


def test_first_deployment_in_part(project: Path, capsys: pytest.CaptureFixture[str]):
    """A first deployment that fails half-way, and one that completes it: there is nothing to go back to after either."""
    account = Account()
    account.refused = {"caller"}
    assert main([], project, account) == 1
    capsys.readouterr()
    assert main(["--rollback", *NAMES], project, account) == 1
    told = capsys.readouterr()
    assert "caller is not changed: nothing runs" in told.out
    assert [line.split()[0] for line in told.err.splitlines()] == ["tail", "owner"]
    account.refused = set()
    assert main([], project, account) == 0
    capsys.readouterr()
    assert main(["--rollback"], project, account) == 1
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == list(NAMES)
    assert account.list_changed() == []


def test_somebody_else_deployed(project: Path, account: Account, capsys: pytest.CaptureFixture[str]):
    """A version that is neither the deployment's nor a former one stops the rollback before its first step."""
    before = dict(account.running)
    assert main([], project, account) == 0
    foreign = account.upload("tail", tag="another")
    assert main(["--rollback"], project, account) == 1
    assert f"tail was changed after the deployment: {foreign} runs" in capsys.readouterr().err
    assert account.list_changed() == []
    assert main(["--rollback", "owner", "caller"], project, account) == 0
    assert account.running == {**before, "tail": {foreign: 100}}
    assert main(["--rollback", "--force"], project, account) == 0
    assert account.running == before


def test_gradual_deployment_of_ours(project: Path, account: Account):
    """The deployment's version beside a former one is taken back; a former one alone is left as it is."""
    former = next(iter(account.running["owner"]))
    assert main(["owner"], project, account) == 0
    account.running["owner"] |= {former: 50}
    assert main(["--rollback"], project, account) == 0
    assert account.running["owner"] == {former: 100}


def test_cloudflare_refuses(project: Path, account: Account, capsys: pytest.CaptureFixture[str]):
    """Where Cloudflare takes a Worker back no more, those that it calls stay too; those before it are back."""
    before = dict(account.running)
    assert main([], project, account) == 0
    after = dict(account.running)
    account.refused = {"owner"}
    assert main(["--rollback"], project, account) == 1
    assert account.running == {**after, "caller": before["caller"]}
    assert "owner was not rolled back, nor were those after it" in capsys.readouterr().err
    account.refused = set()
    assert main(["--rollback"], project, account) == 0
    assert account.running == before


def test_migrations_stay(project: Path, account: Account, capsys: pytest.CaptureFixture[str]):
    """The operator is told which migrations the deployment applied, because they stay."""
    (project / "wrangler.owner.toml").write_text(OWNER + DATABASE)
    account.pending = ["0007_more.sql", "0008_still_more.sql"]
    assert main([], project, account) == 0
    assert main(["--rollback"], project, account) == 0
    assert "The deployment applied 0007_more.sql, 0008_still_more.sql." in capsys.readouterr().out
    assert main([], project, account) == 0
    assert main(["--rollback"], project, account) == 0
    assert "applied" not in capsys.readouterr().out


def test_nothing_is_noted(project: Path, account: Account, capsys: pytest.CaptureFixture[str]):
    """Without notes nothing is guessed; the operator reads how to go back by hand."""
    assert main(["--rollback"], project, account) == 1
    error = capsys.readouterr().err
    assert "nothing was deployed to this account from this folder" in error
    assert "npx wrangler rollback VERSION" in error
    assert main(["tail"], project, account) == 0
    assert main(["--rollback", "owner"], project, account) == 1
    assert "owner was not deployed from this folder" in capsys.readouterr().err
    assert account.list_changed() == []


def test_accounts_are_told_apart(project: Path, account: Account, monkeypatch: pytest.MonkeyPatch):
    """A deployment to another account leaves the notes of this one."""
    before = dict(account.running)
    assert main([], project, account) == 0
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", "other")
    assert main([], project, Account(accounts=("other",))) == 0
    monkeypatch.setenv("CLOUDFLARE_ACCOUNT_ID", ACCOUNT_ID)
    assert main(["--rollback"], project, account) == 0
    assert account.running == before


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"tag": "t", "finished": true, "migrations": [], "notes": {"tail": {}}}']
)
def test_damaged_notes(project: Path, account: Account, capsys: pytest.CaptureFixture[str], text: str):
    """A damaged file is named with the way out, and nothing is deployed over it."""
    notes = project / f".deployments/{ACCOUNT_ID}.json"
    notes.parent.mkdir()
    notes.write_text(text)
    before = dict(account.running)
    for arguments in ([], ["--rollback"]):
        assert main(arguments, project, account) == 1
        assert capsys.readouterr().err == (
            f"{notes} cannot be read: remove it; what ran before the last deployment is then no longer known here\n"
        )
    assert account.running == before


def test_note_comes_before_the_upload(project: Path, account: Account):
    """When an upload begins, what ran before it is on the disk."""
    noted: list[bool] = []

    def look(*arguments: str) -> str:
        if arguments[0] == "deploy":
            name = Path(arguments[-1]).name.split(".")[1]
            shares = {share["version"]: share["percentage"] for share in read_notes(project)["notes"][name]["before"]}
            noted.append(shares == account.running[name])
        return account(*arguments)

    assert main([], project, look) == 0
    assert noted == [True, True, True]
