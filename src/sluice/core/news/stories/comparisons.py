"""Compares two articles, and remembers the outcomes from one grouping to the next."""

from dataclasses import dataclass, field

from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories.same_story import ArticleFacts, is_same_story


@dataclass(frozen=True, slots=True)
class ComparedArticle:
    """An article's facts; articles with equal texts have the same number."""

    number: int
    facts: ArticleFacts


@dataclass(slots=True)
class Comparisons:
    """What the last two groupings have found out: most articles of a grouping were there in the one before."""

    _numbers: dict[tuple[object, ...], int] = field(default_factory=dict)
    _next_number: int = 0
    _known: dict[tuple[int, int], bool] = field(default_factory=dict)
    _earlier: dict[tuple[int, int], bool] = field(default_factory=dict)

    def begin(self) -> None:
        """Start a grouping; what the one before did not need is forgotten."""
        self._earlier, self._known = self._known, {}
        used = {number for pair in self._earlier for number in pair}
        self._numbers = {key: number for key, number in self._numbers.items() if number in used}

    def read(self, article: PublishedArticle) -> ComparedArticle:
        facts = ArticleFacts.from_article(article)
        stored = article.article
        key = (facts.headline, stored.description, stored.content, facts.published, facts.source)
        if key not in self._numbers:
            self._next_number += 1
            self._numbers[key] = self._next_number
        return ComparedArticle(self._numbers[key], facts)

    def is_same_story(self, one: ComparedArticle, other: ComparedArticle) -> bool:
        pair = (one.number, other.number)
        outcome = self._earlier.get(pair)
        self._known[pair] = is_same_story(one.facts, other.facts) if outcome is None else outcome
        return self._known[pair]
