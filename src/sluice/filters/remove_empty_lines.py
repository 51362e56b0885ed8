"""RemoveEmptyLines: lines without anything but white space go."""

from typing import Final

from sluice.filters.lines import is_blank
from sluice.filters.traces import Removal, Transformation

REMOVE_EMPTY_LINES: Final[Transformation] = Removal(is_blank, "empty line")
