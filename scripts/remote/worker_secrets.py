"""The secrets of each Worker, and what does not work without them."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from commands import CommandFailed, DeployError, Wrangler
from worker_config import WorkerConfig


@dataclass(frozen=True, slots=True)
class Secret:
    """One secret. With several names, one of them is enough."""

    names: tuple[str, ...]
    without: str  # what happens while it is not set
    optional: bool = False

    @property
    def title(self) -> str:
        return " or ".join(self.names)


_RUN_TOKEN: Final = Secret(("ADMIN_TOKEN",), "runs by hand (POST /run) are refused; the cron still runs")

SECRETS: Final[dict[str, tuple[Secret, ...]]] = {
    "adblock-compiler": (
        Secret(("TURNSTILE_SECRET_KEY",), "anyone may compile without proof of being a person", optional=True),
        Secret(
            ("ADMIN_TOKEN",),
            "no list can be published by request (lists.json still works), and dead letters cannot be read",
            optional=True,
        ),
        Secret(
            ("ALERT_WEBHOOK_URL",), "alerts about failing sources and degraded lists are sent nowhere", optional=True
        ),
    ),
    "edge-preload": (
        Secret(("ADMIN_TOKEN",), "no zone can be created or changed, and the operator's page is closed"),
        Secret(("SIGNING_KEY",), "signed requests are refused, except for zones with a key of their own"),
        Secret(("ALERT_WEBHOOK_URL",), "alerts about failing origins are sent nowhere", optional=True),
    ),
    "sluice-tail": (
        Secret(("ADMIN_TOKEN",), "GET /logs is closed; events are still kept"),
        Secret(("ERROR_WEBHOOK_URL",), "failed events are sent nowhere", optional=True),
    ),
    "worker-api": (
        Secret(("ADMIN_TOKEN",), "webhooks for new stories cannot be added or removed"),
        Secret(("ALERT_WEBHOOK_URL",), "alerts about failing sources are only logged", optional=True),
    ),
    "worker-news-processor": (_RUN_TOKEN,),
    "worker-news-updater": (
        Secret(("NEWSDATA_API_KEY", "APITUBE_API_KEY"), "no news service is asked, only the feeds of NEWS_FEEDS"),
        _RUN_TOKEN,
    ),
}


def check_secrets(configs: list[WorkerConfig], environment: Mapping[str, str] = os.environ) -> None:
    """Raise DeployError for secrets that the Workers would count as not set; Cloudflare shows nobody the values that it keeps."""
    if problems := [*_find_short("the environment", environment)]:
        raise DeployError("; ".join(problems))
    for config in configs:
        if problems := [*_find_short(config.path.name, config.content.get("vars", {}))]:
            raise DeployError("; ".join(problems))


def _find_short(place: str, values: Mapping[str, str]) -> Iterator[str]:
    from sluice.core.variables import CHOSEN_SECRETS, Variables  # noqa: PLC0415 - the help needs nothing that is installed

    variables = Variables(values.get)
    for problem in (variables.secret(name).problem for name in CHOSEN_SECRETS):
        if problem:
            yield f"{place}: {problem}"


def read_secret_names(config: WorkerConfig, run: Wrangler) -> set[str]:
    """Return the names of a Worker's secrets; none if the Worker is not deployed yet."""
    try:
        output = run("secret", "list", "--format", "json", "--config", str(config.path))
    except CommandFailed as error:
        if f'Worker "{config.name}" not found' in str(error):  # wrangler has no exit status of its own for this
            return set()
        raise
    return {entry["name"] for entry in json.loads(output)}


def list_missing(config: WorkerConfig, run: Wrangler) -> list[Secret]:
    """Return the secrets that a deployed Worker lacks; a variable of the same name in the config counts too."""
    expected = SECRETS.get(config.name, ())
    if not expected:
        return []
    present = read_secret_names(config, run) | set(config.content.get("vars", {}))
    return [secret for secret in expected if not present.intersection(secret.names)]


def describe_missing(config: WorkerConfig, missing: list[Secret]) -> list[str]:
    """Return a line for each missing secret, and one with the command that sets it."""
    lines = [
        f"{config.name}: {'optional' if secret.optional else 'missing'} secret {secret.title}: without it {secret.without}"
        for secret in missing
    ]
    return [*lines, f"  set it with: npx wrangler secret put NAME --config {config.path.name}"] if lines else []
