"""The deployment says which secrets a Worker lacks, and what does not work without them."""

import json
from pathlib import Path

import pytest

from commands import CommandFailed, DeployError
from worker_config import WorkerConfig, read_configs
from worker_secrets import SECRETS, check_secrets, describe_missing, list_missing, read_secret_names

ROOT = Path(__file__).parents[3]
PRELOAD = WorkerConfig(Path("wrangler.preload.toml"), {"name": "edge-preload"})
UPDATER = WorkerConfig(Path("wrangler.news-updater.toml"), {"name": "worker-news-updater"})


def answer(*names: str):
    return lambda *_arguments: json.dumps([{"name": name, "type": "secret_text"} for name in names])


def fail(text: str):
    def run(*_arguments: str) -> str:
        raise CommandFailed(text)

    return run


def test_missing_secrets_are_named_with_what_fails():
    """A missing secret is named with its Worker, what does not work, and the command that sets it."""
    assert describe_missing(PRELOAD, list_missing(PRELOAD, answer("ADMIN_TOKEN", "ALERT_WEBHOOK_URL"))) == [
        f"edge-preload: missing secret SIGNING_KEY: without it {SECRETS['edge-preload'][1].without}",
        "  set it with: npx wrangler secret put NAME --config wrangler.preload.toml",
    ]


def test_nothing_is_said_when_all_are_there():
    """A Worker with all its secrets gets no line."""
    present = answer("ADMIN_TOKEN", "SIGNING_KEY", "ALERT_WEBHOOK_URL")
    assert describe_missing(PRELOAD, list_missing(PRELOAD, present)) == []


@pytest.mark.parametrize("key", ["NEWSDATA_API_KEY", "APITUBE_API_KEY"])
def test_one_of_two_is_enough(key: str):
    """Either key of a news service will do."""
    assert list_missing(UPDATER, answer(key, "ADMIN_TOKEN")) == []
    assert [secret.title for secret in list_missing(UPDATER, answer())] == [
        "NEWSDATA_API_KEY or APITUBE_API_KEY",
        "ADMIN_TOKEN",
    ]


def test_a_variable_counts():
    """A value that stands in the config is not missed as a secret."""
    config = WorkerConfig(
        Path("w.toml"), {"name": "worker-news-processor", "vars": {"ADMIN_TOKEN": "the-operators-token"}}
    )
    assert list_missing(config, answer()) == []


def test_short_secrets_are_refused():
    """A secret that the Workers would not accept is named before anything is uploaded, with the place where it stands."""
    short = WorkerConfig(Path("w.toml"), {"name": "worker-api", "vars": {"ADMIN_TOKEN": " fifteen-letters "}})
    with pytest.raises(DeployError, match=r"w\.toml: ADMIN_TOKEN has fewer than 16 characters"):
        check_secrets([PRELOAD, short], {})
    with pytest.raises(DeployError, match="the environment: ADMIN_TOKEN has fewer than 16 characters"):
        check_secrets([PRELOAD], {"ADMIN_TOKEN": "short"})
    check_secrets([PRELOAD, UPDATER], {"ADMIN_TOKEN": "", "SIGNING_KEY": "the-key-that-signs"})


def test_worker_that_is_not_deployed_yet():
    """Before the first deployment a Worker has no secrets; any other failure is one."""
    assert read_secret_names(PRELOAD, fail('Worker "edge-preload" not found.\n\nIf this is a new Worker, …')) == set()
    with pytest.raises(CommandFailed):
        read_secret_names(PRELOAD, fail("Authentication error [code: 10000]"))


def test_every_worker_has_its_row():
    """The table has a row for each Worker, and every name in it is in .dev.vars.example and in the sources."""
    assert SECRETS.keys() == {config.name for config in read_configs(ROOT)}
    example = (ROOT / ".dev.vars.example").read_text()
    sources = "\n".join(path.read_text() for path in (ROOT / "src/sluice").rglob("*.py"))
    for name in (name for secrets in SECRETS.values() for secret in secrets for name in secret.names):
        assert f"{name}=" in example
        assert f'"{name}"' in sources
