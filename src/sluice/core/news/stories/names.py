"""Finds the names in a headline: companies, persons, places and institutions, under their usual nicknames."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from sluice.core.news.stories.terms import is_term
from sluice.core.news.vocabulary.stories import COMMON_WORDS, NAME_TAILS, NICKNAMES

_MAX_NAME_WORDS: Final = 4
_MAX_LOWER_CASE: Final = 0.3  # a headline with fewer words in lower case is in title case, where capitals say nothing
_COMMON: Final = frozenset(COMMON_WORDS.split())
# They belong to the name before them.
_TAILS: Final = frozenset(NAME_TAILS.split())
_CALENDAR: Final = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
# Nicknames that are too general to be a name by themselves.
_VAGUE: Final = frozenset({"regulator", "london", "house"})
_CHAMBERS: Final = frozenset({"senate", "house", "congress"})
# A noun with one of these endings at the beginning is no name.
_NOUN_ENDINGS: Final = ("ing", "ed", "ions", "ers", "ors", "ive", "ant", "age")


def find_names(raw: list[str], words: tuple[str, ...]) -> Iterator[str]:
    """Yield names in lower case; `raw` are the words as written, `words` the same in lower case."""
    covered: set[int] = set()
    for at, size, name in _find_aliases(words):
        covered.update(range(at, at + size))
        yield name
    if not _is_title_case(raw):
        yield from (plain_name(raw[at]) for at in range(len(raw)) if at not in covered and _is_name(raw, at))


def plain_name(word: str) -> str:
    return word.lower().replace("\u2019", "'").removesuffix("'s").removesuffix("'")


@cache
def aliases() -> Mapping[str, str]:
    """Return names and nicknames with the name that they stand for."""
    nicknames = {nick: name for name, text in NICKNAMES.items() for nick in text.split(", ")}
    return {name: name for name in NICKNAMES} | nicknames


def _find_aliases(words: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
    covered: set[int] = set()
    for size in range(_MAX_NAME_WORDS, 0, -1):
        for at in range(len(words) - size + 1):
            phrase = " ".join(word.removesuffix("'s") for word in words[at : at + size])
            # "Hungarians" are Hungary's.
            if phrase not in aliases() and phrase.endswith("ans"):
                phrase = phrase.removesuffix("s")
            if phrase in aliases() and phrase not in _VAGUE and covered.isdisjoint(range(at, at + size)):
                covered.update(range(at, at + size))
                yield at, size, aliases()[phrase]


def _is_title_case(raw: list[str]) -> bool:
    long_words = [word for word in raw if len(word) > 3 and word[0].isalpha()]
    # A verb in lower case is enough: "Trump pardons Ross Ulbricht".
    if any(word[0].islower() and word not in _COMMON and is_term(word) for word in long_words):
        return False
    return sum(word[0].islower() for word in long_words) < _MAX_LOWER_CASE * len(long_words)


def _is_name(raw: list[str], at: int) -> bool:
    word = plain_name(raw[at])
    if not raw[at][0].isupper() or len(word) < 2 or word in _COMMON or word in _TAILS:
        return False
    if word in _CHAMBERS:
        return True
    if _CALENDAR.fullmatch(word) or is_term(word):
        return False
    if at == 0:
        is_followed = len(raw) > 1 and raw[1][:1].isupper()
        return is_followed or not word.endswith(_NOUN_ENDINGS)
    # The second word of a name belongs to the first.
    return not (at > 1 and raw[at - 1][:1].isupper() and plain_name(raw[at - 1]) not in _COMMON)
