"""RemoveEmptyLines: drops lines that are empty or only white space."""

from typing import Final

from sluice.core.filters.syntax.lines import is_blank
from sluice.core.filters.transformations.transformation import Removal, Transformation


class _RemoveEmptyLines(Removal):
    def apply(self, lines: list[str]) -> list[str]:
        # Nearly every line begins with a visible character of ASCII, which is faster to check.
        return [line for line in lines if "!" <= line[:1] <= "~" or not is_blank(line)]


REMOVE_EMPTY_LINES: Final[Transformation] = _RemoveEmptyLines(is_blank, "empty line")
