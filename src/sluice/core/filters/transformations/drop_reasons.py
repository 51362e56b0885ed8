"""What a transformation did to each line: where the remaining lines come from, and the reason for each dropped one."""

from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import NamedTuple


class Drop(NamedTuple):
    """A dropped line: its index in the input (`at`), its text when it was dropped, and the reason."""

    at: int
    text: str
    reason: str


class TransformationTrace(NamedTuple):
    """The result of a transformation; `origins[i]` is the input index of output line i, -1 for an added line."""

    lines: list[str]
    origins: Sequence[int]
    dropped: list[Drop]


def trace_selection(lines: list[str], kept: Iterable[int], reason_of: Callable[[int], str]) -> TransformationTrace:
    """Build the trace of a selection; `kept` holds a truth value for each line."""
    kept = bytes(kept)
    if 0 not in kept:
        return TransformationTrace(lines, range(len(lines)), [])
    dropped = [Drop(index, lines[index], reason_of(index)) for index, keep in enumerate(kept) if not keep]
    return TransformationTrace(list(compress(lines, kept)), list(compress(range(len(lines)), kept)), dropped)
