"""One unit of work of another Worker as the tail sees it, and what is worth doing with it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

MAX_LOGS: Final = 100  # per event; the platform keeps at most 256 KB of logs for one request
MAX_TEXT_CHARS: Final = 4_000  # of one message: a traceback fits, a dumped body does not

# A visitor who left is not a failure of the Worker.
GOOD_OUTCOMES: Final = frozenset({"ok", "canceled", "responseStreamDisconnected"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line that the Worker logged."""

    level: str
    message: str
    timestamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One exception that nobody caught."""

    name: str
    message: str
    timestamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One invocation: times in milliseconds since 1970; url and method where it was a request."""

    timestamp: int
    script: str
    outcome: str
    url: str | None = None
    method: str | None = None
    logs: tuple[LogLine, ...] = ()
    exceptions: tuple[Failure, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether somebody should be told."""
        logged = any(line.level == "error" for line in self.logs)
        return bool(self.outcome not in GOOD_OUTCOMES or self.exceptions or logged)

    @property
    def silent(self) -> bool:
        """Whether it went well without a word: not worth a write."""
        return not (self.failed or self.logs)


def as_json(event: Event) -> dict[str, Any]:
    """The documented record: {timestamp, scriptName, outcome, url, method, logs, exceptions}, of bounded size."""
    return {
        "timestamp": event.timestamp,
        "scriptName": event.script,
        "outcome": event.outcome,
        "url": event.url,
        "method": event.method,
        "logs": _bounded(event.logs),
        "exceptions": _bounded(event.exceptions),
    }


def _bounded(entries: Sequence[LogLine | Failure]) -> list[dict[str, Any]]:
    return [asdict(entry) | {"message": _shortened(entry.message)} for entry in entries[:MAX_LOGS]]


def _shortened(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]}… ({len(text) - MAX_TEXT_CHARS} characters more)"
