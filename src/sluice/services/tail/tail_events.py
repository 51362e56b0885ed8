"""One invocation of another Worker as the tail sees it: whether it failed, and the record that is stored of it."""

from dataclasses import dataclass
from typing import Annotated, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.json_text import escape_controls

MAX_LOGS: Final = 100  # per event; the platform keeps at most 256 KB of logs for one request
MAX_TEXT_CHARS: Final = 4_000  # of one message: a traceback fits, a dumped body does not

EpochMs = Annotated[int, Doc("Milliseconds since 1970.")]

# A visitor who disconnects is not a failure of the Worker.
SUCCESSFUL_OUTCOMES: Final = frozenset({"ok", "canceled", "responseStreamDisconnected"})
WORKFLOW_CALL: Final = "run"


class LoggedLine(TypedDict):
    level: str
    message: str
    timestamp: EpochMs


class LoggedException(TypedDict):
    name: str
    message: str
    timestamp: EpochMs


class Record(TypedDict):
    """One invocation of a Worker; url and method only for a request."""

    timestamp: EpochMs
    scriptName: str
    outcome: str
    url: str | None
    method: str | None
    logs: list[LoggedLine]
    exceptions: list[LoggedException]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line that the Worker logged."""

    level: str
    message: str
    timestamp: int

    def as_json(self) -> LoggedLine:
        return {"level": self.level, "message": _shorten(self.message), "timestamp": self.timestamp}


@dataclass(frozen=True, slots=True, kw_only=True)
class UncaughtException:
    """One exception that the Worker did not catch."""

    name: str
    message: str
    timestamp: int

    def as_json(self) -> LoggedException:
        return {"name": self.name, "message": _shorten(self.message), "timestamp": self.timestamp}


@dataclass(frozen=True, slots=True, kw_only=True)
class TailEvent:
    """One invocation: times in milliseconds since 1970; `url` and `method` only for a request, `called` only for a call."""

    timestamp: int
    script: str
    outcome: str
    url: str | None = None
    method: str | None = None
    called: str | None = None
    logs: tuple[LogEntry, ...] = ()
    exceptions: tuple[UncaughtException, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Whether to report it to the webhook."""
        has_error_line = any(line.level == "error" for line in self.logs)
        return bool(self.exceptions or has_error_line or not (self._has_ended_well or self._was_dropped_by_engine))

    @property
    def _has_ended_well(self) -> bool:
        return self.outcome in SUCCESSFUL_OUTCOMES

    @property
    def _was_dropped_by_engine(self) -> bool:
        """Whether the engine of workflows has dropped the call after its last step, which looks like an exception."""
        return self.outcome == "exception" and self.called == WORKFLOW_CALL

    @property
    def is_silent(self) -> bool:
        """Whether it succeeded without logging anything: not worth a write."""
        return not (self.is_failure or self.logs)

    def as_json(self) -> Record:
        """Return the documented record, of bounded size."""
        return {
            "timestamp": self.timestamp,
            "scriptName": self.script,
            "outcome": self.outcome,
            "url": self.url,
            "method": self.method,
            "logs": [line.as_json() for line in self.logs[:MAX_LOGS]],
            "exceptions": [each.as_json() for each in self.exceptions[:MAX_LOGS]],
        }


def _shorten(text: str) -> str:
    """Return a message of bounded size, without characters that steer the terminal of who reads it."""
    text = escape_controls(text, keep="\n")
    if len(text) <= MAX_TEXT_CHARS:
        return text
    return f"{text[:MAX_TEXT_CHARS]}… ({len(text) - MAX_TEXT_CHARS} characters more)"
