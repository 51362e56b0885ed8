"""Decides which entries a format writes: exceptions and `$important` are resolved as AdGuard's DNS engine does.

An important exception beats an important block, that beats an exception, and that beats a block; the length of a name
never counts. A format knows at most that a longer name beats a shorter one.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from sluice.core.filters.formats.entries import Entry, Width, iterate_wider


class EntrySet:
    """Names by width, to ask which entry covers another."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.names: dict[Width, set[str]] = {width: set() for width in Width}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
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


class Resolution:
    """Decides on one block after another, so that the entries of a long list need not be in memory together."""

    def __init__(self, decisive: Sequence[Entry], writable: Container[Width]) -> None:
        """`decisive` are all exceptions and `$important` blocks; exceptions of the `writable` widths can be written."""
        self._writable = writable
        self._exceptions = [entry for entry in decisive if entry.is_exception]
        important = EntrySet(entry for entry in decisive if not entry.is_exception)
        self._stronger = EntrySet(entry for entry in self._exceptions if entry.is_important)
        self._every = EntrySet(self._exceptions)
        self._opening = [entry for entry in self._exceptions if entry.is_important or not important.covers(entry)]
        self._inside = _find_names_above(entry for entry in self._opening if entry.width not in writable)
        # Only blocks of these names can cover an exception.
        self._asked = {name for entry in self._exceptions for name in (entry.name, *iterate_wider(entry.name))}
        self._covering = EntrySet()

    def resolve(self, block: Entry) -> Entry | str | None:
        """Return what is left of a block: None if exceptions open all of it, the reason if that cannot be expressed."""
        exceptions = self._stronger if block.is_important else self._every
        if exceptions.covers(block):
            return None
        left = _narrow(block, exceptions)
        if left.width is not Width.EXACT and (opened := self._inside.get((left.name, left.is_important))):
            return f"the list allows {opened} inside of it, which cannot be expressed"
        if left.name in self._asked:
            self._covering.add(left)
        return left

    def list_exceptions(self) -> list[Entry]:
        """Return the exceptions to write, after all blocks were resolved."""
        return [entry for entry in self._opening if entry.width in self._writable and self._covering.covers(entry)]

    def iterate_blocked_exceptions(self) -> Iterator[Entry]:
        """Yield the names that an exception does not open, because of `$important`: a name above them does not block them."""
        for entry in self._exceptions:
            name = Entry(entry.line, entry.name, Width.EXACT)
            if self._covering.covers(name):
                yield name


def _narrow(block: Entry, exceptions: EntrySet) -> Entry:
    """Return the block without the part of the same name that an exception opens."""
    if block.width is Width.TREE and block.name in exceptions.names[Width.EXACT]:
        return replace(block, width=Width.BELOW)
    if block.width is Width.TREE and block.name in exceptions.names[Width.BELOW]:
        return replace(block, width=Width.EXACT)
    return block


def _find_names_above(exceptions: Iterable[Entry]) -> dict[tuple[str, bool], str]:
    """Return the names above each exception, for blocks that are not important and those that are, with the name it opens."""
    inside: dict[tuple[str, bool], str] = {}
    for entry in exceptions:
        for name in iterate_wider(entry.name):
            inside.setdefault((name, False), entry.name)
            if entry.is_important:
                inside.setdefault((name, True), entry.name)
    return inside
