"""Search by words: all of them, one of several with OR, exact phrases in quotes, and none of those after a minus."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sluice.core.news.published_article import PublishedArticle

_TERM: Final = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
# Chinese, Japanese and Korean are written without spaces, so that a term may stand anywhere.
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDINGS: Final = ("ing", "ers", "ies", "ed", "er", "es", "s", "y", "e")
_MIN_STEM_CHARS: Final = 4


@dataclass(frozen=True, slots=True)
class _Term:
    pattern: re.Pattern[str]
    is_excluded: bool


def make_search(q: str) -> Callable[[PublishedArticle], bool]:
    """Returns a test for an article; a query without any term accepts all."""
    groups = _parse_query(q)

    def test(item: PublishedArticle) -> bool:
        text = fold(_searchable_text(item))
        return all(any((term.pattern.search(text) is None) is term.is_excluded for term in group) for group in groups)

    return test


def fold(text: str) -> str:
    """Returns the text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def find_stem(word: str) -> str:
    """Returns what the forms of an English word have in common: "mining", "miners" and "mine" are "min"."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_CHARS - 1 and len(word) >= _MIN_STEM_CHARS:
            return word[: -len(ending)]
    return word


def _parse_query(q: str) -> list[list[_Term]]:
    """Returns groups of which each must have a match; OR puts two terms into one group."""
    groups: list[list[_Term]] = []
    joins = False
    for minus, quoted, word in _TERM.findall(q):
        text = fold(quoted or word)
        if word == "OR" and groups:
            joins = True
            continue
        if not text.strip("-"):
            continue
        term = _Term(_build_pattern(text, is_phrase=bool(quoted)), minus == "-")
        if joins:
            groups[-1].append(term)
        else:
            groups.append([term])
        joins = False
    return groups


def _build_pattern(text: str, *, is_phrase: bool) -> re.Pattern[str]:
    """Matches from the beginning of a word, and any form of it; a phrase matches as it is."""
    if _CJK.search(text):
        return re.compile(re.escape(text))
    if is_phrase or not text.isalpha():
        return re.compile(rf"(?<!\w){re.escape(text)}")
    stem = find_stem(text)
    endings = "|".join(_ENDINGS)
    forms = f"|{re.escape(stem)}(?:{endings})?(?!\\w)" if stem != text else ""
    return re.compile(rf"(?<!\w)(?:{re.escape(text)}{forms})")


def _searchable_text(item: PublishedArticle) -> str:
    article = item.article
    parts = (article.title, article.description, article.text("aiSummary"), article.text("source_name"))
    return " ".join(parts)
