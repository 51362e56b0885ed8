"""The workflow events: what a workflow reports while it runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.json_text import JsonObject, JsonValue

WorkflowType = Literal["compilation", "batch", "cache-warming", "health-monitoring"]
EventType = Literal[
    "workflow:started",
    "workflow:step:started",
    "workflow:step:completed",
    "workflow:step:failed",
    "workflow:progress",
    "workflow:completed",
    "workflow:failed",
    "source:fetch:started",
    "source:fetch:completed",
    "source:fetch:failed",
    "transformation:started",
    "transformation:completed",
    "cache:stored",
    "health:check:started",
    "health:check:completed",
]
RunOutcome = Literal["completed", "failed"]
_MAX_TEXT_CHARS: Final = 500
_MAX_KEY_CHARS: Final = 300


Progress = Annotated[int, Doc(minimum=0, maximum=100)]


class EventMembers(TypedDict, total=False):
    """The members that differ from event to event."""

    step: str
    progress: Progress
    message: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """One workflow instance."""

    id: str
    type: WorkflowType


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One event; with a key it is stored once in a run, even if the step that emits it is repeated.

    `at_ms` is when it happened; without it, when it is stored. `outcome` is set on the last event of a run.
    """

    type: EventType
    key: str | None = None
    step: str | None = None
    progress: int | None = None
    message: str | None = None
    data: JsonObject | None = None
    at_ms: int | None = None
    outcome: RunOutcome | None = None

    def as_json(self) -> EventMembers:
        members: EventMembers = {}
        if self.step is not None:
            members["step"] = self.step
        if self.progress is not None:
            members["progress"] = self.progress
        if self.message is not None:
            members["message"] = self.message
        if self.data is not None:
            members["data"] = self.data
        return members


def workflow_started(message: str, **data: JsonValue) -> RunEvent:
    return RunEvent(type="workflow:started", key="started", progress=0, message=message, data=data)


def step_started(step: str, **data: JsonValue) -> RunEvent:
    return RunEvent(type="workflow:step:started", key=f"{step}:started", step=step, data=data or None)


def step_completed(step: str, progress: int | None = None, **data: JsonValue) -> RunEvent:
    key = f"{step}:completed"
    return RunEvent(type="workflow:step:completed", key=key, step=step, progress=progress, data=data or None)


def step_failed(step: str, error: str) -> RunEvent:
    return RunEvent(type="workflow:step:failed", key=f"{step}:failed", step=step, message=shorten(error))


def workflow_progress(key: str | None, progress: int, message: str, **data: JsonValue) -> RunEvent:
    event_key = None if key is None else f"progress:{key}"[:_MAX_KEY_CHARS]
    return RunEvent(
        type="workflow:progress", key=event_key, progress=progress, message=shorten(message), data=data or None
    )


def cache_stored(progress: int, **data: JsonValue) -> RunEvent:
    return RunEvent(type="cache:stored", key="cache:stored", step="cache-result", progress=progress, data=data)


def check_started(step: str, **data: JsonValue) -> RunEvent:
    return RunEvent(type="health:check:started", key=f"{step}:started", step=step, data=data)


def check_completed(step: str, progress: int, **data: JsonValue) -> RunEvent:
    return RunEvent(type="health:check:completed", key=f"{step}:completed", step=step, progress=progress, data=data)


def workflow_completed(message: str, **data: JsonValue) -> RunEvent:
    return RunEvent(
        type="workflow:completed", key="ended", progress=100, message=message, data=data or None, outcome="completed"
    )


def workflow_failed(error: str, **data: JsonValue) -> RunEvent:
    return RunEvent(type="workflow:failed", key="ended", message=shorten(error), data=data or None, outcome="failed")


def shorten(text: str) -> str:
    """Return the text, cut to a bounded length."""
    return text if len(text) <= _MAX_TEXT_CHARS else f"{text[:_MAX_TEXT_CHARS]}…"
