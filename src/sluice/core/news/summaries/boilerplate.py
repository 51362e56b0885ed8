"""Recognises sentences that belong to the site or to nobody: calls to subscribe, disclaimers, captions, bios, tables."""

import re
from typing import Final

from sluice.core.news.vocabulary.summaries import BOILERPLATE, BOILERPLATE_OF_OTHER_LANGUAGES, LABELS

_ENGLISH: Final = re.compile(rf"\b(?:{BOILERPLATE})\b", re.IGNORECASE)
_LABELS: Final = re.compile(rf"^(?:{LABELS})\b\s*[:|(]", re.IGNORECASE)
_OTHER_LANGUAGES: Final = re.compile(BOILERPLATE_OF_OTHER_LANGUAGES, re.IGNORECASE)
_FIRST_PERSON: Final = re.compile(r"""^["“«„]?(?:I|I'm|I've|My|We|We're|Our|Me|You|Your)\b""")
_TIME_STAMP: Final = re.compile(r"^\(?\d{1,2}[:.]\d{2}\b")
_ROW: Final = re.compile(r"^[A-Z]{2,6}\s+[$€£]?[\d.,]+\s+[+-]?[\d.]+%?$")
_BULLET: Final = re.compile(r"^[-•*▪◦>]\s")
_QUOTE_ONLY: Final = re.compile(r"""^["“«「].*["”»」][.!?]?$""")
_EMAIL: Final = re.compile(r"\S+@\S+\.\w+|https?://")
_MIN_LETTERS: Final = 0.5


def is_boilerplate(sentence: str) -> bool:
    """Return whether a sentence must not stand in a summary, whatever stands around it."""
    sentence = sentence.replace("\u2019", "'")
    patterns = (_LABELS, _FIRST_PERSON, _TIME_STAMP, _ROW, _BULLET, _QUOTE_ONLY)
    if any(pattern.match(sentence) for pattern in patterns):
        return True
    if any(pattern.search(sentence) for pattern in (_ENGLISH, _OTHER_LANGUAGES, _EMAIL)):
        return True
    letters = sum(char.isalpha() or char.isspace() for char in sentence)
    return sentence.rstrip('"”)」』').endswith(("?", "\uff1f")) or letters < _MIN_LETTERS * len(sentence)
