"""A summary made of the article's own sentences: those that say most of what the article is about."""

from collections import Counter
from typing import Final

from sluice.core.news.analysts.analyst import Mismatch
from sluice.core.news.analysts.words import content_words
from sluice.core.news.sentences import sentences

MAX_SENTENCES: Final = 3
MAX_CHARS: Final = 700
_MIN_CHARS: Final = 40  # of a sentence worth quoting
_MAX_SENTENCE_CHARS: Final = 400
_CONSIDERED: Final = 60  # sentences; news tells the important first
_TITLE_WEIGHT: Final = 2.0
_MIN_TITLE_WORDS: Final = 3
_MIN_SHARED: Final = 0.25


def check_match(title: str, content: str) -> None:
    """Raise Mismatch when next to nothing of the title is in the text."""
    wanted = set(content_words(title))
    shared = wanted & set(content_words(content))
    if len(wanted) >= _MIN_TITLE_WORDS and len(shared) < _MIN_SHARED * len(wanted):
        raise Mismatch("the page is about something else than its title says")


def summarised(title: str, content: str) -> str:
    """The most telling sentences in their own order; "" when there is none."""
    candidates = [each for each in sentences(content)[:_CONSIDERED] if _is_quotable(each, title)]
    frequency = Counter(word for each in candidates for word in set(content_words(each)))
    heading = set(content_words(title))
    ranked = sorted(range(len(candidates)), key=lambda at: -_weight(candidates[at], at, frequency, heading))
    chosen: list[int] = []
    for at in ranked:
        size = sum(len(candidates[other]) + 1 for other in chosen)
        if len(chosen) < MAX_SENTENCES and size + len(candidates[at]) <= MAX_CHARS and _is_new(candidates, at, chosen):
            chosen.append(at)
    return " ".join(candidates[at] for at in sorted(chosen))


def _is_quotable(sentence: str, title: str) -> bool:
    # A sentence cut in the wrong place shows at its beginning.
    begun = not sentence[0].islower() and sentence[0] not in "([-,;:"
    complete = begun and sentence[-1] in ".!?…\"'\u201d\u2019)"
    return complete and _MIN_CHARS <= len(sentence) <= _MAX_SENTENCE_CHARS and sentence.casefold() != title.casefold()


def _weight(sentence: str, at: int, frequency: Counter[str], heading: set[str]) -> float:
    words = set(content_words(sentence))
    if not words:
        return 0.0
    common = sum(frequency[word] for word in words) / len(words)
    about = len(words & heading) / max(1, len(heading))
    early = 1 / (1 + at / 4)
    return (common / frequency.most_common(1)[0][1] + _TITLE_WEIGHT * about) * (0.4 + early)


def _is_new(candidates: list[str], at: int, chosen: list[int]) -> bool:
    """Whether it says something that those already chosen do not."""
    words = set(content_words(candidates[at]))
    return all(len(words & set(content_words(candidates[other]))) < 0.7 * len(words) for other in chosen)
