"""Decides which entries a format writes: exceptions and `$important` are resolved as AdGuard's DNS engine does.

An important exception beats an important block, that beats an exception, and that beats a block; the length of a name
never counts. A format knows at most that a longer name beats a shorter one.

A format blocks no name that the list opens. What a format cannot say is left out and reported, and as little of it as
can be: where an exception below a name has no line, the name alone is blocked. An exception that is a regular
expression, or a pattern without a fixed end, is reported, and opens only names that have a rule of their own. All
formats but `adblock` and `browser`, which are the list as it is, have international names in Punycode.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from sluice.core.filters.formats.entries import Entry, Width, iterate_wider

if TYPE_CHECKING:
    from sluice.core.filters.formats.pattern_exceptions import PatternExceptions


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


class Remainder(NamedTuple):
    """What is written of a block, None if nothing; and why that is less than the list says, "" if it is not."""

    entry: Entry | None
    reason: str = ""


class Resolution:
    """Decides on one block after another, so that the entries of a long list need not be in memory together."""

    def __init__(
        self,
        decisive: Sequence[Entry],
        patterns: "PatternExceptions",
        writable: Collection[Width],
        *,
        can_narrow: bool = False,
        names_only: bool = False,
    ) -> None:
        """`decisive` are all exceptions and `$important` blocks, without the exceptions that are `patterns`.

        Inside of a block, exceptions of the `writable` widths hold. For another one the block is left out, or with
        `can_narrow` becomes its name alone. With `names_only`, a block never reaches the names below it.
        """
        self._writable = frozenset(Width) if names_only else writable
        self._patterns = patterns
        self._can_narrow = can_narrow
        self._names_only = names_only
        exceptions = [entry for entry in decisive if entry.is_exception]
        self._lines = {entry.name: entry.line for entry in exceptions}
        self._important = EntrySet(entry for entry in decisive if not entry.is_exception)
        self._stronger = EntrySet(entry for entry in exceptions if entry.is_important)
        self._every = EntrySet(exceptions)
        self._inside = self._find_blocks_around()
        # Only blocks of these names can cover an exception.
        self._asked = {name for entry in exceptions for name in (entry.name, *iterate_wider(entry.name))}
        self._covering = EntrySet()
        self._narrowed = EntrySet()

    def resolve(self, block: Entry) -> Remainder:
        """Return what is left of a block without all that exceptions open."""
        if not self._lines and not self._patterns:
            return Remainder(block)
        left = _subtract(block, self._stronger if block.is_important else self._every)
        if left is None:
            return Remainder(None)
        if left.width is not Width.BELOW and (opener := self._patterns.find_opener(left)):
            return Remainder(None, f"the list allows it by {opener}, which cannot be expressed")
        opened = self._find_inside(left)
        if left.name in self._asked:
            (self._narrowed if opened or self._names_only else self._covering).add(left)
        return self._narrow(left, opened) if opened else Remainder(left)

    def _find_inside(self, block: Entry) -> str:
        """Return what is opened below the name of a block and cannot be written; "" if nothing is."""
        if block.width is Width.EXACT or self._names_only:
            return ""
        return self._inside.get((block.name, block.is_important)) or self._patterns.find_inside(block)

    def _narrow(self, block: Entry, opened: str) -> Remainder:
        reason = f"the list allows {opened} inside of it, which cannot be expressed"
        if block.width is Width.BELOW or not self._can_narrow:
            return Remainder(None, reason)
        reason = f"{reason}: {block.name} is blocked without the names below it"
        return Remainder(replace(block, width=Width.EXACT), reason)

    def list_exceptions(self) -> list[Entry]:
        """Return the exceptions to write, one for a name, after all blocks were resolved."""
        opened = ((name, self._find_opened(name)) for name in self._lines)
        entries = (Entry(self._lines[name], name, width, is_exception=True) for name, width in opened if width)
        return [entry for entry in entries if self._covering.covers_strictly(entry)]

    def iterate_blocked_exceptions(self) -> Iterator[Entry]:
        """Yield the names that an exception does not open, where the block above them does not reach them."""
        for name, line in self._lines.items():
            entry = Entry(line, name, Width.EXACT)
            is_blocked = self._narrowed.covers(entry) and self._find_opened(name) in {None, Width.BELOW}
            if is_blocked and not self._patterns.find_opener(entry):
                yield entry

    def _find_blocks_around(self) -> dict[tuple[str, bool], str]:
        """Return the names above exceptions that cannot be written, for blocks that are important or not, and what is opened."""
        inside: dict[tuple[str, bool], str] = {}
        for name in self._lines:
            for is_important in (False, True):
                width = self._find_opened(name, is_important=is_important)
                if width is not None and width not in self._writable:
                    for wider in iterate_wider(name):
                        inside.setdefault((wider, is_important), name)
        return inside

    def _find_opened(self, name: str, *, is_important: bool = False) -> Width | None:
        """Return what exceptions open of a name that a block above covers: it alone, all below, both, or nothing."""
        widths = [
            width
            for width in (Width.EXACT, Width.BELOW)
            if self._is_open(Entry(0, name, width), is_important=is_important)
        ]
        return Width.TREE if len(widths) > 1 else widths[0] if widths else None

    def _is_open(self, part: Entry, *, is_important: bool) -> bool:
        if self._stronger.covers(part):
            return True
        return not is_important and not self._important.covers(part) and self._every.covers(part)


def _subtract(block: Entry, exceptions: EntrySet) -> Entry | None:
    """Return the block without the names that an exception opens; None if that is all of it."""
    if exceptions.covers_strictly(block):
        return None
    name, names = block.name, exceptions.names
    is_open = name in names[Width.TREE]
    keeps_name = block.width is not Width.BELOW and not is_open and name not in names[Width.EXACT]
    keeps_below = block.width is not Width.EXACT and not is_open and name not in names[Width.BELOW]
    if not keeps_name and not keeps_below:
        return None
    width = Width.TREE if keeps_name and keeps_below else Width.EXACT if keeps_name else Width.BELOW
    return block if width is block.width else replace(block, width=width)


def iterate_hidden(
    blocked: Mapping[Width, Collection[str]], opened: Mapping[str, Width]
) -> Iterator[tuple[str, Width]]:
    """Yield what must be blocked once more in a zone, because a wildcard there reaches no name that has a line, nor below it.

    `blocked` and `opened` are the names that have lines; those of an exception say what becomes of the name and all below.
    """
    found: set[tuple[str, Width]] = set()
    exact, tree, below = (blocked[width] for width in (Width.EXACT, Width.TREE, Width.BELOW))
    for owner in chain(exact, tree, below, opened):
        if not any(wider in tree or wider in below for wider in iterate_wider(owner)):
            continue
        is_blocked = False
        for name in [owner, *iterate_wider(owner)][::-1]:
            if name in opened:
                is_blocked = opened[name] is Width.EXACT
                continue
            if is_blocked and name not in exact and name not in tree:
                found.add((name, Width.EXACT))
            if name in tree or name in below:
                is_blocked = True
            elif is_blocked:
                found.add((name, Width.BELOW))
    yield from sorted(found)
