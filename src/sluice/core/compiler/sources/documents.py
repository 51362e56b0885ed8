"""One file of rules as it was read: its conditions followed, its includes found but not yet in place."""

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sluice.core.compiler.sources.directives import BadDirective, include_target, surviving
from sluice.core.compiler.sources.failures import BadSource
from sluice.core.compiler.sources.line_splitting import line_numbers, split

_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html|head|body|\?xml)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Include:
    """An `!#include`: the index of its line, that line's number in the file, and what it names."""

    at: int
    line: int
    target: str


@dataclass(frozen=True, slots=True)
class Document:
    """The lines that count; `numbers` only if asked for."""

    lines: list[str]
    includes: Sequence[Include] = ()
    numbers: "array[int]" = field(default_factory=lambda: array("i"))


def check_is_text(body: bytes) -> None:
    """Refuse what a host sends in place of a list: a page that says sorry, or a file of another kind."""
    if b"\0" in body:
        raise BadSource("it is not a text in UTF-8 but a binary file")
    if _PAGE.match(body):
        raise BadSource("it is a web page, not a list")


def read_document(body: bytes | str, constants: frozenset[str], *, numbered: bool) -> Document:
    """One file as a document; BadSource names the line of a directive that cannot be followed."""
    lines = split(body)
    if not any(line.startswith("!#") for line in lines):
        return Document(lines, numbers=line_numbers(body) if numbered else array("i"))
    try:
        kept = array("i", surviving(lines, constants))
    except BadDirective as error:
        raise BadSource(f"line {line_numbers(body)[error.at]}: {error}") from None
    lines = [lines[at] for at in kept]
    targets = {at: target for at, line in enumerate(lines) if (target := include_target(line)) is not None}
    if not (targets or numbered):
        return Document(lines)
    numbers = line_numbers(body)
    includes = tuple(Include(at, numbers[kept[at]], target) for at, target in targets.items())
    return Document(lines, includes, array("i", (numbers[at] for at in kept)) if numbered else array("i"))
