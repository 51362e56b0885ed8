"""Deduplicate: keeps the last of equal rules, and drops the others with the comments above them."""

from collections.abc import Iterator
from itertools import compress, count
from typing import Final

from sluice.core.filters.syntax.lines import is_comment_or_empty
from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection
from sluice.core.filters.transformations.leading_comments import LEADING_COMMENT_REASON, mark_kept_lines
from sluice.core.filters.transformations.transformation import Transformation

_REASON: Final = "duplicate of a later line"


class _Deduplicate:
    def apply(self, lines: list[str]) -> list[str]:
        return list(compress(lines, mark_kept_lines(lines, _find_repeated(lines))))

    def trace(self, lines: list[str]) -> TransformationTrace:
        kept = mark_kept_lines(lines, _find_repeated(lines))
        return trace_selection(
            lines, kept, lambda index: LEADING_COMMENT_REASON if is_comment_or_empty(lines[index]) else _REASON
        )


def _find_repeated(lines: list[str]) -> Iterator[bool]:
    """Yield for each line whether it is a rule that occurs again further down."""
    last = dict(zip(lines, count(), strict=False))
    return (last[line] != index and not is_comment_or_empty(line) for index, line in enumerate(lines))


DEDUPLICATE: Final[Transformation] = _Deduplicate()
