"""Lines a few at a time, for what joins them to one text."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

# Of a chunk that is joined: one wide character makes the whole text take four bytes for each of its characters.
MAX_CHARS: Final = 1_000_000


class LineChunk(NamedTuple):
    """Some lines in a row, and the index of the first one."""

    start: int
    lines: list[str]


def cut_chunks(lines: Sequence[str], max_lines: int) -> Iterator[LineChunk]:
    """Yield the lines in chunks that are short as texts; a chunk ends at each multiple of `max_lines`."""
    for start in range(0, len(lines), max_lines):
        yield from _halve(LineChunk(start, list(lines[start : start + max_lines])))


def _halve(chunk: LineChunk) -> Iterator[LineChunk]:
    start, lines = chunk
    if len(lines) == 1 or sum(map(len, lines)) <= MAX_CHARS:
        yield chunk
        return
    middle = len(lines) // 2
    yield from _halve(LineChunk(start, lines[:middle]))
    yield from _halve(LineChunk(start + middle, lines[middle:]))
