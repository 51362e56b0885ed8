"""What a compilation tells while it runs."""

import json
from typing import Any

import pytest

from fakes.clock import ManualClock
from sluice.core.compiler.diagnostics import Diagnostic
from sluice.core.compiler.events import Event
from sluice.core.compiler.sources.failures import SourceFailed, SourceMissing
from sluice.core.errors import Invalid
from unit.core.compiler.scripted import ScriptedDownload, compiler, configuration


async def events_of(files: dict[str, Any], value: dict[str, Any]) -> list[Event]:
    told: list[Event] = []
    await compiler(files, emit=told.append).compile(value)
    return told


def named(told: list[Event], name: str) -> list[Any]:
    return [dict(event.data) for event in told if event.name == name]


async def test_a_whole_compilation():
    """A listener hears of each source, each transformation, the progress in between and the end."""
    source = {"source": "a", "name": "A", "type": "hosts"}
    told = await events_of({"a": "0.0.0.0 a.com\n! c"}, configuration(source, transformations=["RemoveComments"]))
    about = {"source": source, "sourceIndex": 0, "totalSources": 1}
    assert named(told, "source:start") == [about]
    assert named(told, "source:complete") == [{**about, "ruleCount": 2, "durationMs": 0}]
    assert named(told, "transformation:start") == [{"name": "RemoveComments", "inputCount": 6}]
    assert named(told, "transformation:complete") == [
        {"name": "RemoveComments", "inputCount": 6, "outputCount": 1, "durationMs": 0}
    ]
    assert [(data["phase"], data["current"], data["total"]) for data in named(told, "progress")] == [
        ("sources", 0, 1),
        ("sources", 1, 1),
        ("transformations", 0, 1),
        ("transformations", 1, 1),
        ("finalize", 0, 1),
        ("finalize", 1, 1),
    ]
    assert told[-1] == Event(
        "compilation:complete", {"ruleCount": 8, "totalDurationMs": 0, "sourceCount": 1, "transformationCount": 1}
    )
    assert json.dumps([event.data for event in told])


async def test_a_failed_source():
    """A source that fails is told with its reason, and no completion follows."""
    told: list[Event] = []
    target = compiler({"a": "||a^", "b": SourceMissing("gone")}, emit=told.append)
    with pytest.raises(SourceFailed):
        await target.compile(configuration("a", "b"))
    assert named(told, "source:error") == [
        {"source": {"source": "b"}, "sourceIndex": 1, "totalSources": 2, "error": "Source b: gone"}
    ]
    assert not named(told, "compilation:complete")


def moments(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, str]]:
    return [(diagnostic.type.removeprefix("operation"), diagnostic.operation) for diagnostic in diagnostics]


async def test_operations():
    """Every operation begins and ends in the diagnostics, inner ones inside outer ones."""
    result = await compiler({"a": "||a^"}).compile(configuration("a"))
    assert moments(result.diagnostics) == [
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
    """A bad configuration is told as the error of its validation and of the whole, as it happens."""
    told: list[Diagnostic] = []
    with pytest.raises(Invalid):
        await compiler({}, notify=told.append).compile({})
    assert moments(tuple(told)) == [
        ("Start", "compileFilterList"),
        ("Start", "validateConfiguration"),
        ("Error", "validateConfiguration"),
        ("Error", "compileFilterList"),
    ]
    failed = told[2].as_json()
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
    """Metrics tell how long each stage took and how many lines went in and came out."""
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


async def test_no_metrics_unless_asked():
    """A plain compilation carries no metrics."""
    assert (await compiler({"a": "||a^"}).compile(configuration("a"))).metrics is None
