"""sluice-tail: keeps what the other Workers logged, and tells a webhook of what failed."""

from typing import Any

from workers import WorkerEntrypoint

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.bindings import Binding
from sluice.platform.clock import SystemClock
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import handle_request, open_kv, open_log, read_variables
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
        return await handle_request(self, request, NAME, BINDINGS, self.routes)

    async def tail(self, items: Any, _env: Any = None, _ctx: Any = None) -> None:
        settings = Settings.read(read_variables(self.env))
        now_ms = int(SystemClock().now() * 1000)
        events = events_from(items, now_ms)
        await self.journal(settings).keep(events, now_ms=now_ms, unique=generate_id())
        fetcher = Fetcher(send_request, AllowedHosts.parse(settings.allow_private_hosts))
        for refusal in await report(events, settings.webhook_url, fetcher.fetch):
            open_log(NAME).event("webhook.failed", reason=refusal)

    def routes(self) -> list[Route]:
        settings = Settings.read(read_variables(self.env))
        return routes(self.journal(settings), settings.admin_token)

    def journal(self, settings: Settings) -> Journal:
        return Journal(store=open_kv(self.env, "TAIL_LOGS"), retention_s=settings.retention_s)
