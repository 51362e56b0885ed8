"""The interface of a transformation, and the two most common forms."""

from collections.abc import Callable
from operator import not_
from typing import Protocol

from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection


class Transformation(Protocol):
    """One step of the pipeline. `apply` is the fast way and may use up its input; `trace` also records what happened. Both return the same lines."""

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
    """Removes all lines that a predicate matches, for one reason."""

    def __init__(self, is_removed: Callable[[str], bool], reason: str) -> None:
        self._is_removed = is_removed
        self._reason = reason

    def apply(self, lines: list[str]) -> list[str]:
        is_removed = self._is_removed
        return [line for line in lines if not is_removed(line)]

    def trace(self, lines: list[str]) -> TransformationTrace:
        kept = map(not_, map(self._is_removed, lines))
        return trace_selection(lines, kept, lambda _index: self._reason)
