"""The words of a text that carry meaning, for comparing texts."""

import re
from typing import Final

_WORD: Final = re.compile(r"[^\W_][\w'$%.-]*[^\W_]|[^\W_]")
_STOP_WORDS: Final = (
    "a about above according after again against all also although am among an and another any are around as at back be "
    "became because been before being below between both but by came can could did do does during each even every few for "
    "from get gets give go goes got had has have he her here him his how however if in into is it it's its just last latest "
    "least less like make makes many may me might more most much must my near new next no nor not now of off on once one "
    "only or other our out over own per same say says said see she should since so some still such than that the their "
    "them then there these they this those through to today too two under until up upon us very via was we were what when "
    "where which while who whom why will with within without would yet you your"
)
_STOP: Final = frozenset(_STOP_WORDS.split())


def content_words(text: str) -> list[str]:
    """Return the words in lower case without stop words; plurals and possessives become the singular."""
    lowered = text.lower().replace("\u2019", "'")
    return [_stem(word) for word in _WORD.findall(lowered) if (len(word) > 1 or word.isdigit()) and word not in _STOP]


def _stem(word: str) -> str:
    word = word.removesuffix("'s").removesuffix("'")
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
