"""Events as the platform hands them over: objects of its own, read by attribute."""

from typing import Any

from sluice.services.tail.events import Event, Failure, LogLine


def events_from(items: Any, now_ms: int) -> list[Event]:
    """The events of one delivery; `now_ms` stands in for a time that the platform did not note."""
    return [_event(item, now_ms) for item in items]


def _event(item: Any, now_ms: int) -> Event:
    request = getattr(getattr(item, "event", None), "request", None)
    return Event(
        timestamp=int(item.eventTimestamp or now_ms),
        script=str(item.scriptName or "unknown"),
        outcome=str(item.outcome),
        url=request and str(request.url),
        method=request and str(request.method),
        logs=tuple(
            LogLine(level=str(line.level), message=_text(line.message), timestamp=int(line.timestamp))
            for line in item.logs
        ),
        exceptions=tuple(
            Failure(name=str(each.name), message=str(each.message), timestamp=int(each.timestamp))
            for each in item.exceptions
        ),
    )


def _text(message: Any) -> str:
    """A line is the list of what was given to console.log."""
    return message if isinstance(message, str) else " ".join(str(part) for part in message)
