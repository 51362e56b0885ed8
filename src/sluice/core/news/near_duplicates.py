"""When two articles tell the same story: the threshold of shared title words, equal figures, and the time between them."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final, Self

from sluice.core.news.analysts.words import content_words

MIN_TITLE_WORDS: Final = 4  # a shorter title says too little to be compared
MIN_SHARED_WORDS: Final = 0.6  # Jaccard similarity of the words of both titles
MAX_TIME_APART: Final = timedelta(hours=48)
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class TitleWords:
    """The words of a title that carry meaning, its figures apart."""

    words: frozenset[str] = frozenset()
    figures: frozenset[str] = frozenset()

    @classmethod
    def from_title(cls, title: str) -> Self:
        words = frozenset(content_words(title))
        figures = frozenset(word for word in words if _DIGIT.search(word))
        return cls(words - figures, figures)

    @property
    def is_comparable(self) -> bool:
        return len(self.words) >= MIN_TITLE_WORDS

    @property
    def probe_count(self) -> int:
        """How many of the words, whichever they are, include at least one word of every near-duplicate."""
        return len(self.words) - ceil(MIN_SHARED_WORDS * len(self.words)) + 1


def is_near_duplicate(one: TitleWords, other: TitleWords) -> bool:
    """Whether two titles say the same. The same words with other figures are other news."""
    is_similar = len(one.words & other.words) >= MIN_SHARED_WORDS * len(one.words | other.words)
    figures_agree = not one.figures or not other.figures or one.figures == other.figures
    return is_similar and figures_agree


def is_close_in_time(one: datetime, other: datetime) -> bool:
    return abs(one - other) <= MAX_TIME_APART
