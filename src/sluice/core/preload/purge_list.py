"""The numbered purges of a zone, and which copies are valid beside them.

A purge must hold everywhere at once, but copies are in R2 and in the caches of many data centres, and no data centre can
reach another. So nothing waits for copies to be deleted: each copy is checked when it is served. These are the rules:

- The zone's object, the only one who can count exactly, gives each purge the next number.
- A copy carries the latest number that was known before its origin was asked, not when it was stored: the origin may have
  answered just before a change. The copy is valid if no purge with a higher number covers it.
- Whoever knows only an old number fetches once too often, but never serves old content: every error is on that side.
- One number is kept for each scope (a URL, a tag, a prefix, everything), that of its latest purge: older ones of the same
  scope say nothing more. Beside it stands the latest that was not soft. After a soft purge a copy may still be served
  while the origin fails; a later soft purge does not weaken an earlier hard one.
- A list stays short: above `MAX_MARKS` scopes one purge of everything replaces them all, and a scope is forgotten when no
  copy that is older can exist any more. Neither makes an invalid copy valid.
- Who serves a copy has read the list at most the zone's delay ago. If the zone's object does not answer, the last list
  counts for a while, and its verdict says that it is unchecked.

Deleting the copies comes later and is only tidying up: it may be slow, or crash and begin again.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self, TypedDict

from sluice.core.preload.purges import Purge, is_below

MAX_MARKS: Final = 2000  # then one purge of everything takes their place
EVERYTHING: Final = "*"


class PurgeVerdict(Enum):
    VALID = "valid"
    SOFT = "soft"  # purged, but it may be served while the origin fails
    PURGED = "purged"
    UNCHECKED = "unchecked"  # valid by what was known a while ago; nobody can be asked now


@dataclass(frozen=True, slots=True)
class Mark:
    """The numbers of the latest purge of one scope, and of the latest that was not soft."""

    seq: int
    hard_seq: int


class PurgeListJson(TypedDict):
    """The numbers of each scope: of its latest purge, and of the latest that was not soft."""

    seq: int
    marks: list[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class PurgeList:
    seq: int
    marks: Mapping[str, Mark]

    @classmethod
    def from_json(cls, value: PurgeListJson) -> Self:
        return cls(value["seq"], {scope: Mark(seq, hard) for scope, seq, hard in value["marks"]})

    def as_json(self) -> PurgeListJson:
        return {"seq": self.seq, "marks": [(scope, each.seq, each.hard_seq) for scope, each in self.marks.items()]}

    def judge(self, url: str, tags: Collection[str], seq: int) -> PurgeVerdict:
        """Return what the purges say about a copy of a page that carries this number."""
        if not self.marks or seq >= self.seq:
            return PurgeVerdict.VALID
        covering = list(self._list_covering(url, tags))
        if all(mark.seq <= seq for mark in covering):
            return PurgeVerdict.VALID
        return PurgeVerdict.SOFT if all(mark.hard_seq <= seq for mark in covering) else PurgeVerdict.PURGED

    def _list_covering(self, url: str, tags: Collection[str]) -> Iterator[Mark]:
        named = (EVERYTHING, f"u:{url}", *(f"t:{tag}" for tag in tags))
        yield from (self.marks[scope] for scope in named if scope in self.marks)
        yield from (mark for scope, mark in self.marks.items() if scope[:2] == "p:" and is_below(url, scope[2:]))


def list_scopes(purge: Purge) -> list[str]:
    """Return what a purge covers, each by a text that a later purge of the same replaces."""
    if purge.everything:
        return [EVERYTHING]
    named = (("t:", purge.tags), ("u:", purge.urls), ("p:", purge.prefixes))
    return [prefix + each for prefix, values in named for each in values]
