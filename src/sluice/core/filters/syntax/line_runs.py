"""Finds the lines of a common form many at a time: one regular expression passes over a whole run of them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

# Joined and searched at a time, so that the whole list does not exist a second time.
CHUNK_LINES = 10_000


class LineRun(NamedTuple):
    """Lines from `start` to `end`, and the match of all of them; None for one line of another form."""

    start: int
    end: int
    match: re.Match[str] | None


def find_runs(lines: list[str], run: re.Pattern[str]) -> Iterator[LineRun]:
    """Split the lines into runs; `run` matches any number of lines, each with its line feed."""
    for start in range(0, len(lines), CHUNK_LINES):
        chunk = lines[start : start + CHUNK_LINES]
        text = "\n".join(chunk) + "\n"
        if text.count("\n") == len(chunk):
            yield from _find_in_text(text, run, start)
        else:  # a line that contains a line feed itself
            yield from (LineRun(at, at + 1, None) for at in range(start, start + len(chunk)))


def _find_in_text(text: str, run: re.Pattern[str], line: int) -> Iterator[LineRun]:
    at = 0
    while at < len(text):
        match = run.match(text, at)
        if match and match.end() > at:
            count = text.count("\n", at, match.end())
            yield LineRun(line, line + count, match)
            line += count
            at = match.end()
        else:
            yield LineRun(line, line + 1, None)
            line += 1
            at = text.index("\n", at) + 1
