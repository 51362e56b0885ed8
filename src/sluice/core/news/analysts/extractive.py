"""An extractive summary: the sentences of the article that say most of what it is about."""

from collections import Counter
from typing import Final

from sluice.core.news.analysts.analyst import Mismatch
from sluice.core.news.analysts.words import content_words
from sluice.core.news.sentences import split_sentences

MAX_SENTENCES: Final = 3
MAX_CHARS: Final = 700
_MIN_CHARS: Final = 40  # of a sentence worth quoting
_MAX_SENTENCE_CHARS: Final = 400
_MAX_CANDIDATES: Final = 60  # sentences; news puts the important ones first
_TITLE_WEIGHT: Final = 2.0
_MIN_TITLE_WORDS: Final = 3
_MIN_SHARED_WORDS: Final = 0.25


def check_match(title: str, content: str) -> None:
    """Raises Mismatch when the text has almost no word of the title."""
    wanted = set(content_words(title))
    shared = wanted & set(content_words(content))
    if len(wanted) >= _MIN_TITLE_WORDS and len(shared) < _MIN_SHARED_WORDS * len(wanted):
        raise Mismatch("the page is about something other than its title")


def summarise(title: str, content: str) -> str:
    """Returns the sentences with the highest weight in their original order; "" when there is none."""
    candidates = [each for each in split_sentences(content)[:_MAX_CANDIDATES] if _is_quotable(each, title)]
    frequency = Counter(word for each in candidates for word in set(content_words(each)))
    title_words = set(content_words(title))
    ranked = sorted(range(len(candidates)), key=lambda at: -_weight(candidates[at], at, frequency, title_words))
    chosen: list[int] = []
    for at in ranked:
        size = sum(len(candidates[other]) + 1 for other in chosen)
        if len(chosen) < MAX_SENTENCES and size + len(candidates[at]) <= MAX_CHARS and _is_new(candidates, at, chosen):
            chosen.append(at)
    return " ".join(candidates[at] for at in sorted(chosen))


def _is_quotable(sentence: str, title: str) -> bool:
    # A sentence that was split in the wrong place is recognised by its beginning.
    has_start = not sentence[0].islower() and sentence[0] not in "([-,;:"
    is_whole = has_start and sentence[-1] in ".!?…\"'\u201d\u2019)"
    return is_whole and _MIN_CHARS <= len(sentence) <= _MAX_SENTENCE_CHARS and sentence.casefold() != title.casefold()


def _weight(sentence: str, at: int, frequency: Counter[str], title_words: set[str]) -> float:
    words = set(content_words(sentence))
    if not words:
        return 0.0
    topicality = sum(frequency[word] for word in words) / len(words)
    title_share = len(words & title_words) / max(1, len(title_words))
    position = 1 / (1 + at / 4)
    return (topicality / frequency.most_common(1)[0][1] + _TITLE_WEIGHT * title_share) * (0.4 + position)


def _is_new(candidates: list[str], at: int, chosen: list[int]) -> bool:
    """Whether the sentence adds something to the chosen ones."""
    words = set(content_words(candidates[at]))
    return all(len(words & set(content_words(candidates[other]))) < 0.7 * len(words) for other in chosen)
