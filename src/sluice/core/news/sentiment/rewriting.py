"""Turns phrases with words between their parts into the phrases of the vocabulary."""

import re
from typing import Final

from sluice.core.news.vocabulary.sentiment import REWRITING

_RULES: Final = tuple((re.compile(pattern), wanted) for pattern, wanted in REWRITING)


def rewrite(text: str) -> str:
    """Return the text, which is in lower case, with the phrases that the vocabulary knows."""
    for pattern, wanted in _RULES:
        text = pattern.sub(wanted, text)
    return text
