"""The interface of a transformation, and the two most common forms."""

from collections.abc import Callable
from typing import Protocol

from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection


class Transformation(Protocol):
    """`apply` is the fast way and may use up its input; `trace` also records what happened. Both return the same lines."""

    def apply(self, lines: list[str], /) -> list[str]: ...

    def trace(self, lines: list[str], /) -> TransformationTrace: ...


class Rewrite:
    """Replaces each line by one line."""

    def __init__(self, rewrite: Callable[[str], str]) -> None:
        self._rewrite = rewrite

    def apply(self, lines: list[str]) -> list[str]:
        return list(map(self._rewrite, lines))

    def trace(self, lines: list[str]) -> TransformationTrace:
        return TransformationTrace(self.apply(lines), range(len(lines)), [])


class Removal:
    """Removes all lines that a predicate matches, for one reason; each of them begins with one of `starts`."""

    def __init__(self, is_removed: Callable[[str], bool], reason: str, starts: tuple[str, ...] = ("",)) -> None:
        self._is_removed = is_removed
        self._reason = reason
        self._starts = starts

    def apply(self, lines: list[str]) -> list[str]:
        is_removed, starts = self._is_removed, self._starts
        return [line for line in lines if not line.startswith(starts) or not is_removed(line)]

    def trace(self, lines: list[str]) -> TransformationTrace:
        is_removed, starts = self._is_removed, self._starts
        kept = bytes(not line.startswith(starts) or not is_removed(line) for line in lines)
        return trace_selection(lines, kept, lambda _index: self._reason)
