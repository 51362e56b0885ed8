"""The events, diagnostics and metrics of a compilation."""

import json
from typing import Any

import pytest

from fakes.clock import ManualClock
from sluice.core.compiler.diagnostics import Diagnostic
from sluice.core.compiler.events import Event
from sluice.core.compiler.sources.source_errors import SourceFailed, SourceMissing
from sluice.core.errors import Invalid
from unit.core.compiler.scripted import ScriptedDownload, compiler, configuration


async def collect_events(files: dict[str, Any], value: dict[str, Any]) -> list[Event]:
    emitted: list[Event] = []
    await compiler(files, emit=emitted.append).compile(value)
    return emitted


def select(emitted: list[Event], name: str) -> list[Any]:
    return [dict(event.data) for event in emitted if event.name == name]


async def test_a_whole_compilation():
    """The events cover each source, each transformation, the progress between them, and the end."""
    source = {"source": "a", "name": "A", "type": "hosts"}
    emitted = await collect_events(
        {"a": "0.0.0.0 a.com\n! c"}, configuration(source, transformations=["RemoveComments"])
    )
    about = {"source": source, "sourceIndex": 0, "totalSources": 1}
    assert select(emitted, "source:start") == [about]
    assert select(emitted, "source:complete") == [{**about, "ruleCount": 2, "durationMs": 0}]
    assert select(emitted, "transformation:start") == [{"name": "RemoveComments", "inputCount": 6}]
    assert select(emitted, "transformation:complete") == [
        {"name": "RemoveComments", "inputCount": 6, "outputCount": 1, "durationMs": 0}
    ]
    assert [(data["phase"], data["current"], data["total"]) for data in select(emitted, "progress")] == [
        ("sources", 0, 1),
        ("sources", 1, 1),
        ("transformations", 0, 1),
        ("transformations", 1, 1),
        ("finalize", 0, 1),
        ("finalize", 1, 1),
    ]
    assert emitted[-1] == Event(
        "compilation:complete", {"ruleCount": 8, "totalDurationMs": 0, "sourceCount": 1, "transformationCount": 1}
    )
    assert json.dumps([event.data for event in emitted])


async def test_a_failed_source():
    """A failed source has an event with its reason, and no completion follows."""
    emitted: list[Event] = []
    target = compiler({"a": "||a^", "b": SourceMissing("gone")}, emit=emitted.append)
    with pytest.raises(SourceFailed):
        await target.compile(configuration("a", "b"))
    assert select(emitted, "source:error") == [
        {"source": {"source": "b"}, "sourceIndex": 1, "totalSources": 2, "error": "Source b: gone"}
    ]
    assert not select(emitted, "compilation:complete")


def summarize(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
    return [(diagnostic.type.removeprefix("operation"), diagnostic.operation) for diagnostic in diagnostics]


async def test_operations():
    """The diagnostics contain the start and end of every operation, inner ones inside outer ones."""
    result = await compiler({"a": "||a^"}).compile(configuration("a"))
    assert summarize(result.diagnostics) == [
        ("Start", "compileFilterList"),
        ("Start", "validateConfiguration"),
        ("Complete", "validateConfiguration"),
        ("Start", "compileSources"),
        ("Start", "compileSource"),
        ("Start", "downloadSource"),
        ("Complete", "downloadSource"),
        ("Complete", "compileSource"),
        ("Complete", "compileSources"),
        ("Start", "applyTransformations"),
        ("Complete", "applyTransformations"),
        ("Complete", "compileFilterList"),
    ]
    assert json.dumps([diagnostic.as_json() for diagnostic in result.diagnostics])


async def test_a_failed_operation():
    """A bad configuration is the error of its validation and of the whole compilation."""
    diagnostics: list[Diagnostic] = []
    with pytest.raises(Invalid):
        await compiler({}, notify=diagnostics.append).compile({})
    assert summarize(tuple(diagnostics)) == [
        ("Start", "compileFilterList"),
        ("Start", "validateConfiguration"),
        ("Error", "validateConfiguration"),
        ("Error", "compileFilterList"),
    ]
    failed = diagnostics[2].as_json()
    assert failed["eventId"] == "3"
    assert failed["timestamp"] == "2027-01-15T08:00:00.000Z"
    assert (failed["category"], failed["severity"], failed["errorType"]) == ("validation", "error", "Invalid")
    assert "name is required" in failed["errorMessage"]


class SlowDownload(ScriptedDownload):
    """Every download takes a second and a half."""

    def __init__(self, files: dict[str, str], clock: ManualClock) -> None:
        super().__init__(files)
        self._clock = clock

    async def __call__(self, location: str) -> bytes | str:
        self._clock.advance(1.5)
        return await super().__call__(location)


async def test_metrics():
    """The metrics contain the duration and the line counts of each stage."""
    clock = ManualClock()
    files = {"a": "||a^\n||a^\n! c"}
    target = compiler(files, clock=clock, download=SlowDownload(files, clock))
    source = {"source": "a", "name": "A", "transformations": ["Deduplicate"]}
    result = await target.compile_with_metrics(configuration(source))
    assert result.metrics
    assert result.metrics.as_json() == {
        "totalDurationMs": 1500.0,
        "stages": [
            {
                "name": "download",
                "durationMs": 1500.0,
                "itemCount": 3,
                "inputCount": 3,
                "outputCount": 3,
                "itemsPerSecond": 2,
                "source": "A",
            },
            {
                "name": "Deduplicate",
                "durationMs": 0.0,
                "itemCount": 3,
                "inputCount": 3,
                "outputCount": 2,
                "source": "A",
            },
            {"name": "header", "durationMs": 0.0, "itemCount": 6, "inputCount": 6, "outputCount": 13},
        ],
        "sourceCount": 1,
        "ruleCount": 3,
        "outputRuleCount": 13,
    }


async def test_no_metrics_by_default():
    """A plain compilation has no metrics."""
    assert (await compiler({"a": "||a^"}).compile(configuration("a"))).metrics is None
