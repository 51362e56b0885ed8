"""TrimLines: removes spaces and tabs around a line; other white space stays."""

from typing import Final

from sluice.core.filters.transformations.transformation import Rewrite, Transformation


def _trim(line: str) -> str:
    return line.strip(" \t")


TRIM_LINES: Final[Transformation] = Rewrite(_trim)
