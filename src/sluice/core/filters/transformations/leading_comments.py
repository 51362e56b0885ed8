"""Drops a rule together with its leading comments: the comments and empty lines directly above it."""

from collections.abc import Iterable
from typing import Final

from sluice.core.filters.syntax.lines import COMMENT_OR_EMPTY_STARTS, is_comment_or_empty

LEADING_COMMENT_REASON: Final = "comment or empty line above a dropped rule"


def mark_kept_lines(lines: list[str], is_dropped: Iterable[object]) -> bytearray:
    """Mark each line 1 to keep or 0 to drop; `is_dropped` is true for the rules to drop, and never for a comment."""
    kept = bytearray(b"\x01") * len(lines)
    block = 0  # index of the first comment directly above the current line
    for index, (line, drop) in enumerate(zip(lines, is_dropped, strict=True)):
        if drop:
            kept[block : index + 1] = bytes(index + 1 - block)
            block = index + 1
        elif line[:1] not in COMMENT_OR_EMPTY_STARTS or not is_comment_or_empty(line):
            block = index + 1
    return kept
