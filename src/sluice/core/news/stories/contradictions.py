"""Titles that exclude each other: opposite acts, negation, swapped roles, another word in an equal frame."""

from functools import cache
from itertools import pairwise, takewhile
from typing import Final

from sluice.core.news.stories.headline_facts import HeadlineFacts, stem_word
from sluice.core.news.vocabulary.stories import BESIDE, DECISIONS, FOLLOW_UPS, OPPOSITES, OWNERS

# Words that say nothing about an event.
GENERIC: Final = frozenset({"bitcoin", "btc", "crypto", "million", "billion", "trillion", "k", "m", "b"})
# Titles with this many equal words around are a frame, and the words in it, at most so many, tell the event.
_MIN_FRAME: Final = 3
_MAX_FILLER: Final = 2
_PERIODS: Final = frozenset({"day", "week", "month", "quarter", "half", "year", "decade"})
_MOVES: Final = frozenset({"rise", "fall"})
_BEGINNINGS: Final = frozenset({"launch", "allow", "begin"})
_USERS: Final = frozenset({"customer", "company", "platform", "exchang"})
_MIN_OBJECT: Final = 2
_DEALS: Final = frozenset({"buy", "sell", "merge"})
_OWNERS: Final = frozenset(OWNERS.split())
_DECISIONS: Final = frozenset(DECISIONS.split())
_SUED_OVER: Final = frozenset({"hack", "halt", "offline"})


def differs_in_one_phrase(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether equal titles differ at one place, in words that do not mean the same: "scraps VAT", "scraps income tax"."""
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a.words, b.words, strict=False)))
    rest, other = a.words[start:], b.words[start:]
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(rest[::-1], other[::-1], strict=False)))
    rest, other = rest[: len(rest) - end], other[: len(other) - end]
    if not rest or not other or min(len(rest), len(other)) > _MAX_FILLER or start + end < _MIN_FRAME:
        return False
    if len(rest) == len(other) == 1 and {*rest, *other} <= _PERIODS:
        return True
    ours, theirs = HeadlineFacts.from_text(" ".join(rest)), HeadlineFacts.from_text(" ".join(other))
    if not ours.stems - GENERIC or not theirs.stems - GENERIC:
        return False
    is_equal = ours.acts & theirs.acts or ours.stems & theirs.stems or ours.names & theirs.names
    return not is_equal and not any(one.equals(two) for one in ours.numbers for two in theirs.numbers)


def is_negation_of(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether one says that the act of the other is not done."""
    is_halted = a.is_halted != b.is_halted and "halt" not in a.acts & b.acts
    return (a.is_negated or a.is_halted) != (b.is_negated or b.is_halted) if is_halted else a.is_negated != b.is_negated


def has_opposite_acts(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether one reports the opposite of the other, or what follows it."""
    ignored = frozenset(act for first in a.acts & b.acts for act in BESIDE.get(first, "").split())
    if "inflation" in a.measures & b.measures:
        ignored |= _MOVES  # prices rise while inflation falls
    if _follows(a, b) or _follows(b, a):
        return True
    only_a, only_b = a.acts - b.acts - ignored, b.acts - a.acts - ignored
    # A lawsuit over an event follows it.
    if "sue" in only_a | only_b and a.acts & b.acts & _SUED_OVER:
        return True
    if not (only_a ^ only_b) or (only_a | only_b) & _follow_ups():
        return bool((only_a | only_b) & _follow_ups())
    # What stands beside the event in one title is compared with nothing but that of the other.
    return (
        _are_opposite(only_a - a.background, only_b - b.background)
        or _are_opposite(only_a & a.background, only_b & b.background)
        or _are_opposite(a.acts & b.earlier - a.earlier, only_b - b.background)
        or _are_opposite(b.acts & a.earlier - b.earlier, only_a - a.background)
    )


def _follows(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether all that `a` tells happened before the news of `b`: "seeks pardon after sentence"; a loss is part of a hack."""
    shared = (a.acts & b.acts) - {"hack"}
    return bool(shared) and shared <= b.earlier - a.background and bool(b.acts - b.background - a.acts)


def _are_opposite(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    return any(frozenset({first, second}) in _opposites() for first in ours for second in theirs)


def has_different_objects(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether equal beginnings say that something is new, and each goes on with its own: "can now lend", "can now pay"."""
    if not a.acts & b.acts or not a.acts & b.acts <= _BEGINNINGS or a.words[:_MIN_FRAME] != b.words[:_MIN_FRAME]:
        return False
    unsaid = GENERIC | _USERS | a.names | b.names
    ours, theirs = a.stems - unsaid, b.stems - unsaid
    return not ours & theirs and min(len(ours), len(theirs)) >= _MIN_OBJECT


def is_result_against_deal(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether one reports results and the other a deal."""
    deals = b.acts - a.acts if "revenue" in a.measures else a.acts - b.acts
    return ("revenue" in a.measures) != ("revenue" in b.measures) and bool(deals & _DEALS)


def has_swapped_roles(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether another one acts: "A sues B" and "B sues A", "to A" and "from A"."""
    for act in {act for act, _ in a.actors} & {act for act, _ in b.actors}:
        ours = {who for what, who in a.actors if what == act}
        theirs = {who for what, who in b.actors if what == act}
        if not ours & theirs and any(map(a.mentions, theirs)) and any(map(b.mentions, ours)):
            return True
    is_passive = ("by" in a.words) != ("by" in b.words)
    # "Halden: Bank wins" and "Bank Halden wins" tell the same.
    is_apposition = a.line[2:] == b.line[2:]
    is_swapped = a.stems == b.stems and a.order[:1] != b.order[:1] and set(a.order) == set(b.order)
    if is_swapped and not (is_passive or is_apposition):
        return True
    if not is_passive and _has_swapped_ends(a.line, b.line):
        return True
    if any(_is_decided_by_others(one, other) for one, other in ((a, b), (b, a))):
        return True
    directions = dict(b.directions)
    return any(directions.get(name, where) != where for name, where in a.directions)


def _has_swapped_ends(ours: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Return whether the first words of both stand on the other side of the same words: "A beats B", "B beats A"."""
    if not ours or not theirs or ours[0] == theirs[0] or theirs[0] not in ours or ours[0] not in theirs:
        return False
    between = ours[1 : ours.index(theirs[0])]
    return bool(between) and between == theirs[1 : theirs.index(ours[0])]


def _is_decided_by_others(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Return whether the owners decide in one title, and the other does not know of them."""
    decides = any(
        one in _OWNERS and (two in {"vote", "back"} or stem_word(two) in _DECISIONS) for one, two in pairwise(a.words)
    )
    return decides and bool(a.acts & b.acts & {"approve", "reject"}) and _OWNERS.isdisjoint(b.words)


@cache
def _opposites() -> frozenset[frozenset[str]]:
    return frozenset(frozenset(pair.split("/")) for pair in OPPOSITES.split(", "))


@cache
def _follow_ups() -> frozenset[str]:
    return frozenset(FOLLOW_UPS.split(", "))
