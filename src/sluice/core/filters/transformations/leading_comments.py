"""Drops a rule together with its leading comments: the comments and empty lines directly above it."""

from collections.abc import Iterable
from typing import Final

from sluice.core.filters.syntax.lines import is_comment_or_empty

LEADING_COMMENT_REASON: Final = "comment or empty line above a dropped rule"


def mark_kept_lines(lines: list[str], dropped: Iterable[int]) -> bytearray:
    """Mark each line 1 to keep or 0 to drop; `dropped` are the indexes of the rules to drop, and of no comment."""
    kept = bytearray(b"\x01") * len(lines)
    for index in dropped:
        kept[index] = 0
        above = index - 1
        while above >= 0 and is_comment_or_empty(lines[above]):
            kept[above] = 0
            above -= 1
    return kept
