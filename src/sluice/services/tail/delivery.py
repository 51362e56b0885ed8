"""One delivery of the platform: its events are stored, and the failures among them reported to the operator's webhook."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.net.webhook import post_json
from sluice.core.ports import Clock, Fetch, Log, NewId
from sluice.services.tail.journal import Journal
from sluice.services.tail.tail_events import LogEntry, Record, TailEvent, UncaughtException

MAX_REPORTS: Final = 20  # per delivery: many failures must not become many requests


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


async def report_failures(events: Iterable[TailEvent], url: str, fetch: Fetch) -> list[str]:
    """Post each failed event. Return the reasons why some were not delivered. Without a URL it does nothing."""
    records = [event.as_json() for event in events if event.is_failure] if url else []
    reasons: list[str] = []
    for record in records[:MAX_REPORTS]:
        try:
            await _report(record, url, fetch)
        except SluiceError as error:
            reasons.append(str(error))
    if len(records) > MAX_REPORTS:
        reasons.append(f"{len(records) - MAX_REPORTS} more failures were stored, but not sent")
    return reasons


async def _report(record: Record, url: str, fetch: Fetch) -> None:
    body = encode_utf8(encode_json(record))
    # A delivery that the platform repeats has the same records.
    await post_json(fetch, url, body, (("Idempotency-Key", f"tail-{sha256(body).hexdigest()[:32]}"),))


def parse_trace_items(items: Any, now_ms: int) -> list[TailEvent]:
    """Read the objects of one delivery by attribute; `now_ms` replaces a missing time."""
    return [_parse_item(item, now_ms) for item in items]


def _parse_item(item: Any, now_ms: int) -> TailEvent:
    event = getattr(item, "event", None)
    request = getattr(event, "request", None)
    called = getattr(event, "rpcMethod", None)
    return TailEvent(
        timestamp=int(item.eventTimestamp or now_ms),
        script=str(item.scriptName or "unknown"),
        outcome=str(item.outcome),
        url=request and str(request.url),
        method=request and str(request.method),
        called=called and str(called),
        logs=tuple(
            LogEntry(level=str(line.level), message=_join_message(line.message), timestamp=int(line.timestamp))
            for line in item.logs
        ),
        exceptions=tuple(
            UncaughtException(name=str(each.name), message=str(each.message), timestamp=int(each.timestamp))
            for each in item.exceptions
        ),
    )


def _join_message(message: Any) -> str:
    """Return a message as one text; it may be the list of the arguments of console.log."""
    return message if isinstance(message, str) else " ".join(str(part) for part in message)
