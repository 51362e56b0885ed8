"""One delivery of the platform: stores its events and reports the failures among them."""

from dataclasses import dataclass
from typing import Any

from sluice.core.ports import Clock, Fetch, Log, NewId
from sluice.services.tail.journal import Journal
from sluice.services.tail.trace_items import parse_trace_items
from sluice.services.tail.webhook import report_failures


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    journal: Journal
    fetch: Fetch
    webhook_url: str
    clock: Clock
    new_id: NewId
    log: Log

    async def handle_delivery(self, items: Any) -> None:
        now_ms = int(self.clock.now() * 1000)
        events = parse_trace_items(items, now_ms)
        await self.journal.store_events(events, now_ms=now_ms, unique=self.new_id())
        for reason in await report_failures(events, self.webhook_url, self.fetch):
            self.log.event("webhook.failed", reason=reason)
