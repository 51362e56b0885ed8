"""Sentiment by a lexicon: scores the words of a headline with their negations, intensifiers and reversals."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from sluice.core.news.analysts import lexicon

_TOKEN: Final = re.compile(r"\$?[a-z0-9][a-z0-9']*(?:[-.,][a-z0-9']+)*%?|\$")
_MIN_SCORE: Final = 0.9  # a score nearer to zero is neutral
_DESCRIPTION_WEIGHT: Final = 0.4
_QUESTION_WEIGHT: Final = 0.4  # "Will bitcoin crash?" does not say that it does
_NEGATION_REACH: Final = 3
_INTENSITY_REACH: Final = 2
_REVERSAL_REACH: Final = 3
_MAX_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class _WordValues:
    """Words and stems, each with a value."""

    exact: Mapping[str, float]
    stems: Mapping[str, float]

    def value(self, word: str) -> float | None:
        """Returns the value of a word, or of the longest stem that it begins with."""
        if word in self.exact:
            return self.exact[word]
        return next((self.stems[word[:n]] for n in range(len(word), 2, -1) if word[:n] in self.stems), None)

    def __contains__(self, word: str) -> bool:
        return self.value(word) is not None


def classify_sentiment(title: str, description: str = "") -> str:
    """Returns positive, negative or neutral."""
    total = score(title) + _DESCRIPTION_WEIGHT * score(description)
    return "positive" if total >= _MIN_SCORE else "negative" if total <= -_MIN_SCORE else "neutral"


def score(text: str) -> float:
    """Returns a number above zero for good news and below zero for bad news."""
    lowered = text[:_MAX_CHARS].lower().replace("\u2019", "'")
    rest, phrase_total = _score_phrases(lowered)
    words = _TOKEN.findall(rest)
    total = phrase_total + sum(_score_word(words, place) for place in range(len(words)))
    return total * (_QUESTION_WEIGHT if lowered.rstrip().endswith("?") else 1.0)


def _score_word(words: list[str], place: int) -> float:
    value = _vocabulary().value(words[place])
    if not value:
        return 0.0
    near = [*words[max(0, place - _REVERSAL_REACH) : place], *words[place + 1 : place + 1 + _REVERSAL_REACH]]
    if _is_reversed(words[place], value, near):
        value = -0.8 * value
    if any(word in _word_list(lexicon.NEGATIONS) for word in words[max(0, place - _NEGATION_REACH) : place]):
        value = -0.7 * value
    before = words[max(0, place - _INTENSITY_REACH) : place]
    if any(word in _word_list(lexicon.STRONGER) for word in before):
        value *= 1.5
    if any(word in _word_list(lexicon.WEAKER) for word in before):
        value *= 0.6
    if any(word in _word_list(lexicon.DESPITE) for word in words[max(0, place - 4) : place]):
        value *= 0.5
    return value


def _is_reversed(word: str, value: float, near: list[str]) -> bool:
    """Whether a burden is lifted or a comfort taken away; the reversing word itself counts the same way."""
    reversible = _word_list(lexicon.BURDENS if value < 0 else lexicon.COMFORTS)
    reversers = _word_list(lexicon.REVERSERS)
    others = [other for other in near if other != word]
    if word in reversible and any(other in reversers for other in others):
        return True
    return word in reversers and any(other in reversible for other in others)


def _score_phrases(text: str) -> tuple[str, float]:
    """Returns the text without its phrases, and the sum of their values."""
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
    return tuple((value, re.compile(_phrase_pattern(phrase))) for phrase, value in ordered)


def _phrase_pattern(phrase: str) -> str:
    words = [re.escape(word).replace(r"\*", "[a-z]*") for word in re.split(r"[ -]", phrase)]
    return r"(?<![a-z])" + r"[\s-]+".join(words) + r"(?![a-z])"


@cache
def _vocabulary() -> _WordValues:
    pairs = [(word, float(value)) for value, text in lexicon.WORDS.items() for word in text.split()]
    return _WordValues(
        {word: value for word, value in pairs if not word.endswith("*")},
        {word[:-1]: value for word, value in pairs if word.endswith("*")},
    )


@cache
def _word_list(text: str) -> _WordValues:
    words = text.split()
    exact = {word: 1.0 for word in words if not word.endswith("*")}
    return _WordValues(exact, {word[:-1]: 1.0 for word in words if word.endswith("*")})
