"""The report: counts, and each dropped line with its place and reason."""

import json
from typing import Any

from sluice.core.compiler.dropped_lines import DropCollector
from sluice.core.compiler.report import CompilationReport
from sluice.core.compiler.sources.line_origins import LineOrigins, SourceFile
from sluice.core.filters.pipeline import PipelineDrop
from unit.core.compiler.scripted import compiler, configuration


async def list_dropped(files: dict[str, str], value: dict[str, Any]) -> list[dict[str, Any]]:
    result = await compiler(files).compile(value, detailed=True)
    report: dict[str, Any] = json.loads(json.dumps(result.report.as_json()))
    assert report["droppedNotListed"] == 0
    listed: list[dict[str, Any]] = report["dropped"]
    return listed


async def test_counts():
    """The report always has the counts of each transformation, and each dropped line only on request."""
    files = {"a": "||a^\n! c\n||a^", "b": "||a^"}
    source = {"source": "a", "name": "A", "transformations": ["RemoveComments"]}
    value = configuration(source, "b", transformations=["Deduplicate"], exclusions=["Source"])
    result = await compiler(files).compile(value)
    report = result.report.as_json()
    assert result.report.dropped is None
    assert report["transformations"] == [
        {"transformation": "RemoveComments", "source": "A", "linesIn": 3, "linesOut": 2, "removed": 1},
        {"transformation": "exclusions", "source": None, "linesIn": 10, "linesOut": 7, "removed": 3},
        {"transformation": "Deduplicate", "source": None, "linesIn": 7, "linesOut": 3, "removed": 4},
    ]


async def test_a_dropped_line():
    """A dropped line is listed with its source, line number, transformation, text and reason."""
    files = {"a": "||a.com^\r\n\r\n\r\n||not valid\r\n", "b": "||a.com^"}
    lines = await list_dropped(files, configuration({"source": "a", "name": "A"}, "b", transformations=["Validate"]))
    assert len(lines) == 1
    assert lines[0].pop("reason")
    assert lines == [
        {"source": "A", "file": "a", "line": 4, "via": [], "transformation": "Validate", "text": "||not valid"}
    ]


async def test_lines_changed_by_their_source():
    """The place of a line is known after its source's own transformations changed, moved or split it."""
    files = {"a": "! c\n0.0.0.0 b.com a.com\n||x.com^", "b": "||a.com^"}
    source = {"source": "a", "transformations": ["RemoveComments", "Compress"]}
    lines = await list_dropped(files, configuration(source, "b", transformations=["Deduplicate"]))
    places = [(line["file"], line["line"], line["transformation"], line["text"]) for line in lines]
    assert places == [("a", 1, "RemoveComments", "! c"), ("a", 2, "Deduplicate", "||a.com^")]


async def test_includes():
    """A line of an included file is listed with that file and the lines that included it."""
    files = {"a": "||a^\n!#include b", "b": "\n!#if true\n!#include c\n!#endif", "c": "||c^\n\n! c"}
    lines = await list_dropped(files, configuration("a", transformations=["RemoveComments"]))
    assert [(line["file"], line["line"], line["via"], line["text"]) for line in lines] == [
        ("c", 3, ["a:2", "b:3"], "! c")
    ]


async def test_generated_lines_are_not_listed():
    """Headers of sources and an added last line are not listed when they are dropped."""
    source = {"source": "a", "transformations": ["InsertFinalNewLine"]}
    assert not await list_dropped(
        {"a": "||a^"}, configuration(source, transformations=["RemoveComments", "RemoveEmptyLines"])
    )


def test_the_listing_is_limited():
    """Beyond the limit, lines are only counted."""
    drops = DropCollector(limit=2)
    origins = LineOrigins.of_file(drops.files.add(SourceFile("A", "a")), [1, 2, 3, 4, 5])
    drops.collect([PipelineDrop(at, "Deduplicate", "x", "twice") for at in range(5)], origins)
    report = CompilationReport.build([], drops).as_json()
    assert [line["line"] for line in report["dropped"]] == [1, 2]
    assert report["droppedNotListed"] == 3
