"""One file of rules as it was read: its conditions followed, its includes found but not yet in place."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from sluice.compiler.directives import BadDirective, include_target, surviving
from sluice.compiler.failures import BadSource
from sluice.compiler.text import line_numbers, split


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
