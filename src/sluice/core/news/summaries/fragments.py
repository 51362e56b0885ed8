"""Recognises what is no statement of the news: captions, biographies, and English sentences without a verb."""

import re
from typing import Final

from sluice.core.news.vocabulary.summaries import BIOGRAPHIES, PAST, PICTURES, PRESENT, REPORTED

# A sentence of the present that nobody says, and that tells of no change, may be a note of the site.
_REPORTED: Final = frozenset(f"{PAST} {REPORTED}".split())
_VERBS: Final = frozenset(f"{PAST} {PRESENT}".split())
_WORD: Final = re.compile(r"[a-z]+(?:n't)?")
_FIGURE: Final = re.compile(r"\d[\d.,]*")
_MIN_PAST: Final = 3
_MAX_FRAGMENT_CHARS: Final = 110
_NAME: Final = r"(?:[A-Z][\w.'-]+\s+){1,3}"
_BIOGRAPHY: Final = re.compile(rf"^{_NAME}(?:{BIOGRAPHIES})")
_AMOUNT: Final = re.compile(
    r"[$€£¥₩₽]\s?\d|\d[\d.,]*\s?(?:%|percent|per cent|million|billion|bitcoin|BTC|Prozent|Millionen|Milliarden)"
)
# The present tense of what a picture shows.
_PICTURE: Final = re.compile(rf"\b(?:{PICTURES})")
_PAIRS: Final = ("“”", "«»", "「」", "『』")
_RATED: Final = re.compile(r"(?:Rated|Trusted|Powered|Loved|Voted|Featured|Recommended|Brought)\b")


def is_fragment(sentence: str, language: str) -> bool:
    """Return whether a sentence is a caption, half a quotation, tells who the author is, or states nothing."""
    if _is_half_a_quotation(sentence) or is_biography(sentence):
        return True
    if language != "en":
        return False
    return _PICTURE.search(sentence) is not None or _RATED.match(sentence) is not None or _has_no_verb(sentence)


def is_timeless(sentence: str, language: str) -> bool:
    """Return whether an English sentence reports nothing: no past, no future, no amount, nobody who says it."""
    if language != "en" or _AMOUNT.search(sentence) or len(_FIGURE.findall(sentence)) > 1:
        return False
    words = _WORD.findall(sentence.replace("\u2019", "'"))
    return not any(word in _REPORTED or (word.endswith("ed") and len(word) > _MIN_PAST) for word in words)


def is_biography(sentence: str) -> bool:
    """Return whether a sentence tells who somebody is, as below an article."""
    return _BIOGRAPHY.match(sentence) is not None and not _AMOUNT.search(sentence)


def _is_half_a_quotation(sentence: str) -> bool:
    """Return whether a quotation begins or ends in another sentence."""
    is_uneven = sentence.count('"') % 2 == 1 or any(
        sentence.count(one) != sentence.count(other) for one, other in _PAIRS
    )
    # German closes with the mark that English opens with.
    return is_uneven if "„" not in sentence else sentence.count("„") != sentence.count("“") + sentence.count("”")


def _has_no_verb(sentence: str) -> bool:
    words = _WORD.findall(sentence.replace("\u2019", "'"))
    has_verb = any(word in _VERBS or (word.endswith("ed") and len(word) > 3) or word.endswith("n't") for word in words)
    return len(sentence) <= _MAX_FRAGMENT_CHARS and not has_verb
