"""Whether a page is about the article that links to it."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from sluice.core.news.analysts.analyst import Mismatch
from sluice.core.news.analysts.words import content_words

_MIN_TITLE_WORDS: Final = 3
_SAME_TITLE: Final = 0.3  # share of common words from which two titles are of one article
_IN_TEXT: Final = 0.34  # share of the title's words in the text of a page that has another title
_MIN_ARTICLE_CHARS: Final = 600  # a shorter text below the right title may be a notice in place of the article
# In many titles, so they do not say that two are of one article.
_GENERIC: Final = frozenset({"bitcoin", "btc", "crypto", "cryptocurrency", "news", "price", "market", "today"})
_WIDE: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def check_match(title: str, page_titles: Sequence[str], text: str) -> None:
    """Raise Mismatch when neither the page's own titles nor its text belong to the title in the feed."""
    wanted = _pieces(title)
    if len(wanted) < _MIN_TITLE_WORDS:
        return
    headings = {each.casefold().strip() for each in (title, *page_titles)}
    below = _pieces("\n".join(line for line in text.splitlines() if line.casefold().strip() not in headings))
    found = len(wanted & below) / len(wanted)
    if not page_titles:
        is_match = found > 0
    elif any(_is_same_title(wanted, each) for each in page_titles):
        is_match = found > 0 or len(text) >= _MIN_ARTICLE_CHARS
    else:
        is_match = found >= _IN_TEXT
    if not is_match:
        raise Mismatch("the page is about something other than its title")


def _is_same_title(wanted: set[str], page_title: str) -> bool:
    ours, theirs = wanted - _GENERIC, _pieces(page_title) - _GENERIC
    return len(ours & theirs) >= _SAME_TITLE * max(1, min(len(ours), len(theirs)))


def _pieces(text: str) -> set[str]:
    """Return the words of a text, and pairs of characters where words are not separated."""
    wide = _WIDE.findall(text)
    return set(content_words(text)) | {f"{one}{other}" for one, other in pairwise(wide)}
