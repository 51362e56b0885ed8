"""Where the rules of a list stand in its sources, in little memory: numbers in arrays, found by the hashes of the rules."""

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from sluice.core.compiler.source_walk import SourceWalk, WalkedSource
from sluice.core.filters.pipeline import LineFilters, trace_alone
from sluice.core.json_text import encode_utf8

_HASH_BYTES: Final = 8
_CHUNK_LINES: Final = 5_000


class RulePlaces:
    """The places of rules: for each a file, by its number, and a line."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._hashes = array("Q", sorted(map(_hash_rule, rules)))
        # Three numbers for each place, in the order in which the sources are read; and for each rule its places.
        self._rows = array("l")
        self._starts = array("l")
        self._sorted = array("l")

    def add(self, rule: str, file: int, line: int) -> None:
        """Note a place, if the rule is in the list. Of equal rules the first one holds all places."""
        at = self._find(rule)
        if at is not None:
            self._rows.extend((at, file, line))

    def finish(self) -> None:
        """Sort the places by rule."""
        counts = array("l", [0]) * (len(self._hashes) + 1)
        for at in self._rows[::3]:
            counts[at + 1] += 1
        for at in range(1, len(counts)):
            counts[at] += counts[at - 1]
        self._starts = counts[:]
        self._sorted = array("l", [0]) * (len(self._rows) // 3)
        for row, at in enumerate(self._rows[::3]):
            self._sorted[counts[at]] = row
            counts[at] += 1

    def find(self, rule: str) -> list[tuple[int, int]]:
        """Return the files and the lines of a rule, in the order of the sources."""
        at = self._find(rule)
        if at is None:
            return []
        rows = self._sorted[self._starts[at] : self._starts[at + 1]]
        return [(self._rows[3 * row + 1], self._rows[3 * row + 2]) for row in rows]

    def _find(self, rule: str) -> int | None:
        wanted = _hash_rule(rule)
        at = bisect_left(self._hashes, wanted)
        return at if at < len(self._hashes) and self._hashes[at] == wanted else None


async def find_places(rules: Iterable[str], walk: SourceWalk, names: Sequence[str]) -> RulePlaces:
    """Read all sources again, and find out which line of them became which rule; `names` are the list's transformations."""
    places = RulePlaces(rules)
    list_filters = await walk.read_list_filters()
    async for source in walk.iterate_sources():
        for rule, file, line in _iterate_places(source, names, list_filters):
            places.add(rule, file, line)
        del source
    places.finish()
    return places


def _iterate_places(
    source: WalkedSource, names: Sequence[str], list_filters: LineFilters
) -> Iterator[tuple[str, int, int]]:
    lines, origins = source.text.lines, source.text.origins
    if origins is None:
        return
    for start in range(0, len(lines), _CHUNK_LINES):
        own = trace_alone(lines[start : start + _CHUNK_LINES], source.names, source.filters)
        whole = trace_alone(own.lines, names, list_filters)
        for rule, at in zip(whole.lines, whole.origins, strict=True):
            if at >= 0 and own.origins[at] >= 0:
                file, line = origins[start + own.origins[at]]
                yield rule, file, line


def _hash_rule(rule: str) -> int:
    return int.from_bytes(hashlib.blake2b(encode_utf8(rule), digest_size=_HASH_BYTES).digest())
