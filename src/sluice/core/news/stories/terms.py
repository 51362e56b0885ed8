"""Finds the terms of a table in the words of a headline; the longest phrase at a place counts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from sluice.core.news.stories.numbers import COUNTS
from sluice.core.news.vocabulary.stories import ACTS, ASSETS, MEASURES, SYNONYMS

_NUMBER_WORDS: Final = frozenset({*COUNTS[1:], "twenty", "dozens"})
_TABLES: Final[Mapping[str, Mapping[str, str]]] = {"acts": ACTS, "measures": MEASURES, "assets": ASSETS}


@dataclass(frozen=True, slots=True)
class Term:
    """A term that was found, and where."""

    name: str
    at: int
    size: int


@dataclass(slots=True)
class _Phrases:
    """Phrases by their first word, or by the first letters of a stem."""

    by_word: dict[str, list[tuple[tuple[str, ...], str]]] = field(default_factory=dict)
    by_stem: dict[str, list[tuple[tuple[str, ...], str]]] = field(default_factory=dict)

    def options(self, word: str) -> Iterator[tuple[tuple[str, ...], str]]:
        plain = word.removesuffix("'s")
        yield from self.by_word.get(plain, ())
        yield from self.by_stem.get(plain[:3], ())


def find_terms(words: tuple[str, ...], table: str) -> list[Term]:
    """Return the terms of one table in the order of the text."""
    phrases = _phrases(table)
    found: list[Term] = []
    covered = 0
    for at, word in enumerate(words):
        fitting = [
            (phrase, name) for phrase, name in phrases.options(word) if at >= covered and _fits(phrase, words, at)
        ]
        if fitting:
            size = max(len(phrase) for phrase, _ in fitting)
            found += [Term(name, at, size) for phrase, name in fitting if len(phrase) == size]
            covered = at + size
    return found


@cache
def is_term(word: str) -> bool:
    """Return whether a single word is in any table."""
    return word in synonyms() or any(find_terms((word,), table) for table in _TABLES)


@cache
def synonyms() -> Mapping[str, str]:
    return {word: name for name, text in SYNONYMS.items() for word in text.split(", ")}


@cache
def _phrases(table: str) -> _Phrases:
    phrases = _Phrases()
    for name, text in _TABLES[table].items():
        for phrase in text.split(", "):
            words = tuple(phrase.split())
            is_stem = words[0].endswith("*")
            group, key = (phrases.by_stem, words[0][:3].rstrip("*")) if is_stem else (phrases.by_word, words[0])
            group.setdefault(key, []).append((words, name))
    return phrases


def _fits(phrase: tuple[str, ...], words: tuple[str, ...], at: int) -> bool:
    if at + len(phrase) > len(words):
        return False
    return all(_word_fits(wanted, words[at + place]) for place, wanted in enumerate(phrase))


def _word_fits(wanted: str, word: str) -> bool:
    if wanted == "$":
        return word[0] in "$€£¥"
    if wanted == "#":
        return word[0].isdigit() or word in _NUMBER_WORDS
    if wanted == "_":
        return True
    if wanted.endswith("*"):
        return word.startswith(wanted[:-1])
    return wanted in (word, word.removesuffix("'s"))
