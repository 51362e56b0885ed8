"""sluice-tail, put together from its ports."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import Transport
from sluice.core.ports import Clock, Kv, Log, NewId
from sluice.core.variables import Secret, Variables
from sluice.services.tail.delivery import Tail
from sluice.services.tail.http.api import tail_routes
from sluice.services.tail.journal import Journal
from sluice.web import Cors, Route
from sluice.web.admin import OperatorGate
from sluice.web.clients import ReadLimit


@dataclass(frozen=True, slots=True, kw_only=True)
class TailSettings:
    admin_token: Secret
    allow_private_hosts: str
    retention_s: int
    stores_successes: bool
    webhook_url: str

    @classmethod
    def read(cls, variables: Variables) -> Self:
        settings = cls(
            admin_token=variables.secret("ADMIN_TOKEN"),
            allow_private_hosts=variables.text("ALLOW_PRIVATE_HOSTS"),
            retention_s=variables.integer("LOG_RETENTION_TTL", 86_400, minimum=60),
            stores_successes=variables.choice("LOG_EVENTS", ("failures", "all")) == "all",
            webhook_url=variables.url("ERROR_WEBHOOK_URL"),
        )
        variables.check()
        return settings


@dataclass(frozen=True, slots=True, kw_only=True)
class TailPorts:
    variables: Variables
    logs: Kv
    transport: Transport
    clock: Clock
    new_id: NewId
    log: Log


class TailService:
    """Stores events and reports failures."""

    cors: Cors | None = None

    def __init__(self, ports: TailPorts) -> None:
        self._ports = ports

    @cached_property
    def settings(self) -> TailSettings:
        return TailSettings.read(self._ports.variables)

    @cached_property
    def journal(self) -> Journal:
        settings = self.settings
        return Journal(
            kv=self._ports.logs, retention_s=settings.retention_s, stores_successes=settings.stores_successes
        )

    @cached_property
    def tail(self) -> Tail:
        ports = self._ports
        return Tail(
            journal=self.journal,
            fetch=Fetcher(ports.transport, AllowedHosts.parse(self.settings.allow_private_hosts)).fetch,
            webhook_url=self.settings.webhook_url,
            clock=ports.clock,
            new_id=ports.new_id,
            log=ports.log,
        )

    @cached_property
    def read_limit(self) -> ReadLimit:
        return ReadLimit(self._ports.clock)

    @cached_property
    def routes(self) -> list[Route]:
        return tail_routes(self.journal, OperatorGate(self.settings.admin_token, self._ports.clock))
