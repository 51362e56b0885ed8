"""A set of the texts of a long list, in several tables: a single one would need three times its memory while it grows.

Each table has at most as many texts as all before it together, so there are few of them.
"""

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Final

# In the first tables. With more Python would replace the table of a set by one that is twice as large.
_TABLE_TEXTS: Final = 314_000


class TextSet:
    """A set that only grows."""

    def __init__(self) -> None:
        self._tables: list[set[str]] = [set()]
        self._capacity = _TABLE_TEXTS  # of the last table

    def __iter__(self) -> Iterator[str]:
        return chain(*self._tables)

    def __and__(self, texts: set[str]) -> set[str]:
        return set().union(*(texts & table for table in self._tables))

    def isdisjoint(self, texts: Collection[str]) -> bool:
        return all(table.isdisjoint(texts) for table in self._tables)

    def add(self, text: str) -> bool:
        """Add a text, and return whether it is new."""
        for table in self._tables:  # faster than `any`: a list of bare domains comes here line by line
            if text in table:
                return False
        last = self._tables[-1]
        (last if len(last) < self._capacity else self._find_room(1)).add(text)
        return True

    def add_all(self, texts: list[str]) -> Collection[str]:
        """Add the texts, and return the new ones among them, each once: the same list if all of them are new."""
        if not self.isdisjoint(texts):
            for table in self._tables:
                texts = [text for text in texts if text not in table]
        table = self._find_room(len(texts))
        count = len(table)
        table.update(texts)
        return texts if len(table) == count + len(texts) else dict.fromkeys(texts)

    def _find_room(self, count: int) -> set[str]:
        if len(self._tables[-1]) + count > self._capacity:
            self._capacity = max(_TABLE_TEXTS, sum(map(len, self._tables)))
            self._tables.append(set())
        return self._tables[-1]


def are_distinct(texts: list[str]) -> bool:
    """Return whether no text is there twice."""
    tables: list[set[str]] = []
    start = 0
    while part := texts[start : start + max(_TABLE_TEXTS, start)]:
        table = set(part)
        if len(table) < len(part) or not all(map(table.isdisjoint, tables)):
            return False
        tables.append(table)
        start += len(part)
    return True
