"""The progress events of a compilation, as plain values for a callback.

Names and fields are part of the API: clients of the event stream rely on them.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from sluice.core.compiler.configuration import Source
from sluice.core.compiler.sources.locations import remove_secrets

Phase = Literal["sources", "transformations", "finalize"]


class Event(NamedTuple):
    """One event, sent to clients as `event: name`, `data: {…}`."""

    name: str
    data: Mapping[str, Any]


Emit = Callable[[Event], None]


def ignore_event(_event: Event) -> None:
    """Discard the event, for callers who do not listen."""


def source_start(source: Source, index: int, total: int) -> Event:
    return Event("source:start", _describe_source(source, index, total))


def source_complete(source: Source, index: int, total: int, *, rule_count: int, duration_ms: int) -> Event:
    return Event(
        "source:complete",
        {**_describe_source(source, index, total), "ruleCount": rule_count, "durationMs": duration_ms},
    )


def source_error(source: Source, index: int, total: int, error: Exception) -> Event:
    return Event("source:error", {**_describe_source(source, index, total), "error": str(error)})


def transformation_start(name: str, count: int) -> Event:
    return Event("transformation:start", {"name": name, "inputCount": count})


def transformation_complete(name: str, count_in: int, count_out: int, duration_ms: int) -> Event:
    return Event(
        "transformation:complete",
        {"name": name, "inputCount": count_in, "outputCount": count_out, "durationMs": duration_ms},
    )


def progress(phase: Phase, current: int, total: int, message: str) -> Event:
    return Event("progress", {"phase": phase, "current": current, "total": total, "message": message})


def compilation_complete(*, rules: int, duration_ms: int, sources: int, transformations: int) -> Event:
    return Event(
        "compilation:complete",
        {
            "ruleCount": rules,
            "totalDurationMs": duration_ms,
            "sourceCount": sources,
            "transformationCount": transformations,
        },
    )


def _describe_source(source: Source, index: int, total: int) -> dict[str, Any]:
    fields = {name: getattr(source, name) for name in ("source", "name", "type") if name in source.model_fields_set}
    fields["source"] = remove_secrets(source.source)
    return {"source": fields, "sourceIndex": index, "totalSources": total}
