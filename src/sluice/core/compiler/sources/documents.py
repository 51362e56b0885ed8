"""One file of rules after parsing: its conditions evaluated, its includes located but not yet in place."""

from array import array
from collections.abc import Sequence
from typing import NamedTuple

from sluice.core.compiler.sources.conditions import BadDirective, select_lines
from sluice.core.compiler.sources.includes import Include, parse_include
from sluice.core.compiler.sources.line_splitting import number_lines, split_lines
from sluice.core.compiler.sources.list_check import has_rules
from sluice.core.compiler.sources.source_errors import BadSource


class Document(NamedTuple):
    """The lines of a file that its conditions keep; `numbers` are their line numbers, only if requested.

    `is_empty` if the file has no rules and includes nothing, whatever its conditions.
    """

    lines: list[str]
    is_empty: bool
    includes: Sequence[Include] = ()
    numbers: Sequence[int] = ()


def _may_have_directives(body: bytes | str) -> bool:
    return ("!#" in body) if isinstance(body, str) else (b"!#" in body)


def parse_document(body: bytes | str, constants: frozenset[str], *, numbered: bool) -> Document:
    """Parse one file; raise BadSource, which names the line of a directive that cannot be followed."""
    lines = split_lines(body)
    if not _may_have_directives(body) or not any(line.startswith("!#") for line in lines):
        return Document(lines, not has_rules(lines), numbers=number_lines(body) if numbered else ())
    try:
        kept = array("i", select_lines(lines, constants))
    except BadDirective as error:
        raise BadSource(f"line {number_lines(body)[error.at]}: {error}") from None
    lines = [lines[at] for at in kept]
    targets = {at: target for at, line in enumerate(lines) if (target := parse_include(line)) is not None}
    if not (targets or numbered):
        return Document(lines, is_empty=False)
    numbers = number_lines(body)
    includes = tuple(Include(at, numbers[kept[at]], target) for at, target in targets.items())
    return Document(lines, False, includes, array("i", (numbers[at] for at in kept)) if numbered else ())
