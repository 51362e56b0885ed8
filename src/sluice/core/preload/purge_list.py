"""The numbered purges of a zone, and which copies are valid beside them.

Each purge has a number. A copy carries the number that was known when its origin was asked. It is valid if no later purge
covers it, so who knows an old number fetches once too often, but never serves old content.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self, TypedDict

from sluice.core.preload.purges import Purge, is_below

MAX_MARKS: Final = 2000  # then one purge of everything takes their place
EVERYTHING: Final = "*"


class Verdict(Enum):
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

    def judge(self, url: str, tags: Collection[str], seq: int) -> Verdict:
        """What the purges say about a copy of a page that carries this number."""
        if not self.marks or seq >= self.seq:
            return Verdict.VALID
        covering = list(self._list_covering(url, tags))
        if all(mark.seq <= seq for mark in covering):
            return Verdict.VALID
        return Verdict.SOFT if all(mark.hard_seq <= seq for mark in covering) else Verdict.PURGED

    def _list_covering(self, url: str, tags: Collection[str]) -> Iterator[Mark]:
        named = (EVERYTHING, f"u:{url}", *(f"t:{tag}" for tag in tags))
        yield from (self.marks[scope] for scope in named if scope in self.marks)
        yield from (mark for scope, mark in self.marks.items() if scope[:2] == "p:" and is_below(url, scope[2:]))


def list_scopes(purge: Purge) -> list[str]:
    """What a purge covers, each by a text that a later purge of the same replaces."""
    if purge.everything:
        return [EVERYTHING]
    named = (("t:", purge.tags), ("u:", purge.urls), ("p:", purge.prefixes))
    return [prefix + each for prefix, values in named for each in values]
