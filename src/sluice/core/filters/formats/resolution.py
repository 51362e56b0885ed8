"""Decides which entries a format writes: exceptions and `$important` are resolved as AdGuard's DNS engine does.

An important exception beats an important block, that beats an exception, and that beats a block; the length of a name
never counts. A format knows at most that a longer name beats a shorter one.
"""

from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from sluice.core.filters.formats.entries import Entry, Skipped, Width, iterate_wider


class EntrySet:
    """Names by width, to ask which entry covers another."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.names: dict[Width, set[str]] = {width: set() for width in Width}
        for entry in entries:
            self.names[entry.width].add(entry.name)

    def covers(self, entry: Entry) -> bool:
        """Return whether one entry of the set means all the names that this entry means."""
        exact, tree, below = (self.names[width] for width in (Width.EXACT, Width.TREE, Width.BELOW))
        if entry.name in tree or (entry.width is Width.EXACT and entry.name in exact):
            return True
        if entry.width is Width.BELOW and entry.name in below:
            return True
        return self.covers_strictly(entry)

    def covers_strictly(self, entry: Entry) -> bool:
        """Return whether an entry of a shorter name means all the names that this entry means."""
        tree, below = self.names[Width.TREE], self.names[Width.BELOW]
        return any(wider in tree or wider in below for wider in iterate_wider(entry.name))


@dataclass(frozen=True, slots=True)
class Resolved:
    """What is to be written, and what cannot be."""

    blocks: list[Entry]
    exceptions: list[Entry]
    skipped: list[Skipped]


def resolve(entries: list[Entry], texts: list[str], writable: Container[Width]) -> Resolved:
    """Resolve the entries for a format that can write exceptions of these widths."""
    exceptions = [entry for entry in entries if entry.is_exception]
    blocks = [entry for entry in entries if not entry.is_exception]
    stronger = EntrySet(entry for entry in exceptions if entry.is_important)
    every = EntrySet(exceptions)
    important = EntrySet(entry for entry in blocks if entry.is_important)
    blocks = [
        _narrow(entry, stronger if entry.is_important else every)
        for entry in blocks
        if not (stronger if entry.is_important else every).covers(entry)
    ]
    exceptions = [entry for entry in exceptions if entry.is_important or not important.covers(entry)]
    split = _find_split(blocks, [entry for entry in exceptions if entry.width not in writable])
    kept = [entry for entry in blocks if entry not in split]
    covering = EntrySet(kept)
    written = [entry for entry in exceptions if entry.width in writable and covering.covers(entry)]
    skipped = [Skipped(entry.line + 1, texts[entry.line].strip(), reason) for entry, reason in split.items()]
    return Resolved(kept, written, skipped)


def _narrow(block: Entry, exceptions: EntrySet) -> Entry:
    """Return the block without the part of the same name that an exception opens."""
    if block.width is Width.TREE and block.name in exceptions.names[Width.EXACT]:
        return replace(block, width=Width.BELOW)
    if block.width is Width.TREE and block.name in exceptions.names[Width.BELOW]:
        return replace(block, width=Width.EXACT)
    return block


def _find_split(blocks: list[Entry], unwritable: list[Entry]) -> dict[Entry, str]:
    """Return the blocks of which an exception that cannot be written opens a part, each with the reason."""
    inside: dict[tuple[str, bool], str] = {}
    for entry in unwritable:
        for name in iterate_wider(entry.name):
            inside.setdefault((name, False), entry.name)
            if entry.is_important:
                inside.setdefault((name, True), entry.name)
    return {
        block: f"the list allows {inside[block.name, block.is_important]} inside of it, which cannot be expressed"
        for block in blocks
        if block.width is not Width.EXACT and (block.name, block.is_important) in inside
    }
