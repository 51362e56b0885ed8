"""Whether a page is about the article that links to it."""

import re
from itertools import pairwise
from typing import Final

from sluice.core.news.analysts.analyst import Mismatch
from sluice.core.news.analysts.words import content_words

_MIN_TITLE_WORDS: Final = 3
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def check_match(title: str, content: str) -> None:
    """Raises Mismatch when the text below the title has no word of it; titles that only play with words are rare."""
    wanted = _pieces(title)
    heading = title.casefold().strip()
    below = "\n".join(line for line in content.splitlines() if line.casefold().strip() != heading)
    if len(wanted) >= _MIN_TITLE_WORDS and not wanted & _pieces(below):
        raise Mismatch("the page is about something other than its title")


def _pieces(text: str) -> set[str]:
    """Returns words, and pairs of characters where words are not separated."""
    wide = _WIDE.findall(text)
    return set(content_words(text)) | {f"{one}{other}" for one, other in pairwise(wide)}
