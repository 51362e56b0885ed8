"""Finds the entries of the vocabulary in the words of a clause; the longest entry at a place counts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cache
from typing import Final

from sluice.core.news.sentiment.inflection import inflect
from sluice.core.news.vocabulary.sentiment import PHRASES

_TOKEN: Final = re.compile(
    r"[+-]?[$€£]?\d[\d,.]*+%?[kmbt]?\b%?|[a-z][a-z0-9&'*/]*(?:-[a-z0-9']+)*|[,;:?!|()\u2014\u2013]|\.(?=\s)"
)
# "four-year high" is read as "four year high".
_SPAN: Final = re.compile(r"(\w)-(?=(?:day|week|month|year|quarter|session)\b)")
STOPS: Final = frozenset(",;:|().!?\u2014\u2013")


class Kind(Enum):
    """What an entry does."""

    MOVE = auto()
    LEVEL = auto()
    VALUE = auto()
    UNDO = auto()
    RELIEVE = auto()
    NEGATION = auto()
    BURDEN = auto()
    ASSET = auto()
    BITCOIN = auto()
    OTHER = auto()
    ADVERSARY = auto()
    CRIMINAL = auto()
    CAUGHT = auto()
    NOTHING = auto()


@dataclass(slots=True)
class Unit:
    """An entry that was found: its place, its length in words, its kinds with their values, and what it comes to."""

    at: int
    size: int
    kinds: dict[Kind, float]
    value: float = 0.0
    is_used: bool = False

    def has(self, *kinds: Kind) -> bool:
        return any(kind in self.kinds for kind in kinds)


@dataclass(frozen=True, slots=True)
class _Entry:
    words: tuple[str, ...]
    kind: Kind
    value: float


@dataclass(slots=True)
class _Lexicon:
    by_word: dict[str, list[_Entry]] = field(default_factory=dict)
    # Stems by their first letters.
    by_stem: dict[str, list[_Entry]] = field(default_factory=dict)

    def add(self, text: str, kind: Kind, value: float = 0.0) -> None:
        for phrase in text.split(", "):
            first, *rest = phrase.split()
            # A single word may be a noun, so only a phrase is inflected, and a word that undoes something.
            is_verb = bool(rest) or kind in {Kind.UNDO, Kind.RELIEVE}
            for word in dict.fromkeys((first, *inflect(first)) if is_verb else (first,)):
                entry = _Entry((word, *rest), kind, value)
                group, key = (self.by_stem, word[:3]) if word.endswith("*") else (self.by_word, word)
                group.setdefault(key.rstrip("*"), []).append(entry)

    def entries(self, word: str) -> Iterator[_Entry]:
        yield from self.by_word.get(word, ())
        yield from self.by_stem.get(word[:3], ())


# The other kinds have the names of the table.
_SIGNED: Final = {
    "up": (Kind.MOVE, 1),
    "down": (Kind.MOVE, -1),
    "high": (Kind.LEVEL, 1),
    "low": (Kind.LEVEL, -1),
    "good": (Kind.VALUE, 1),
    "bad": (Kind.VALUE, -1),
}


@cache
def _lexicon() -> _Lexicon:
    lexicon = _Lexicon()
    for name, strength, text in PHRASES:
        kind, sign = _SIGNED.get(name) or (Kind[name.upper()], 0)
        lexicon.add(text, kind, sign * strength)
    return lexicon


def split_words(text: str) -> list[str]:
    """Return the words, amounts and stops of a text in lower case."""
    return _TOKEN.findall(_SPAN.sub(r"\1 ", text))


def find_units(words: Sequence[str]) -> list[Unit]:
    """Return the entries in the order of the text, without overlaps."""
    units: list[Unit] = []
    at = 0
    while at < len(words):
        found = _find_longest(words, at)
        if found is None:
            at += 1
            continue
        if not found.has(Kind.NOTHING):
            units.append(found)
        at += found.size
    return units


def _find_longest(words: Sequence[str], at: int) -> Unit | None:
    fitting = [entry for entry in _lexicon().entries(words[at].removesuffix("'s")) if _fits(entry, words, at)]
    if not fitting:
        return None
    size = max(len(entry.words) for entry in fitting)
    longest = sorted((entry for entry in fitting if len(entry.words) == size), key=lambda entry: abs(entry.value))
    return Unit(at, size, {entry.kind: entry.value for entry in longest})


def _fits(entry: _Entry, words: Sequence[str], at: int) -> bool:
    if at + len(entry.words) > len(words):
        return False
    first, *rest = entry.words
    # The noun of a phrase may be in the plural.
    return _word_fits(first, words[at]) and all(
        _word_fits(wanted, words[at + place]) or words[at + place] == f"{wanted}s"
        for place, wanted in enumerate(rest, start=1)
    )


def _word_fits(wanted: str, word: str) -> bool:
    if wanted == "$":
        return word[0] in "$€£"
    if wanted in "%#":
        return word.endswith("%") if wanted == "%" else word[0].isdigit()
    if wanted.endswith("*"):
        return word.startswith(wanted[:-1])
    return wanted in (word, word.removesuffix("'s"))
