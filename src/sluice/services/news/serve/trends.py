"""Sentiment counts by time, and trending terms."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final, TypedDict

from sluice.core.news.analysts.words import content_words
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import Story
from sluice.services.news.serve.query import Bucket
from sluice.services.news.serve.snapshot import SentimentCounts

_STEPS: Final = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(weeks=1)}
_MONDAY: Final = datetime(2001, 1, 1, tzinfo=UTC)
# In nearly every title, so they carry no information.
_COMMON: Final = frozenset({"bitcoin", "btc", "crypto", "cryptocurrency", "price", "market", "news"})
_MIN_STORIES: Final = 2


class SentimentBucket(SentimentCounts):
    start: str
    total: int


class TrendingTerm(TypedDict):
    term: str
    score: float
    articles: int


def count_by_time(articles: Iterable[PublishedArticle], step: Bucket) -> list[SentimentBucket]:
    """Count the articles of each sentiment per hour, day or week, oldest first; empty buckets are left out."""
    counts: dict[datetime, SentimentCounts] = {}
    for article in articles:
        start = article.published - (article.published - _MONDAY) % _STEPS[step]
        row = counts.setdefault(start, {"positive": 0, "negative": 0, "neutral": 0, "unknown": 0})
        row[article.article.sentiment or "unknown"] += 1
    return [
        {
            "start": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
            **row,
            "total": row["positive"] + row["negative"] + row["neutral"] + row["unknown"],
        }
        for start, row in sorted(counts.items())
    ]


def rank_terms(stories: Sequence[Story], *, now: datetime, hours: int, limit: int) -> list[TrendingTerm]:
    """Rank words and pairs of words; each story counts once, and half after a quarter of the time span."""
    scores: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for story in stories:
        age_h = max(0.0, (now - story.lead.published) / timedelta(hours=1))
        if age_h > hours:
            continue
        weight = 0.5 ** (age_h / (hours / 4)) * (1 + len(story.alternates)) ** 0.5
        for term in _terms(story.lead.article.title):
            scores[term] += weight
            counts[term] += 1
    ranked = sorted((term for term in scores if counts[term] >= _MIN_STORIES), key=lambda term: (-scores[term], term))
    kept = _without_parts(ranked, counts)[:limit]
    return [{"term": term, "score": round(scores[term], 3), "articles": counts[term]} for term in kept]


def _terms(title: str) -> set[str]:
    words = content_words(title)
    singles = {word for word in words if word not in _COMMON and not word[0].isdigit() and len(word) > 2}
    pairs = {f"{one} {other}" for one, other in pairwise(words) if {one, other} <= singles}
    return singles | pairs


def _without_parts(ranked: list[str], counts: dict[str, int]) -> list[str]:
    """Leave out words that only occur within a pair."""
    pairs = [term for term in ranked if " " in term]
    covered = {word for pair in pairs for word in pair.split() if counts[word] == counts[pair]}
    return [term for term in ranked if term not in covered]
