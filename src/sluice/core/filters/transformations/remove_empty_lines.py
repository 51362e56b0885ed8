"""RemoveEmptyLines: drops lines that are empty or only white space."""

from typing import Final

from sluice.core.filters.syntax.lines import is_blank
from sluice.core.filters.transformations.transformation import Removal, Transformation

REMOVE_EMPTY_LINES: Final[Transformation] = Removal(is_blank, "empty line")
