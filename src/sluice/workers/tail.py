"""The composition of sluice-tail: bindings in, parts out."""

from functools import cached_property
from typing import Any, ClassVar, Final

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.clock import SystemClock
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.tail.http.api import tail_routes
from sluice.services.tail.journal import Journal
from sluice.services.tail.settings import TailSettings
from sluice.services.tail.tail import Tail
from sluice.web import Cors, Route

KV_BINDING: Final = "TAIL_LOGS"


class TailWorker:
    """Stores events and reports failures."""

    name: ClassVar[str] = "sluice-tail"
    cors: Cors | None = None

    def __init__(self, env: Any, ctx: Any) -> None:
        self.env = env
        self.ctx = ctx

    @cached_property
    def settings(self) -> TailSettings:
        return TailSettings.read(read_variables(self.env))

    @cached_property
    def journal(self) -> Journal:
        return Journal(
            kv=open_kv(self.env, KV_BINDING),
            retention_s=self.settings.retention_s,
            stores_successes=self.settings.stores_successes,
        )

    @cached_property
    def fetcher(self) -> Fetcher:
        return Fetcher(send_request, AllowedHosts.parse(self.settings.allow_private_hosts))

    @cached_property
    def tail(self) -> Tail:
        return Tail(
            journal=self.journal,
            fetch=self.fetcher.fetch,
            webhook_url=self.settings.webhook_url,
            clock=SystemClock(),
            new_id=generate_id,
            log=open_log(self.name),
        )

    @cached_property
    def routes(self) -> list[Route]:
        return tail_routes(self.journal, self.settings.admin_token)
