"""Dropping a rule together with the comments and empty lines directly above it."""

from collections.abc import Iterable
from typing import Final

from sluice.core.filters.syntax.lines import HEADING_STARTS, is_heading

HEADING_REASON: Final = "comment or empty line above a dropped rule"


def kept_with_headings(lines: list[str], goes: Iterable[object]) -> bytearray:
    """Mark each line 1 to keep or 0 to drop; `goes` is true for the rules to drop, and never for a heading."""
    kept = bytearray(b"\x01") * len(lines)
    block = 0  # where the headings above the present line start
    for index, (line, drop) in enumerate(zip(lines, goes, strict=True)):
        if drop:
            kept[block : index + 1] = bytes(index + 1 - block)
            block = index + 1
        elif line[:1] not in HEADING_STARTS or not is_heading(line):
            block = index + 1
    return kept
