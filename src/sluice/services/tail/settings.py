"""The settings of sluice-tail, read from its variables."""

from dataclasses import dataclass
from typing import Self

from sluice.core.variables import Variables


@dataclass(frozen=True, slots=True, kw_only=True)
class TailSettings:
    admin_token: str
    allow_private_hosts: str
    retention_s: int
    stores_successes: bool
    webhook_url: str

    @classmethod
    def read(cls, variables: Variables) -> Self:
        settings = cls(
            admin_token=variables.text("ADMIN_TOKEN"),
            allow_private_hosts=variables.text("ALLOW_PRIVATE_HOSTS"),
            retention_s=variables.integer("LOG_RETENTION_TTL", 86_400, minimum=60),
            stores_successes=variables.choice("LOG_EVENTS", ("failures", "all")) == "all",
            webhook_url=variables.url("ERROR_WEBHOOK_URL"),
        )
        variables.check()
        return settings
