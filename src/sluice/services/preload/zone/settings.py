"""The settings of edge-preload, read once from the Worker's variables."""

from dataclasses import dataclass
from typing import Any, Final, Self

from sluice.core.variables import Variables

FREE_SUBREQUESTS: Final = 50  # what the platform's free plan allows one invocation


@dataclass(frozen=True, slots=True, kw_only=True)
class PreloadSettings:
    """What the operator sets for all zones."""

    signing_keys: tuple[str, ...]
    subrequests: int
    webhook_url: str
    deployment: str

    @classmethod
    def from_variables(cls, variables: Variables, version_metadata: object) -> Self:
        """Reads the variables; raises ConfigError that names every bad one."""
        settings = cls(
            signing_keys=read_signing_keys(variables),
            subrequests=variables.integer("PRELOAD_SUBREQUESTS", FREE_SUBREQUESTS, minimum=10, maximum=10_000),
            webhook_url=variables.url("ALERT_WEBHOOK_URL"),
            deployment=variables.text("DEPLOYMENT_ID") or read_version_id(version_metadata),
        )
        variables.check()
        return settings


def read_signing_keys(variables: Variables) -> tuple[str, ...]:
    """The current key of all zones, and the previous one while it is being replaced."""
    return tuple(filter(None, (variables.text("SIGNING_KEY"), variables.text("SIGNING_KEY_PREVIOUS"))))


def read_version_id(metadata: Any) -> str:
    """The id of the Worker's version from its version metadata binding; "" where there is none."""
    version_id = metadata.get("id") if isinstance(metadata, dict) else getattr(metadata, "id", None)
    return str(version_id or "")
