"""The settings of edge-preload, read once from the Worker's variables."""

from dataclasses import dataclass
from typing import Any, Final, Self

from sluice.core.variables import Variables

API_HOSTS: Final = "*.workers.dev,*.localhost"
PAID_SUBREQUESTS: Final = 1000  # that one invocation makes; the free plan, where it takes 50, has no time for warming


@dataclass(frozen=True, slots=True, kw_only=True)
class PreloadSettings:
    """What the operator sets for all zones."""

    signing_keys: tuple[str, ...]
    subrequests: int
    webhook_url: str
    deployment: str
    # So long a purge takes to hold everywhere, in a zone that does not say it itself.
    purge_delay_s: int = 2

    @classmethod
    def from_variables(cls, variables: Variables, version_id: str) -> Self:
        """Read the variables; raise ConfigError that names every bad one."""
        settings = cls(
            signing_keys=read_signing_keys(variables),
            subrequests=variables.integer("PRELOAD_SUBREQUESTS", PAID_SUBREQUESTS, minimum=10, maximum=10_000),
            purge_delay_s=variables.integer("PURGE_DELAY_S", 2, minimum=1, maximum=300),
            webhook_url=variables.url("ALERT_WEBHOOK_URL"),
            deployment=variables.text("DEPLOYMENT_ID") or version_id,
        )
        variables.check()
        return settings


def read_signing_keys(variables: Variables) -> tuple[str, ...]:
    """Return the current key of all zones, and the previous one while it is being replaced."""
    return tuple(filter(None, (variables.secret(name).value for name in ("SIGNING_KEY", "SIGNING_KEY_PREVIOUS"))))


def read_api_hosts(variables: Variables) -> tuple[str, ...]:
    """Return the hosts on which the operator's pages and the API answer."""
    hosts = variables.text("API_HOSTS", API_HOSTS).lower().split(",")
    return tuple(host.strip() for host in hosts if host.strip())


def read_version_id(metadata: Any) -> str:
    """Return the id of the Worker's version from its version metadata binding; "" where there is none."""
    version_id = metadata.get("id") if isinstance(metadata, dict) else getattr(metadata, "id", None)
    return str(version_id or "")
