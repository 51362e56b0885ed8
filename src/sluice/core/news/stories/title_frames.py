"""Compares titles that are equal but for the words at one place."""

from itertools import takewhile
from typing import Final

from sluice.core.news.stories.headline_facts import HeadlineFacts

# Words that say nothing about an event.
GENERIC: Final = frozenset({"bitcoin", "btc", "crypto", "million", "billion", "trillion", "k", "m", "b"})
# Titles with this many equal words around are a frame, and the words in it, at most so many, tell the event.
_MIN_FRAME: Final = 3
_MAX_FILLER: Final = 2


def has_other_filler(a: HeadlineFacts, b: HeadlineFacts) -> bool:
    """Whether equal titles differ at one place, in words that do not mean the same: "scraps VAT", "scraps income tax"."""
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a.words, b.words, strict=False)))
    rest, other = a.words[start:], b.words[start:]
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(rest[::-1], other[::-1], strict=False)))
    rest, other = rest[: len(rest) - end], other[: len(other) - end]
    if not rest or not other or min(len(rest), len(other)) > _MAX_FILLER or start + end < _MIN_FRAME:
        return False
    ours, theirs = HeadlineFacts.from_text(" ".join(rest)), HeadlineFacts.from_text(" ".join(other))
    if not ours.stems - GENERIC or not theirs.stems - GENERIC:
        return False
    is_equal = ours.acts & theirs.acts or ours.stems & theirs.stems or ours.names & theirs.names
    return not is_equal and not any(one.equals(two) for one in ours.numbers for two in theirs.numbers)
