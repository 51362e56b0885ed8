"""TrimLines: removes spaces and tabs around a line; other white space stays."""

from typing import Final

from sluice.core.filters.transformations.drop_reasons import TransformationTrace
from sluice.core.filters.transformations.transformation import Transformation


class _TrimLines:
    def apply(self, lines: list[str]) -> list[str]:
        return [line.strip(" \t") for line in lines]

    def trace(self, lines: list[str]) -> TransformationTrace:
        return TransformationTrace(self.apply(lines), range(len(lines)), [])


TRIM_LINES: Final[Transformation] = _TrimLines()
