"""Headers, and a checksum that other tools can verify."""

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.compiler.configuration import Source, parse_configuration
from sluice.core.compiler.header import HeaderGenerator, compute_checksum, format_checksum_line
from unit.core.compiler.scripted import compile_files, compiler, configuration

# How Adblock Plus finds the checksum line, which it leaves out.
MATCHER = re.compile(r"^\s*!\s*checksum[\s\-:]+([\w+/=]+).*[\r\n]+", re.IGNORECASE | re.MULTILINE)


def verify(text: str) -> bool:
    """Return whether the text contains its own checksum, by the published algorithm."""
    match = MATCHER.search(text)
    assert match
    rest = text.replace(match[0], "", 1)
    digest = hashlib.md5(re.sub(r"\n+", "\n", rest.replace("\r", "")).encode(), usedforsecurity=False).digest()
    return base64.b64encode(digest).decode().rstrip("=") == match[1]


def test_list_header():
    """The header contains the fields of the configuration in a fixed order."""
    fields = {"license": "MIT", "homepage": "https://h.example", "version": "1.2.3", "description": "About"}
    header = HeaderGenerator("9.8").list_header(
        parse_configuration(configuration("a", **fields)), "2027-01-15T08:00:00.000Z"
    )
    assert header == [
        "!",
        "! Title: Test",
        "! Description: About",
        "! Version: 1.2.3",
        "! Homepage: https://h.example",
        "! License: MIT",
        "! Last modified: 2027-01-15T08:00:00.000Z",
        "!",
        "! Compiled by sluice v9.8",
        "!",
    ]


def test_source_header():
    """The header of a source contains its name, if it has one, and its address."""
    generator = HeaderGenerator()
    assert generator.source_header(Source(source="a.txt")) == ["!", "! Source: a.txt", "!"]
    assert generator.source_header(Source(source="a.txt", name="A")) == [
        "!",
        "! Source name: A",
        "! Source: a.txt",
        "!",
    ]


async def test_whole_list():
    """A list starts with its checksum and its header, with the time of the compiler's clock."""
    result = await compile_files({"a.txt": "||a^"})
    assert result.rules[1:4] == ["!", "! Title: Test", "! Last modified: 2027-01-15T08:00:00.000Z"]
    assert result.rules[-4:] == ["!", "! Source: a.txt", "!", "||a^"]


@pytest.mark.parametrize("names", [[], ["InsertFinalNewLine"], ["RemoveComments"], ["TrimLines", "Deduplicate"]])
async def test_the_checksum_verifies(names: list[str]):
    """Tools that verify AdGuard's checksum accept the list, even with an old checksum and empty lines further down."""
    files = {"a": "[Adblock Plus 2.0]\n! Checksum: abc\n||a^\n  \n||ü^", "b": "", "c": "! Title: x\n||c^"}
    result = await compiler(files).compile(configuration("a", "b", "c", transformations=names))
    assert verify("\n".join(result.rules))
    assert verify("\r\n".join(result.rules))
    assert not verify("\n".join([*result.rules, "||more^"]))


@given(st.lists(st.sampled_from(["", "||a^", "! c", " "]), min_size=1).map(lambda lines: ["!", *lines]))
def test_any_lines_verify(lines: list[str]):
    """The checksum is that of the text, no matter where its empty lines are."""
    assert verify("\n".join([format_checksum_line(lines), *lines]))


def test_long_lists():
    """Hashing in chunks gives the checksum of the whole text."""
    lines = [f"||{number}.example^" if number % 3 else "" for number in range(50_000)]
    text = re.sub(r"\n+", "\n", "\n".join(["!", *lines]))
    digest = hashlib.md5(text.encode(), usedforsecurity=False).digest()
    assert compute_checksum(["!", *lines]) == base64.b64encode(digest).decode().rstrip("=")
