"""What a transformation did, line by line."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Dropped:
    """A line that went: its index in the input, its text when it went, and why."""

    index: int
    text: str
    reason: str


class Trace(NamedTuple):
    """The result of a transformation; `origins[i]` is the input index of output line i, -1 for an added line."""

    lines: list[str]
    origins: list[int]
    dropped: list[Dropped]


class Transformation(Protocol):
    """`apply` is the quick way, `trace` tells what happened; both give the same lines."""

    def apply(self, lines: list[str], /) -> list[str]: ...

    def trace(self, lines: list[str], /) -> Trace: ...


class Rewrite:
    """Each line becomes one line."""

    def __init__(self, rewrite: Callable[[str], str]) -> None:
        self._rewrite = rewrite

    def apply(self, lines: list[str]) -> list[str]:
        return list(map(self._rewrite, lines))

    def trace(self, lines: list[str]) -> Trace:
        return Trace(self.apply(lines), list(range(len(lines))), [])


class Removal:
    """Lines of one kind go, whatever stands around them."""

    def __init__(self, goes: Callable[[str], bool], reason: str) -> None:
        self._goes = goes
        self._reason = reason

    def apply(self, lines: list[str]) -> list[str]:
        goes = self._goes
        return [line for line in lines if not goes(line)]

    def trace(self, lines: list[str]) -> Trace:
        kept = bytes(not goes for goes in map(self._goes, lines))
        return selected(lines, kept, lambda _index: self._reason)


def selected(lines: list[str], kept: Iterable[int], reason_of: Callable[[int], str]) -> Trace:
    """Trace of a choice among the lines: `kept` holds a truth value for each."""
    kept = bytes(kept)
    dropped = [Dropped(index, lines[index], reason_of(index)) for index, keep in enumerate(kept) if not keep]
    return Trace(list(compress(lines, kept)), list(compress(range(len(lines)), kept)), dropped)
