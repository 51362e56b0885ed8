"""The members of an article that say what it is about."""

from collections.abc import Sequence
from math import log10
from typing import Any, Final

from sluice.core.news.article import Article
from sluice.core.news.stories.headline_facts import HeadlineFacts
from sluice.core.news.topics.entities import find_entities
from sluice.core.news.topics.tags import find_tags

_BASE: Final = {"event": 0.3, "reaction": 0.2, "forecast": 0.15, "explainer": 0.1, "recap": 0.05}
_BY_TAG: Final = {"security": 0.15, "regulation": 0.12, "etf": 0.1, "legal": 0.1, "treasury": 0.08, "macro": 0.05}
_LARGE_USD: Final = 10_000_000
_COIN_USD: Final = 100_000  # the order of a coin's price is enough to tell a large amount from a small one
_FOR_AMOUNT: Final = 0.06  # for each power of ten above the large amount
_MAX_FOR_AMOUNT: Final = 0.25
_FOR_BITCOIN: Final = 0.1
_FOR_SENTIMENT: Final = 0.1


def describe_topics(article: Article) -> dict[str, Any]:
    """Return tags, entities and the importance of the article by itself."""
    tags = find_tags(article.title, article.description)
    score = article.data.get("sentimentScore")
    weight = weigh_article(article.title, tags, score if isinstance(score, int | float) else 0.0)
    return {"tags": tags, "entities": find_entities(article.title, article.description), "importance": weight}


def weigh_article(title: str, tags: Sequence[str], score: float) -> float:
    """Return the importance of one article by itself, without other sources; `score` is that of its sentiment, if there is one."""
    facts = HeadlineFacts.from_text(title)
    amounts = [number.value for number in facts.numbers if number.type == "money"]
    amounts += [number.value * _COIN_USD for number in facts.numbers if number.type == "coins"]
    largest = max(amounts, default=0.0)
    for_amount = _FOR_AMOUNT * log10(largest / _LARGE_USD) if largest > _LARGE_USD else 0.0
    weight = (
        _BASE.get(facts.kind, 0.1)
        + max((_BY_TAG.get(tag, 0.0) for tag in tags), default=0.0)
        + min(_MAX_FOR_AMOUNT, for_amount)
        + (_FOR_BITCOIN if "bitcoin" in facts.assets else 0.0)
        + _FOR_SENTIMENT * min(1.0, abs(score))
    )
    return round(min(1.0, weight), 2)
