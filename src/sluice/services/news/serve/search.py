"""Search by words: all of them, one of several with OR, exact phrases in quotes, and none of those after a minus."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import Final, Self

from sluice.core.news.published_article import PublishedArticle

_TERM: Final = re.compile(r'(-?)(?:"([^"]*)"|(\S+))')
_WORD: Final = re.compile(r"[^\W_]+")
# Chinese, Japanese and Korean are written without spaces, so that a term may stand anywhere.
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u1100-\u11ff]")
# The longest first.
_ENDINGS: Final = (
    *("ations", "atory", "ation", "ators", "ating", "ments", "ator", "ated", "ates", "ment", "ings", "ers", "ors"),
    *("ies", "ied", "ing", "als", "ate", "ed", "er", "or", "es", "al", "s", "y", "e"),
)
_MIN_STEM_CHARS: Final = 3
_IRREGULAR: Final = {
    **dict.fromkeys(("fell", "fallen"), "fall"),
    **dict.fromkeys(("rose", "risen", "rise"), "ris"),
    "bought": "buy",
    "sold": "sell",
    **dict.fromkeys(("stole", "stolen"), "steal"),
    "sued": "sue",
    "laws": "law",
    "won": "win",
    "lost": "los",
}
# How much a match counts by where it is.
_TITLE: Final = 4.0
_NAMED: Final = 2.0
_TEXT: Final = 1.0
_OTHER_FORM: Final = 0.8  # another form of the word, or a longer word
_PHRASE: Final = 1.5
_AGAIN: Final = 0.2  # for each further field
_HALF_LIFE_S: Final = 3 * 24 * 3600  # an article that is older by this needs twice the relevance


@dataclass(frozen=True, slots=True)
class _Field:
    text: str
    words: frozenset[str]
    stems: frozenset[str]
    weight: float

    @classmethod
    def of(cls, text: str, weight: float) -> Self:
        folded = fold(text)
        words = frozenset(_WORD.findall(folded))
        return cls(folded, words, frozenset(map(find_stem, words)), weight)


@dataclass(frozen=True, slots=True)
class _Term:
    text: str
    is_phrase: bool
    is_excluded: bool

    def weigh(self, fields: list[_Field]) -> float:
        """Return how well the term matches; 0 if it does not."""
        found = sorted((weight for field in fields if (weight := self._weigh_in(field))), reverse=True)
        return found[0] + _AGAIN * sum(found[1:]) if found else 0.0

    def _weigh_in(self, field: _Field) -> float:
        if _CJK.search(self.text):
            return field.weight if self.text in field.text else 0.0
        if self.is_phrase or not self.text.isalnum():
            is_found = re.search(rf"(?<!\w){re.escape(self.text)}", field.text) is not None
            return field.weight * (_PHRASE if self.is_phrase else 1.0) if is_found else 0.0
        if self.text in field.words:
            return field.weight
        is_form = find_stem(self.text) in field.stems or any(word.startswith(self.text) for word in field.words)
        return field.weight * _OTHER_FORM if is_form else 0.0


@dataclass(frozen=True, slots=True)
class Search:
    """A search by words. Each group must have a match; a search without any group accepts all."""

    groups: tuple[tuple[_Term, ...], ...]

    @classmethod
    def parse(cls, q: str) -> Self:
        """Read a query; OR puts two terms into one group."""
        groups: list[list[_Term]] = []
        joins = False
        for minus, quoted, word in _TERM.findall(q):
            if word == "OR" and groups and not minus:
                joins = True
                continue
            text = fold(quoted or word).strip("-,;")
            if not text.strip():
                continue
            term = _Term(text, bool(quoted), minus == "-")
            if joins:
                groups[-1].append(term)
            else:
                groups.append([term])
            joins = False
        return cls(tuple(tuple(group) for group in groups))

    def weigh(self, item: PublishedArticle) -> float:
        """Return the relevance of an article; 0 if it does not match."""
        fields = _read_fields(item)
        total = 0.0
        for group in self.groups:
            weights = [(term.weigh(fields), term.is_excluded) for term in group]
            if not any((weight == 0) is is_excluded for weight, is_excluded in weights):
                return 0.0
            total += sum(weight for weight, is_excluded in weights if not is_excluded)
        return total or 1.0


def rank(relevance: float, item: PublishedArticle) -> float:
    """Return what to sort by: relevance and recency. It does not depend on the time now, so that pages stay in order."""
    return log2(relevance) + item.published.timestamp() / _HALF_LIFE_S


def fold(text: str) -> str:
    """Return the text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    # Syllables of Korean stay whole.
    return unicodedata.normalize("NFC", "".join(each for each in decomposed if not unicodedata.combining(each)))


@lru_cache(maxsize=20_000)
def find_stem(word: str) -> str:
    """Return what the forms of an English word have in common: "mining", "miners" and "mine" are "min"."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM_CHARS and not word.endswith("ss"):
            stem = word[: -len(ending)]
            # "stopped" and "stop".
            return stem[:-1] if len(stem) > _MIN_STEM_CHARS and stem[-1] == stem[-2] and stem[-1] not in "ls" else stem
    return word


def _read_fields(item: PublishedArticle) -> list[_Field]:
    article = item.article
    named = " ".join([*item.list_terms("entities"), *item.list_terms("tags"), article.text("source_name")])
    text = f"{article.description} {article.text('aiSummary')}"
    return [_Field.of(article.title, _TITLE), _Field.of(named, _NAMED), _Field.of(text, _TEXT)]
