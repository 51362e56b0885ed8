"""How many rules the sources of a list have, have alone, and share with each other, by equal text."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Annotated, TypedDict

from sluice.core.compiler.stage_metrics import Amount
from sluice.core.doc import Doc
from sluice.core.filters.syntax.lines import is_blank, is_comment


class SourceRules(TypedDict):
    source: str
    rules: Amount
    unique: Annotated[int, Doc("Rules that no other source has.", minimum=0)]


class PairOverlap(TypedDict):
    a: str
    b: str
    shared: Amount


class Counts(TypedDict):
    sources: list[SourceRules]
    pairs: list[PairOverlap]


class OverlapCounter:
    """Counts source by source, so that the lines of one are freed before the next is read."""

    def __init__(self) -> None:
        self._labels: list[str] = []
        self._holders: dict[str, int] = {}  # for each rule the sources that have it, one bit each

    def add_source(self, label: str, lines: Iterable[str]) -> None:
        bit = 1 << len(self._labels)
        self._labels.append(label)
        for line in lines:
            if not is_blank(line) and not is_comment(line):
                self._holders[line] = self._holders.get(line, 0) | bit

    def count(self) -> Counts:
        """Return the counts of each source, and of each pair of sources."""
        sets = Counter(self._holders.values())
        return {
            "sources": [self._describe_source(at, label, sets) for at, label in enumerate(self._labels)],
            "pairs": [
                {"a": self._labels[first], "b": self._labels[second], "shared": _count_both(sets, first, second)}
                for first, second in combinations(range(len(self._labels)), 2)
            ],
        }

    def _describe_source(self, at: int, label: str, sets: "Counter[int]") -> SourceRules:
        bit = 1 << at
        total = sum(count for holders, count in sets.items() if holders & bit)
        return {"source": label, "rules": total, "unique": sets[bit]}


def _count_both(sets: "Counter[int]", first: int, second: int) -> int:
    both = 1 << first | 1 << second
    return sum(count for holders, count in sets.items() if holders & both == both)
