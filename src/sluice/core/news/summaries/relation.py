"""What a sentence has in common with the title and with the rest of its article."""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from sluice.core.news.analysts.words import content_words
from sluice.core.news.language import FUNCTION_WORDS
from sluice.core.news.vocabulary.summaries import GENERIC

_WIDE: Final = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff]+|[\uac00-\ud7af]+")
_STEM_CHARS: Final = 5
_MIN_WORD: Final = 3
# Half of all sentences have them, a notice of the site too.
_GENERIC: Final = frozenset(word[:_STEM_CHARS] for word in GENERIC.split())
# Bitcoin without its name.
_LARGEST: Final = re.compile(r"\b(?:largest|biggest|leading|original|oldest) (?:crypto|digital)", re.IGNORECASE)
_GENERIC_WEIGHT: Final = 0.5

Pieces = frozenset[str]


def find_pieces(text: str) -> Pieces:
    """Return the beginnings of the words that carry meaning, or pairs of characters where words are not separated."""
    words = (word for word in content_words(text) if len(word) >= _MIN_WORD or word.isdigit())
    stems = {word[:_STEM_CHARS] for word in words if word not in FUNCTION_WORDS}
    wide = {one + other for run in _WIDE.findall(text) for one, other in pairwise(run)}
    named = {"bitco"} if _LARGEST.search(text) else set[str]()
    return frozenset(stems | wide | named)


def weigh_common(ours: Pieces, theirs: Pieces) -> float:
    """Return how many pieces two texts share; one that stands everywhere counts half."""
    return sum(_GENERIC_WEIGHT if piece in _GENERIC else 1.0 for piece in ours & theirs)


def count_known(ours: Pieces, uses: Counter[str]) -> int:
    """Return how many pieces of a sentence stand in another sentence of its article too."""
    return sum(uses[piece] > 1 for piece in ours - _GENERIC)


def count_uses(sentences: Iterable[str]) -> Counter[str]:
    return Counter(piece for sentence in sentences for piece in find_pieces(sentence))
