"""One file of rules after parsing: its conditions evaluated, its includes located but not yet in place."""

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sluice.core.compiler.sources.conditions import BadDirective, select_lines
from sluice.core.compiler.sources.failures import BadSource
from sluice.core.compiler.sources.includes import Include, parse_include
from sluice.core.compiler.sources.line_splitting import number_lines, split_lines

_WEB_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body|\?xml)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Document:
    """The lines of a file that its conditions keep; `numbers` are their line numbers, only if requested."""

    lines: list[str]
    includes: Sequence[Include] = ()
    numbers: "array[int]" = field(default_factory=lambda: array("i"))


def check_is_text(body: bytes) -> None:
    """Raise BadSource for a web page or a binary file, which hosts often send in place of a missing list."""
    if b"\0" in body:
        raise BadSource("it is a binary file, not text in UTF-8: check the address")
    if _WEB_PAGE.match(body):
        raise BadSource("it is a web page, not a list: check the address")


def parse_document(body: bytes | str, constants: frozenset[str], *, numbered: bool) -> Document:
    """Parse one file; raises BadSource, which names the line of a directive that cannot be followed."""
    lines = split_lines(body)
    if not any(line.startswith("!#") for line in lines):
        return Document(lines, numbers=number_lines(body) if numbered else array("i"))
    try:
        kept = array("i", select_lines(lines, constants))
    except BadDirective as error:
        raise BadSource(f"line {number_lines(body)[error.at]}: {error}") from None
    lines = [lines[at] for at in kept]
    targets = {at: target for at, line in enumerate(lines) if (target := parse_include(line)) is not None}
    if not (targets or numbered):
        return Document(lines)
    numbers = number_lines(body)
    includes = tuple(Include(at, numbers[kept[at]], target) for at, target in targets.items())
    return Document(lines, includes, array("i", (numbers[at] for at in kept)) if numbered else array("i"))
