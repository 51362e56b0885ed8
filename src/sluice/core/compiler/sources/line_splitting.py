"""Decodes a source and splits it into lines as HostlistCompiler does: trimmed as a whole, without empty lines."""

import re
from array import array
from collections.abc import Iterator
from itertools import compress
from typing import Final

from sluice.core.compiler.sources.utf8_conversion import decode_line
from sluice.core.filters.syntax.lines import WHITESPACE, is_blank

_BREAKS: Final = re.compile(r"[\r\n]+")
_BREAK: Final = re.compile(r"\r\n?|\n")
_BREAK_OF_BYTES: Final = re.compile(rb"\r\n?|\n")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Decoded at a time: a single emoji makes a whole text take four bytes per character, and lists are long.
PIECE_BYTES: Final = 262_144


def decode_body(body: bytes | str) -> str:
    """Decode a source; a line that is not UTF-8 is read as Windows-1252."""
    if isinstance(body, str):
        return replace_lone_surrogates(body)
    try:
        return body.decode()
    except UnicodeDecodeError:
        return "\n".join(map(decode_line, body.split(b"\n")))


def replace_lone_surrogates(text: str) -> str:
    """Replace every lone surrogate, which UTF-8 cannot encode, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text) if _SURROGATE.search(text) else text


def flatten_to_one_line(text: str) -> str:
    """Replace line breaks by spaces, so that a line break in a title cannot start a rule."""
    return replace_lone_surrogates(_BREAKS.sub(" ", text))


def count_lines(body: bytes | str) -> int:
    """Return an upper bound of the number of lines without splitting the body."""
    if isinstance(body, bytes):
        return 1 + body.count(b"\n") + (body.count(b"\r") - body.count(b"\r\n") if b"\r" in body else 0)
    return 1 + body.count("\n") + (body.count("\r") - body.count("\r\n") if "\r" in body else 0)


def split_lines(body: bytes | str) -> list[str]:
    """Return the lines of a source; one empty line for an empty source."""
    lines: list[str] = []
    for piece in cut_pieces(body):
        lines += split_piece(decode_body(piece))
    return _trim(lines) or [""]


def cut_pieces(body: bytes | str) -> Iterator[bytes | str]:
    """Yield the body in pieces that end at a line break; only a piece with a wide character is wide when it is decoded."""
    start = 0
    while start < len(body):
        after = start + PIECE_BYTES
        found = _BREAK.search(body, after) if isinstance(body, str) else _BREAK_OF_BYTES.search(body, after)
        end = found.end() if found else len(body)
        yield body[start:end]
        start = end


def split_piece(text: str) -> list[str]:
    """Return the lines of a decoded piece that are not empty; each is as wide as its own widest character."""
    return [line for line in text.replace("\r", "\n").split("\n") if line]


def _trim(lines: list[str]) -> list[str]:
    """Remove white space, including a byte order mark, before the first and after the last text."""
    while lines and is_blank(lines[-1]):
        lines.pop()
    if lines:
        del lines[: next(at for at, line in enumerate(lines) if not is_blank(line))]
        lines[0] = lines[0].lstrip(WHITESPACE)
        lines[-1] = lines[-1].rstrip(WHITESPACE)
    return lines


def number_lines(body: bytes | str) -> "array[int]":
    """Return the line number in the body, from 1, of each line that `split_lines` returns."""
    numbers = array("i")
    first = end = 0  # of the lines that are not blank, among the numbered ones
    row_count = 0
    for rows in _iterate_rows(body):
        start = len(numbers)
        own = range(row_count + 1, row_count + len(rows) + 1)
        numbers.extend(own if all(rows) else compress(own, rows))
        row_count += len(rows)
        filled = list(filter(None, rows))
        if (last := next((at for at in range(len(filled), 0, -1) if not is_blank(filled[at - 1])), 0)) > 0:
            first = first if end else start + next(at for at, row in enumerate(filled) if not is_blank(row))
            end = start + last
    return numbers[first:end] or array("i", [1])


def _iterate_rows(body: bytes | str) -> Iterator[list[str]]:
    """Yield all lines of each piece, including empty ones."""
    for piece in cut_pieces(body):
        text = decode_body(piece)
        rows = _BREAK.split(text) if "\r" in text else text.split("\n")
        yield rows if rows[-1] else rows[:-1]
