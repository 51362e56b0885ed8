"""Operations as they begin, end or fail: diagnostics of one compilation."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from sluice.core.ports import Clock
from sluice.core.timestamps import iso

OperationEvent = Literal["operationStart", "operationComplete", "operationError"]
Category = Literal["compilation", "download", "transformation", "validation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One moment of an operation; `details` are its input, its duration and output, or its error."""

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


@dataclass(slots=True)
class Operation:
    """An operation under way; what is put into `output` is told when it completes."""

    output: dict[str, Any] = field(default_factory=dict)


class TracingContext:
    """Numbers the events of one compilation, keeps them, and hands each to the callback."""

    def __init__(self, clock: Clock, notify: Notify | None = None) -> None:
        self._clock = clock
        self._notify = notify
        self.diagnostics: list[Diagnostic] = []

    @contextmanager
    def operation(self, name: str, category: Category = "compilation", **given: Any) -> Iterator[Operation]:
        """Start and completion around the body, or the error that it raises."""
        began = self._clock.now()
        self._tell("operationStart", name, category, {"input": given})
        operation = Operation()
        try:
            yield operation
        except Exception as error:
            failure = {"errorType": type(error).__name__, "errorMessage": str(error)}
            self._tell("operationError", name, category, {"durationMs": self._since(began), **failure})
            raise
        ended = {"durationMs": self._since(began), "output": operation.output}
        self._tell("operationComplete", name, category, ended)

    def _since(self, began: float) -> int:
        return round((self._clock.now() - began) * 1000)

    def _tell(self, kind: OperationEvent, name: str, category: Category, details: Mapping[str, Any]) -> None:
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
