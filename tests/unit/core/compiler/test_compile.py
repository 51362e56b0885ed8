"""Compiling a configuration into a list."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from sluice.core.compiler.configuration import parse_configuration
from sluice.core.compiler.sources.download import make_download
from sluice.core.compiler.sources.source_errors import SourceFailed, SourceMissing
from sluice.core.errors import Invalid, Unavailable
from sluice.core.filters.pipeline import TRANSFORMATIONS
from sluice.core.ports import FetchResponse
from unit.core.compiler.scripted import ScriptedDownload, body, compile_files, compiler, configuration

NAMES = [name for name in TRANSFORMATIONS if not name.startswith("Validate")]


async def test_source_and_list_transformations():
    """A source's own transformations apply to its lines only; the list's apply to all lines, headers of sources included."""
    files = {"a": "0.0.0.0 a.com\n! c", "b": "0.0.0.0 a.com\n||b.com^"}
    first = {"source": "a", "transformations": ["Compress"]}
    result = await compiler(files).compile(configuration(first, "b", transformations=["RemoveComments"]))
    assert result.rules[-4:] == ["!", "||a.com^", "0.0.0.0 a.com", "||b.com^"]
    assert sum(line.startswith("! Source") for line in result.rules) == 0
    assert "! Title: Test" in result.rules


async def test_filters():
    """Exclusions and inclusions of a source apply to it only, those of the list to all lines, headers of sources included."""
    files = {"a": "||a1^\n||a2^\n||x^", "b": "||b1^\n||x^"}
    first = {"source": "a", "exclusions": ["a1"]}
    result = await compiler(files).compile(configuration(first, "b", exclusions=["||x^"], inclusions=["||*"]))
    assert result.rules[-3:] == ["!", "||a2^", "||b1^"]


async def test_pattern_files():
    """Patterns also come from files: comments and blank lines are ignored, directives are followed, each file is read once."""
    files = {
        "a": "||a^\n||b^\n||c^\n! note",
        "b": "||a^\n||d^",
        "ex": "! note\n# note\n \n||a^\n!#include more",
        "more": "||c^",
        "in": "",
    }
    source = {"source": "a", "exclusions_sources": ["ex"], "inclusions_sources": ["in"]}
    download = ScriptedDownload(files)
    result = await compiler({}, download=download).compile(configuration(source, "b", exclusions_sources=["ex"]))
    assert body(result) == ["||b^", "! note", "||d^"]
    assert sorted(download.requests) == ["a", "b", "ex", "in", "more"]


async def test_a_missing_pattern_file():
    """An allow list that cannot be read fails the compilation: silently blocking more is worse than failing."""
    files = {"a": "||a^", "ex": SourceMissing("gone")}
    with pytest.raises(SourceFailed, match="ex: gone"):
        await compiler(files).compile(configuration("a", exclusions_sources=["ex"]))
    with pytest.raises(SourceFailed, match="ex: gone"):
        await compiler(files).compile(configuration({"source": "a", "exclusions_sources": ["ex"]}))


async def test_a_bad_pattern():
    """A malformed regular expression in a pattern file fails the compilation, and the error names the file."""
    with pytest.raises(SourceFailed, match="ex"):
        await compiler({"a": "||a^", "ex": "/(/"}).compile(configuration("a", exclusions_sources=["ex"]))


async def test_empty_sources():
    """A source without text becomes one empty line, as in HostlistCompiler."""
    result = await compile_files({"a": "", "b": "||b^"})
    assert body(result) == ["", "||b^"]


async def test_plain_or_parsed_configuration():
    """The compiler accepts a configuration as plain values or parsed."""
    value = configuration("a")
    plain = await compiler({"a": "||a^"}).compile(value)
    parsed = await compiler({"a": "||a^"}).compile(parse_configuration(value))
    assert plain.rules == parsed.rules
    with pytest.raises(Invalid):
        await compiler({}).compile({})


async def test_compilations_do_not_mix():
    """One compiler serves several compilations at once, each with its own files and limits."""
    target = compiler({"a": "!#include c\n||a^", "b": "!#include c\n||b^", "c": "||c^"})
    first, second = await asyncio.gather(target.compile(configuration("a")), target.compile(configuration("b")))
    assert (body(first), body(second)) == (["||c^", "||a^"], ["||c^", "||b^"])


async def test_the_input_is_not_changed():
    """A compilation changes neither the content in the request nor a parsed configuration."""
    parsed = parse_configuration(configuration("a", "a", transformations=NAMES))
    before, content = parsed.model_dump(), {"a": "||b^\n||a^"}
    await compiler({}).compile(parsed, content=content)
    assert (parsed.model_dump(), content) == (before, {"a": "||b^\n||a^"})


# Without directives, because an unbalanced one is an error.
TEXT = st.text(max_size=9).filter(lambda text: "!#" not in text)
LINES = st.lists(st.one_of(st.sampled_from(["||a.com^", "0.0.0.0 b.com", "! c", "", "@@||a.com^"]), TEXT))


@given(LINES, LINES, st.lists(st.sampled_from(NAMES), unique=True))
def test_same_input_same_bytes(first: list[str], second: list[str], names: list[str]):
    """The same input at the same time gives the same bytes, with or without the detailed report."""
    content = {"a": "\n".join(["||a.com^", *first] * 2), "b": "\r\n".join(["||b.com^", *second] * 2)}
    content = {name: f"{text}\n{'||c.com^/' * 3}\n" + "||d.com^\n" * 50 for name, text in content.items()}
    value = configuration({"source": "a", "transformations": names[:1]}, "b", "a", transformations=names)
    results = [
        asyncio.run(compiler({}, clock=ManualClock()).compile(value, content=content, detailed=detailed)).rules
        for detailed in (False, False, True)
    ]
    assert results[0] == results[1] == results[2]


async def fetch_with(status: int, calls: list[Any]) -> bytes | str:
    async def fetch(url: str, *, max_bytes: int, timeout_s: float, **_: object) -> FetchResponse:
        calls.append((url, max_bytes, timeout_s))
        return FetchResponse(url, status, (), b"||a^")

    return await make_download(fetch, max_bytes=10, timeout_s=2.0)("https://h.example/a")


async def test_download_by_a_guarded_fetch():
    """A download returns the body of a successful response, within the given limits."""
    calls: list[Any] = []
    assert await fetch_with(200, calls) == b"||a^"
    assert calls == [("https://h.example/a", 10, 2.0)]


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (404, SourceMissing),
        (403, SourceMissing),
        (304, SourceMissing),
        (429, Unavailable),
        (408, Unavailable),
        (503, Unavailable),
    ],
)
async def test_failed_responses(status: int, failure: type[Exception]):
    """A response without success is an error that says whether a retry may help."""
    with pytest.raises(failure, match=str(status)):
        await fetch_with(status, [])


async def test_missing_exclusions_cost_no_download():
    """The patterns of the whole list are read before its sources: without them the list cannot be made."""
    download = ScriptedDownload({"a": "||a.example^", "ex": SourceMissing("gone")})
    with pytest.raises(SourceFailed, match="ex: gone"):
        await compiler({}, download=download).compile(configuration("a", exclusions_sources=["ex"]))
    assert download.requests == ["ex"]
