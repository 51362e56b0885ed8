"""Bytes into lines, the way HostlistCompiler reads a source: trimmed as a whole, blank lines gone."""

import re
from array import array
from collections.abc import Iterator
from typing import Final

from sluice.core.filters.syntax.lines import WHITESPACE, is_blank

_BREAKS: Final = re.compile(r"[\r\n]+")
_BREAK: Final = re.compile(r"\r\n|\r|\n")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Decoded at a time: a single emoji makes a text take four bytes for each character, and a list is long.
_CHUNK_BYTES: Final = 262_144


def decode(body: bytes | str) -> str:
    """The text of a source; what is not Unicode becomes U+FFFD."""
    return body.decode("utf-8", "replace") if isinstance(body, bytes) else scalar(body)


def scalar(text: str) -> str:
    """The text with every lone surrogate, which no encoding can write, replaced by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def one_line(text: str) -> str:
    """The text for a line of a list: a line break in a title must not begin a rule."""
    return scalar(_BREAKS.sub(" ", text))


def count_lines(body: bytes | str) -> int:
    """How many lines the body holds at most, without splitting it."""
    if isinstance(body, bytes):
        return 1 + body.count(b"\n") + body.count(b"\r") - body.count(b"\r\n")
    return 1 + body.count("\n") + body.count("\r") - body.count("\r\n")


def split(body: bytes | str) -> list[str]:
    """The lines of a source; one empty line for an empty source."""
    lines: list[str] = []
    for text in _texts(body):
        lines += [line for line in text.replace("\r", "\n").split("\n") if line]
    return _trimmed(lines) or [""]


def _texts(body: bytes | str) -> Iterator[str]:
    """The decoded body in pieces that end where a line does."""
    if isinstance(body, str):
        yield scalar(body)
        return
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + _CHUNK_BYTES) + 1 or len(body)
        yield decode(body[start:end])
        start = end


def _trimmed(lines: list[str]) -> list[str]:
    """Without white space before the first and after the last text, a byte order mark included."""
    while lines and is_blank(lines[-1]):
        lines.pop()
    if lines:
        del lines[: next(at for at, line in enumerate(lines) if not is_blank(line))]
        lines[0] = lines[0].lstrip(WHITESPACE)
        lines[-1] = lines[-1].rstrip(WHITESPACE)
    return lines


def line_numbers(body: bytes | str) -> "array[int]":
    """For each line that `split` gives, its number in the body as it stands, from 1."""
    numbers = array("i")
    first = end = 0
    for number, row in enumerate(_rows(body), start=1):
        if row:
            numbers.append(number)
            if not is_blank(row):
                first = first if end else len(numbers) - 1
                end = len(numbers)
    return numbers[first:end] or array("i", [1])


def _rows(body: bytes | str) -> Iterator[str]:
    """All lines, the empty ones too."""
    for text in _texts(body):
        rows = _BREAK.split(text)
        yield from rows if rows[-1] else rows[:-1]
