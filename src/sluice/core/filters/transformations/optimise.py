"""Optimise: drops rules that change no verdict, because another rule of the list already decides the same names."""

from itertools import compress
from typing import Final

from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection
from sluice.core.filters.transformations.transformation import Transformation


class _Optimise:
    def apply(self, lines: list[str]) -> list[str]:
        dropped = _find_redundant(lines)
        return list(compress(lines, (at not in dropped for at in range(len(lines))))) if dropped else lines

    def trace(self, lines: list[str]) -> TransformationTrace:
        dropped = _find_redundant(lines)
        kept = bytes(at not in dropped for at in range(len(lines)))
        return trace_selection(lines, kept, dropped.__getitem__)


def _find_redundant(lines: list[str]) -> dict[int, str]:
    from sluice.core.filters.redundancy import find_redundant  # noqa: PLC0415 - few lists ask for it

    return find_redundant(lines)


OPTIMISE: Final[Transformation] = _Optimise()
