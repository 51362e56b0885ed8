"""The tags of an article, by the words in its title and its feed's text."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

# In the order in which they are told.
TAGS: Final = (
    *("price", "etf", "regulation", "legal", "security", "mining", "treasury", "adoption", "exchange", "macro"),
    *("technology", "lightning", "stablecoins", "altcoins", "derivatives", "forecast"),
)
_MAX_TAGS: Final = 6
_MAX_CHARS: Final = 600
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def find_tags(title: str, description: str) -> list[str]:
    """Return the tags, those of the title first."""
    texts = (title.lower(), description[:_MAX_CHARS].lower())
    found = [tag for text in texts for tag, pattern in _patterns().items() if pattern.search(text)]
    return list(dict.fromkeys(found))[:_MAX_TAGS]


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    # Many know the tags, and few look for them.
    from sluice.core.news.vocabulary.topics import PATTERNS  # noqa: PLC0415 - rare

    return {tag: re.compile("|".join(_compile_words(PATTERNS[tag]))) for tag in TAGS}


def _compile_words(words: str) -> list[str]:
    """Return a pattern for words between word boundaries; between ideographs there are none."""
    pieces = words.split("|")
    wide = [piece for piece in pieces if _WIDE.search(piece)]
    plain = "|".join(piece for piece in pieces if piece not in wide)
    return [rf"(?<!\w)(?:{plain})(?!\w)", *wide]
