"""Hostile sources."""

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.compiler.limits import CompileLimits, ListTooLarge
from sluice.core.errors import SluiceError
from sluice.core.filters.pipeline import TRANSFORMATIONS
from unit.core.compiler.scripted import body, compile_files, compiler, configuration

NAMES = [name for name in TRANSFORMATIONS if not name.startswith("Validate")] + ["Validate"]


async def test_include_bomb():
    """Ten files that each include the next one a hundred times fail early, not after 100^10 lines."""
    files = {str(depth): f"!#include {depth + 1}\n" * 100 for depth in range(10)} | {"10": "||boom^"}
    with pytest.raises(ListTooLarge, match="files are included"):
        await compiler(files).compile(configuration("0"))


async def test_line_bomb():
    """A few includes that expand to very many lines are refused before the lines exist."""
    files = {"a": "!#include b\n" * 1_000, "b": "||x^\n" * 10_000}
    with pytest.raises(ListTooLarge, match="together have more than 1,000,000 lines"):
        await compiler(files).compile(configuration("a"))


async def test_a_line_of_ten_megabytes():
    """One very long line passes through every transformation."""
    line = f"||{'a' * 10_000_000}.example^"
    result = await compile_files({"a": f"{line}\n||b.example^"}, transformations=["TrimLines", "Deduplicate"])
    assert body(result) == [line, "||b.example^"]


async def test_odd_characters():
    """NULs are kept, and lone surrogates, which UTF-8 cannot encode, become U+FFFD."""
    result = await compiler({}).compile(configuration("mine"), content={"mine": "a\0b\n\ud800c\n\u2028"})
    assert body(result) == ["a\0b", "\ufffdc"]
    assert "\n".join(result.rules).encode()


async def test_names_cannot_write_rules():
    """A line break in a name or address does not start a new line in the list."""
    result = await compiler({"a\n||bad^": "||a^"}).compile(
        {"name": "T\n||bad^", "sources": [{"source": "a\n||bad^", "name": "S\r||bad^"}]}
    )
    assert "||bad^" not in result.rules
    assert not any("\n" in line or "\r" in line for line in result.rules)


async def test_deep_conditions():
    """A thousand nested conditions of a thousand parentheses each are evaluated."""
    condition = f"!#if {'(' * 1_000}true{')' * 1_000}\n"
    result = await compile_files({"a": condition * 1_000 + "||a^\n" + "!#endif\n" * 1_000})
    assert body(result) == ["||a^"]


FRAGMENTS = st.one_of(
    st.sampled_from(["!#if true", "!#if x", "!#else", "!#endif", "!#include b", "!#include a", "||a.com^", "", "! c"]),
    st.text(max_size=12),
)


@given(st.lists(FRAGMENTS, max_size=12), st.lists(FRAGMENTS, max_size=6), st.booleans())
def test_any_text(lines: list[str], more: list[str], detailed: bool):
    """Any source is compiled into lines that can be encoded, or refused with a SluiceError."""
    content = {"a": "\n".join(lines), "b": "\n".join(more)}
    target = compiler({}, limits=CompileLimits(includes=50, total_lines=1_000))
    value = configuration("a", transformations=NAMES)
    with suppress(SluiceError):
        result = asyncio.run(target.compile(value, content=content, detailed=detailed))
        assert "\n".join(result.rules).encode().decode().split("\n") == result.rules
