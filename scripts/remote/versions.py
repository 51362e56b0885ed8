"""What runs of a Worker: its versions and the share of the traffic that each of them has."""

from dataclasses import dataclass
from typing import Any, Final

from commands import CommandFailed, Wrangler, read_json
from worker_config import WorkerConfig

# How Cloudflare's API says that an account has no Worker of this name.
NO_SUCH_WORKER: Final = (10007, 10090)
MESSAGE: Final = "./scripts/deploy --rollback"


@dataclass(frozen=True, slots=True)
class Share:
    """A version and its percentage of the traffic."""

    version: str
    percentage: float

    def __str__(self) -> str:
        return f"{self.version}@{self.percentage:g}"


Shares = tuple[Share, ...]  # () if the Worker is not deployed


@dataclass(frozen=True, slots=True)
class Deployment:
    """What runs of a Worker now, and who brought that about."""

    shares: Shares
    when: str = ""
    author: str = ""
    trigger: str = ""  # such as upload, rollback or secret


def describe(shares: Shares) -> str:
    match shares:
        case ():
            return "nothing"
        case (Share(version, 100),):
            return version
        case _:
            return " and ".join(f"{share.version} ({share.percentage:g} %)" for share in shares)


def read_deployment(config: WorkerConfig, run: Wrangler) -> Deployment:
    """Return what runs of a Worker."""
    try:
        deployments = read_json(run, "deployments", "list", "--json", "--config", str(config.path))
    except CommandFailed as error:
        if error.code in NO_SUCH_WORKER:
            return Deployment(())
        raise
    return _parse(deployments[-1]) if deployments else Deployment(())  # the newest comes last


def _parse(deployment: dict[str, Any]) -> Deployment:
    versions = sorted((entry["version_id"], float(entry["percentage"])) for entry in deployment["versions"])
    shares = tuple(Share(version, percentage) for version, percentage in versions if percentage)
    return Deployment(
        shares,
        when=str(deployment.get("created_on", "")),
        author=str(deployment.get("author_email") or ""),
        trigger=str((deployment.get("annotations") or {}).get("workers/triggered_by", "")),
    )


def read_tag(config: WorkerConfig, version: str, run: Wrangler) -> str:
    """Return the tag that a version was uploaded with."""
    found = read_json(run, "versions", "view", version, "--json", "--config", str(config.path))
    return str((found.get("annotations") or {}).get("workers/tag", ""))


def restore(config: WorkerConfig, shares: Shares, run: Wrangler) -> None:
    """Let exactly these versions run again."""
    single = len(shares) == 1  # wrangler's rollback takes no more, but knows what to do if secrets were changed since
    command = ["rollback", shares[0].version] if single else ["versions", "deploy", *map(str, shares)]
    run(*command, "--yes", "--message", MESSAGE, "--config", str(config.path))
