"""Where rules come from: the recorded lines and the traced ones tell the same."""

from typing import Any

import pytest

from sluice.core.compiler.provenance import SourcePlace
from unit.core.compiler.scripted import compiler, configuration

FILES = {
    "a": "! c\n\n0.0.0.0 b.com a.com\n  ||x.com^  \n||a.com^\n||gone.com^\n||münchen.de^\n||p.com^$third-party\n!#include c",
    "b": "\r\n\r\na.com\r\n||x.com^\r\n0.0.0.0 X.org",
    "c": "||x.com^\n@@||y.com^",
}
SOURCES: Any = (
    {"source": "a", "name": "A", "exclusions": ["gone"], "transformations": ["RemoveModifiers", "TrimLines"]},
    {"source": "b", "transformations": ["TrimLines"]},
)


async def find_all(*, detailed: bool) -> dict[str, list[tuple[str, str, int]]]:
    names = ["RemoveComments", "Compress", "ConvertToAscii", "Deduplicate"]
    value = configuration(*SOURCES, transformations=names, domainExclusions=["x.org"])
    result = await compiler(FILES).compile(value, detailed=detailed, recorded=not detailed)

    def find_places(at: int, rule: str) -> list[SourcePlace]:
        if result.provenance is not None:
            return result.provenance.find_places(at, rule)
        assert result.recorded is not None
        return result.recorded.find_places(rule)

    return {
        rule: [(place.source, place.file, place.line) for place in find_places(at, rule)]
        for at, rule in enumerate(result.rules)
        if not rule.startswith("!")
    }


async def test_recorded_places():
    """Each rule has all of its places, whatever the transformations of its source and of the list made of it."""
    assert await find_all(detailed=False) == {
        "||b.com^": [("A", "a", 3)],
        "||a.com^": [("A", "a", 3), ("A", "a", 5), ("b", "b", 3)],
        "||x.com^": [("A", "a", 4), ("A", "c", 1), ("b", "b", 4)],
        "||xn--mnchen-3ya.de^": [("A", "a", 7)],
        "||p.com^": [("A", "a", 8)],
        "@@||y.com^": [("A", "c", 2)],
    }


async def test_traced_places():
    """A detailed compilation finds the same places."""
    recorded, traced = await find_all(detailed=False), await find_all(detailed=True)
    assert {rule: sorted(places) for rule, places in traced.items()} == recorded


async def test_nothing_without_asking():
    """A compilation that nobody asks for it has no provenance."""
    result = await compiler(FILES).compile(configuration(*SOURCES))
    assert result.provenance is None
    assert result.recorded is None


@pytest.mark.parametrize("detailed", [False, True])
async def test_the_list_is_the_same(detailed):
    """The rules do not depend on what is recorded."""
    value = configuration(*SOURCES, transformations=["Compress"])
    plain = await compiler(FILES).compile(value)
    assert (await compiler(FILES).compile(value, recorded=True, detailed=detailed)).rules == plain.rules
