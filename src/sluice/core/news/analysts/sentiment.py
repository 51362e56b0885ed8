"""Sentiment by a lexicon: the words of a headline, what negates them, what makes them stronger, what turns them round."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from sluice.core.news.analysts import lexicon

_TOKEN: Final = re.compile(r"\$?[a-z0-9][a-z0-9']*(?:[-.,][a-z0-9']+)*%?|\$")
_CLEAR: Final = 0.9  # a score nearer to zero is neutral
_DESCRIPTION_WEIGHT: Final = 0.4
_QUESTION_WEIGHT: Final = 0.4  # "Will bitcoin crash?" does not say that it does
_NEGATION_REACH: Final = 3
_INTENSITY_REACH: Final = 2
_REVERSAL_REACH: Final = 3
_MAX_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class _Words:
    """Words and stems with a value each."""

    exact: Mapping[str, float]
    stems: Mapping[str, float]

    def value(self, word: str) -> float | None:
        """The value of a word, or of the longest stem that it begins with."""
        if word in self.exact:
            return self.exact[word]
        return next((self.stems[word[:n]] for n in range(len(word), 2, -1) if word[:n] in self.stems), None)

    def __contains__(self, word: str) -> bool:
        return self.value(word) is not None


def sentiment_of(title: str, description: str = "") -> str:
    """positive, negative or neutral."""
    total = score(title) + _DESCRIPTION_WEIGHT * score(description)
    return "positive" if total >= _CLEAR else "negative" if total <= -_CLEAR else "neutral"


def score(text: str) -> float:
    """Above zero for good news."""
    lowered = text[:_MAX_CHARS].lower().replace("\u2019", "'")
    marked, found = _phrases(lowered)
    words = _TOKEN.findall(marked)
    values = [_value(words, place) for place in range(len(words))]
    total = found + sum(values)
    return total * (_QUESTION_WEIGHT if lowered.rstrip().endswith("?") else 1.0)


def _value(words: list[str], place: int) -> float:
    value = _vocabulary().value(words[place])
    if not value:
        return 0.0
    near = [*words[max(0, place - _REVERSAL_REACH) : place], *words[place + 1 : place + 1 + _REVERSAL_REACH]]
    if _is_turned(words[place], value, near):
        value = -0.8 * value
    if any(word in _list(lexicon.NEGATIONS) for word in words[max(0, place - _NEGATION_REACH) : place]):
        value = -0.7 * value
    before = words[max(0, place - _INTENSITY_REACH) : place]
    if any(word in _list(lexicon.STRONGER) for word in before):
        value *= 1.5
    if any(word in _list(lexicon.WEAKER) for word in before):
        value *= 0.6
    if any(word in _list(lexicon.DESPITE) for word in words[max(0, place - 4) : place]):
        value *= 0.5
    return value


def _is_turned(word: str, value: float, near: list[str]) -> bool:
    """Whether a burden is taken off, or a comfort taken away; and the word that does so says the same once only."""
    turned = _list(lexicon.BURDENS) if value < 0 else _list(lexicon.COMFORTS)
    others = [other for other in near if other in _list(lexicon.REVERSERS) and other != word]
    if word in turned and others:
        return True
    things = _list(lexicon.BURDENS) if value < 0 else _list(lexicon.COMFORTS)
    return word in _list(lexicon.REVERSERS) and any(other in things and other != word for other in near)


def _phrases(text: str) -> tuple[str, float]:
    """The text with its phrases taken out, and what they are worth together."""
    total = 0.0
    for value, pattern in _patterns():
        text, count = pattern.subn(" ", text)
        total += value * count
    return text, total


@cache
def _patterns() -> tuple[tuple[int, re.Pattern[str]], ...]:
    ordered = sorted(
        ((phrase, value) for value, text in lexicon.PHRASES.items() for phrase in text.split("|")),
        key=lambda pair: -len(pair[0]),
    )
    return tuple((value, re.compile(_written(phrase))) for phrase, value in ordered)


def _written(phrase: str) -> str:
    words = [re.escape(word).replace(r"\*", "[a-z]*") for word in re.split(r"[ -]", phrase)]
    return r"(?<![a-z])" + r"[\s-]+".join(words) + r"(?![a-z])"


@cache
def _vocabulary() -> _Words:
    pairs = [(word, float(value)) for value, text in lexicon.WORDS.items() for word in text.split()]
    return _Words(
        {word: value for word, value in pairs if not word.endswith("*")},
        {word[:-1]: value for word, value in pairs if word.endswith("*")},
    )


@cache
def _list(text: str) -> _Words:
    words = text.split()
    exact = {word: 1.0 for word in words if not word.endswith("*")}
    return _Words(exact, {word[:-1]: 1.0 for word in words if word.endswith("*")})
