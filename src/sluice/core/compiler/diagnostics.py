"""The diagnostics of one compilation: an event when an operation starts, completes or fails."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sluice.core.timestamps import elapsed_ms, iso

if TYPE_CHECKING:
    from sluice.core.ports import Clock

OperationEvent = Literal["operationStart", "operationComplete", "operationError"]
Category = Literal["compilation", "download", "transformation", "validation"]


class Diagnostic(NamedTuple):
    """One event of an operation; `details` are its input, its duration and output, or its error."""

    event_id: str
    type: OperationEvent
    timestamp: str
    category: Category
    operation: str
    details: Mapping[str, Any]

    @property
    def severity(self) -> str:
        return "error" if self.type == "operationError" else "trace"

    def as_json(self) -> dict[str, Any]:
        return {
            "eventId": self.event_id,
            "type": self.type,
            "timestamp": self.timestamp,
            "category": self.category,
            "severity": self.severity,
            "message": f"{self.operation}: {self.type.removeprefix('operation').lower()}",
            "operation": self.operation,
            **self.details,
        }


Notify = Callable[[Diagnostic], None]


class TracedOperation:
    """A running operation; its completion event contains `output`."""

    def __init__(self) -> None:
        self.output: dict[str, Any] = {}


class TracingContext:
    """Numbers the events of one compilation, stores them, and passes each to the callback."""

    def __init__(self, clock: "Clock", notify: Notify | None = None) -> None:
        self._clock = clock
        self._notify = notify
        self.diagnostics: list[Diagnostic] = []

    @contextmanager
    def operation(self, name: str, category: Category = "compilation", **inputs: Any) -> Iterator[TracedOperation]:
        """Record the start of the body, and its completion or the error it raises."""
        started_at = self._clock.now()
        self._record("operationStart", name, category, {"input": inputs})
        operation = TracedOperation()
        try:
            yield operation
        except Exception as error:
            failure = {"errorType": type(error).__name__, "errorMessage": str(error)}
            self._record("operationError", name, category, {"durationMs": self._elapsed_ms(started_at), **failure})
            raise
        completion = {"durationMs": self._elapsed_ms(started_at), "output": operation.output}
        self._record("operationComplete", name, category, completion)

    def _elapsed_ms(self, started_at: float) -> int:
        return round(elapsed_ms(started_at, self._clock.now()))

    def _record(self, kind: OperationEvent, name: str, category: Category, details: Mapping[str, Any]) -> None:
        diagnostic = Diagnostic(
            event_id=str(len(self.diagnostics) + 1),
            type=kind,
            timestamp=iso(self._clock.now()),
            category=category,
            operation=name,
            details=details,
        )
        self.diagnostics.append(diagnostic)
        if self._notify:
            self._notify(diagnostic)
