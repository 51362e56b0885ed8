"""Deduplicate: of equal rules the last stays; headings of the others go with them."""

from collections.abc import Iterator
from itertools import compress, count
from typing import Final

from sluice.core.filters.syntax.lines import is_heading
from sluice.core.filters.transformations.leading_comments import HEADING_REASON, kept_with_headings
from sluice.core.filters.transformations.transformation import Trace, Transformation, selected

_REASON: Final = "duplicate of a later line"


class _Deduplicate:
    def apply(self, lines: list[str]) -> list[str]:
        return list(compress(lines, kept_with_headings(lines, _repeated(lines))))

    def trace(self, lines: list[str]) -> Trace:
        kept = kept_with_headings(lines, _repeated(lines))
        return selected(lines, kept, lambda index: HEADING_REASON if is_heading(lines[index]) else _REASON)


def _repeated(lines: list[str]) -> Iterator[bool]:
    """Whether each line is a rule that stands again further down."""
    last = dict(zip(lines, count(), strict=False))
    return (last[line] != index and not is_heading(line) for index, line in enumerate(lines))


DEDUPLICATE: Final[Transformation] = _Deduplicate()
