"""Deduplicate: keeps the last of equal rules, and drops the others with the comments above them."""

from itertools import compress, count
from typing import Final

from sluice.core.filters.syntax.lines import is_comment_or_empty
from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection
from sluice.core.filters.transformations.leading_comments import LEADING_COMMENT_REASON, mark_kept_lines
from sluice.core.filters.transformations.text_set import are_distinct
from sluice.core.filters.transformations.transformation import Transformation

_REASON: Final = "duplicate of a later line"


class _Deduplicate:
    def apply(self, lines: list[str]) -> list[str]:
        dropped = _find_repeated(lines)
        return list(compress(lines, mark_kept_lines(lines, dropped))) if dropped else lines

    def trace(self, lines: list[str]) -> TransformationTrace:
        kept = mark_kept_lines(lines, _find_repeated(lines))
        return trace_selection(
            lines, kept, lambda index: LEADING_COMMENT_REASON if is_comment_or_empty(lines[index]) else _REASON
        )


def _find_repeated(lines: list[str]) -> list[int]:
    """Return the indexes of the rules that occur again further down."""
    if are_distinct(lines) or ("" in lines and are_distinct(list(filter(None, lines)))):
        return []
    last = dict(zip(lines, count(), strict=False))
    repeated = (index for index, line in enumerate(lines) if last[line] != index)
    return [index for index in repeated if not is_comment_or_empty(lines[index])]


DEDUPLICATE: Final[Transformation] = _Deduplicate()
