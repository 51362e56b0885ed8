"""Finds rules and the exceptions that open them, or a part of them, if they come from different sources."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from sluice.core.filters.formats.entries import Width, iterate_wider
from sluice.core.filters.patterns.domain_patterns import NamedRule, read_named_rule

# A block of the most frequent forms, with the last two labels of its name.
_COMMON: Final = re.compile(r"(?:\|\||[0-9.]+[ \t]+)(?:[a-z0-9_-]+\.)*([a-z0-9_-]+\.[a-z0-9_-]+)\^?")


class ConflictingRules(NamedTuple):
    """A rule of one source and its exception of another."""

    rule: str
    source: str
    exception: str
    exception_source: str


class _Named(NamedTuple):
    line: int
    width: Width


def find_conflicts(lines: Sequence[str], source_of: Callable[[int], str | None]) -> Iterator[ConflictingRules]:
    """Yield every pair, in the order of the exceptions; `source_of` names the source of a line."""
    exceptions = {
        at: rule
        for at, line in enumerate(lines)
        if line.startswith("@@") and (rule := read_named_rule(line)) is not None
    }
    if not exceptions:
        return
    related = _index_related_blocks(lines, exceptions.values())
    for at, exception in exceptions.items():
        for block in _find_overlapping(exception, related):
            source, exception_source = source_of(block), source_of(at)
            if source is not None and exception_source is not None and source != exception_source:
                yield ConflictingRules(lines[block].strip(), source, lines[at].strip(), exception_source)


def _index_related_blocks(lines: Sequence[str], exceptions: Iterable[NamedRule]) -> dict[str, list[_Named]]:
    """Return the blocks by their names, and by those names above them that an exception has."""
    names = {name for exception in exceptions for name in exception.names}
    tails = {".".join(name.split(".")[-2:]) for name in names}
    are_long = all("." in tail for tail in tails)
    above = names | {wider for name in names for wider in iterate_wider(name)}
    related: dict[str, list[_Named]] = {}
    for at, line in enumerate(lines):
        if are_long and (common := _COMMON.fullmatch(line)) and common[1] not in tails:
            continue  # related names have the same last two labels
        if line.startswith(("@@", "!", "#")) or (rule := read_named_rule(line)) is None or rule.allows:
            continue
        for name in rule.names:
            if name in above:
                related.setdefault(name, []).append(_Named(at, rule.width))
            for wider in iterate_wider(name):
                if wider in names:
                    related.setdefault(f".{wider}", []).append(_Named(at, rule.width))
    return related


def _find_overlapping(exception: NamedRule, related: dict[str, list[_Named]]) -> Iterator[int]:
    for name in exception.names:
        for block in related.get(name, ()):
            if exception.width is Width.TREE or block.width is Width.TREE or block.width is exception.width:
                yield block.line
        if exception.width is not Width.EXACT:
            yield from (block.line for block in related.get(f".{name}", ()))
        for wider in iterate_wider(name):
            yield from (block.line for block in related.get(wider, ()) if block.width is not Width.EXACT)
