"""Finds the names in a headline: companies, persons, places and institutions, under their usual nicknames."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from sluice.core.news.stories.name_words import ALIASES
from sluice.core.news.stories.terms import is_term

_MAX_NAME_WORDS: Final = 4
_MAX_LOWER_CASE: Final = 0.3  # a headline with fewer words in lower case is in title case, where capitals say nothing
_COMMON_WORDS: Final = (
    "a an the of to in on at for from by with as and or but its is are was were be has have his her their this that these "
    "over under into out up off about after before amid during against between than then so if not no new says say report "
    "may might can could will would should now just still again more most how why what when where who which one first since "
    "analysts average bank banks bears bill bills board both britons bulls buyers charges chief client clients coins companies "
    "company court courts customer customers dealers demand developer developers dormant economists exchange exchanges "
    "executive expert experts federal fees founder founders fund funds government governor hackers hacker hash holders hopes "
    "hot inflation institutions investor investors judge judges jury lawmaker lawmakers liquidations long longs market markets "
    "miner miners money morning nearly net network option options parliament police poll price prices prosecutor prosecutors "
    "rates record regulator regulators retail royal sellers senator senators short shorts spot stocks survey three trader "
    "traders two users veteran volume wallet wallets week weekly whale whales withdrawals world yields daily evening live "
    "breaking best worst big biggest largest digital tax terror thieves top total trading transaction u.s wall all another "
    "asset assets computing dominance difficulty early energy even ex south north east west lightning core president ceo cfo cto coo mp mps vat pac ipo ipos dao owner owners lost crypto new old former "
    "mystery man woman men women group firm firms lender lenders startup bond bonds storm storms hot cold nobody everyone someone "
    "lawyer lawyers employer employers worker workers student students scientist scientists minister ministers mayor deputies "
    "senate's home furniture hardware software consumer consumers retirement national second third himalayan visitors tourists "
    "video game gaming food coffee car airline airlines oil power steel media social private public state city county local "
    "foreign global central major small young elderly online mobile payment payments security cyber chip phone grocery fashion "
    "fast luxury sports football hotel hotels travel property real estate medical health biotech drug toy shoe watch jewelry "
    "wealth hedge sovereign savings credit debit card cash stock share equity commodity futures derivatives clearing listed "
    "shareholders voters residents officials authorities officers detectives commuters merchants shoppers retailers savers "
    "employees staff unions farmers engineers researchers academics economist strategist strategists bankers chipmaker "
    "automaker carmaker shipmaker retailer chain maker operator developer's rescue ransom interest borrowing mortgage policy pension insurer insurers broker brokers custodian treasury attorney prosecutor's support resistance deal deals fire blaze flood storm quake explosion retirees pensioners index"
)
_COMMON: Final = frozenset(_COMMON_WORDS.split())
# They belong to the name before them.
_TAIL_WORDS: Final = (
    "exchange capital custody bank group holdings inc corp labs platforms miner mining technologies digital trust ltd plc "
    "fund management scientific research financial"
)
_TAILS: Final = frozenset(_TAIL_WORDS.split())
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
    nicknames = {nick: name for name, text in ALIASES.items() for nick in text.split(", ")}
    return {name: name for name in ALIASES} | nicknames


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
