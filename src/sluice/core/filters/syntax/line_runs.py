"""Finds the lines of a common form many at a time: one regular expression passes over a whole run of them."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from sluice.core.filters.syntax.line_chunks import cut_chunks

# Joined and searched at a time, so that the whole list does not exist a second time.
CHUNK_LINES = 10_000
_OTHER: Final = "other"  # the group that matches one line of another form


class LineRun(NamedTuple):
    """Lines from `start` to `end`, and the match of all of them; None for one line of another form."""

    start: int
    end: int
    match: re.Match[str] | None


def compile_run(expression: str) -> re.Pattern[str]:
    """Compile an expression that matches any number of lines, each with its line feed."""
    return re.compile(rf"(?:{expression})|(?P<{_OTHER}>[^\n]*+\n)")


def find_runs(lines: list[str], run: re.Pattern[str]) -> Iterator[LineRun]:
    """Split the lines into runs; `run` comes from `compile_run`."""
    for start, chunk in cut_chunks(lines, CHUNK_LINES):
        text = "\n".join(chunk) + "\n"
        if text.count("\n") == len(chunk):
            yield from _find_in_text(text, run, start)
        else:  # a line that contains a line feed itself
            yield from (LineRun(at, at + 1, None) for at in range(start, start + len(chunk)))


def _find_in_text(text: str, run: re.Pattern[str], line: int) -> Iterator[LineRun]:
    for match in run.finditer(text):
        if match.lastgroup == _OTHER:
            yield LineRun(line, line + 1, None)
            line += 1
        else:
            end = line + text.count("\n", match.start(), match.end())
            yield LineRun(line, end, match)
            line = end
