"""sluice-tail: keeps what the other Workers logged, and tells a webhook of what failed."""

from typing import Any

from workers import WorkerEntrypoint

from sluice.core.net.addresses import Allowed
from sluice.core.net.fetch import Fetcher
from sluice.platform.bindings import Binding
from sluice.platform.clock import SystemClock
from sluice.platform.http.transport import workers_transport
from sluice.platform.identity import random_id
from sluice.platform.worker import answer, kv_of, log_of, variables_of
from sluice.services.tail.http.api import routes
from sluice.services.tail.journal import Journal
from sluice.services.tail.settings import Settings
from sluice.services.tail.trace_items import events_from
from sluice.services.tail.webhook import report
from sluice.web import Route

__all__ = ["Default"]

NAME = "sluice-tail"
BINDINGS = (Binding("ASSETS", "service"), Binding("TAIL_LOGS", "kv"))


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await answer(self, request, NAME, BINDINGS, self.routes)

    async def tail(self, items: Any, _env: Any = None, _ctx: Any = None) -> None:
        settings = Settings.read(variables_of(self.env))
        now_ms = int(SystemClock().now() * 1000)
        events = events_from(items, now_ms)
        await self.journal(settings).keep(events, now_ms=now_ms, unique=random_id())
        fetcher = Fetcher(workers_transport, Allowed.parse(settings.allow_private_hosts))
        for refusal in await report(events, settings.webhook_url, fetcher.fetch):
            log_of(NAME).event("webhook.failed", reason=refusal)

    def routes(self) -> list[Route]:
        settings = Settings.read(variables_of(self.env))
        return routes(self.journal(settings), settings.admin_token)

    def journal(self, settings: Settings) -> Journal:
        return Journal(store=kv_of(self.env, "TAIL_LOGS"), retention_s=settings.retention_s)
