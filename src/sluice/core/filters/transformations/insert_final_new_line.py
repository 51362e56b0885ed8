"""InsertFinalNewLine: adds an empty last line, so that the joined text ends with a line feed."""

from typing import Final

from sluice.core.filters.syntax.lines import is_blank
from sluice.core.filters.transformations.drop_reasons import TransformationTrace
from sluice.core.filters.transformations.transformation import Transformation


class _InsertFinalNewLine:
    def apply(self, lines: list[str]) -> list[str]:
        return lines if lines and is_blank(lines[-1]) else [*lines, ""]

    def trace(self, lines: list[str]) -> TransformationTrace:
        result = self.apply(lines)
        origins = range(len(lines))
        return TransformationTrace(result, origins if len(result) == len(lines) else [*origins, -1], [])


INSERT_FINAL_NEW_LINE: Final[Transformation] = _InsertFinalNewLine()
