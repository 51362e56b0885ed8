"""Converts the trace items that the platform delivers into events."""

from typing import Any

from sluice.services.tail.events import LogLine, TailEvent, UncaughtException


def parse_trace_items(items: Any, now_ms: int) -> list[TailEvent]:
    """Reads the objects of one delivery by attribute; `now_ms` replaces a missing time."""
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
            LogLine(level=str(line.level), message=_join_message(line.message), timestamp=int(line.timestamp))
            for line in item.logs
        ),
        exceptions=tuple(
            UncaughtException(name=str(each.name), message=str(each.message), timestamp=int(each.timestamp))
            for each in item.exceptions
        ),
    )


def _join_message(message: Any) -> str:
    """A message is a text, or the list of the arguments of console.log."""
    return message if isinstance(message, str) else " ".join(str(part) for part in message)
