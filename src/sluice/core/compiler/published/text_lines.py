"""The lines of a long text that stays in memory as bytes: as texts of Python its lines would take twice as much."""

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

_CHUNK_BYTES = 65_536


class TextLines(Sequence[str]):
    """Lines that are decoded when they are read."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._starts = find_line_starts(text)

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            start, end, step = at.indices(len(self))
            return [self[each] for each in range(start, end, step)] if step != 1 else self._split(start, end)
        if at < 0:
            at += len(self)
        return decode(self._text[self._starts[at] : self._starts[at + 1] - 1])

    def __iter__(self) -> Iterator[str]:
        start, end = 0, len(self._text)
        while (line_end := self._text.find(b"\n", min(start + _CHUNK_BYTES, end))) >= 0:
            yield from decode(self._text[start:line_end]).split("\n")
            start = line_end + 1
        yield from decode(self._text[start:]).split("\n")

    def _split(self, start: int, end: int) -> list[str]:
        if start >= end:
            return []
        text = self._text[self._starts[start] : self._starts[end] - 1]
        if len(text) > _CHUNK_BYTES and not text.isascii():
            return [
                decode(line) for line in text.split(b"\n")
            ]  # decoded at once it would be as wide as its widest line
        return decode(text).split("\n")


def decode(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")


def cut_lines(text: bytes, count: int) -> bytes:
    """Return the text without its first lines."""
    start = 0
    for _ in range(count):
        start = text.index(b"\n", start) + 1
    return text[start:]


def find_line_starts(text: bytes) -> "array[int]":
    """Return where each line begins, and where one after the last would."""
    starts = array("l", [0])
    while (end := text.find(b"\n", starts[-1])) >= 0:
        starts.append(end + 1)
    starts.append(len(text) + 1)
    return starts
