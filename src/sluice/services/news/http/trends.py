"""What moves the news: how many stories of each sentiment there are by time, and the terms that many of them have."""

from datetime import UTC, datetime
from typing import Final, TypedDict

from sluice.core.news.stories import group_into_stories
from sluice.services.news.http.cache_headers import CACHED, PROBLEMS, UNCHANGED, build_reply
from sluice.services.news.serve.query import COUNTING, TRENDS, Bucket, BucketQuery, TrendQuery
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.serve.trends import SentimentBucket, TrendingTerm, count_by_time, rank_terms
from sluice.web import Reply, Request
from sluice.web.operations import Operation, ReplyDoc

_STEP_S: Final = 600  # within this time the same query has the same reply


class SentimentBuckets(TypedDict):
    bucket: Bucket
    total: int
    buckets: list[SentimentBucket]


class TrendingTerms(TypedDict):
    hours: int
    terms: list[TrendingTerm]


COUNT_SENTIMENT: Final = Operation(
    "countSentiment",
    "Stories of each sentiment per hour, day or week",
    {200: ReplyDoc("The buckets, oldest first.", SentimentBuckets, CACHED), 304: UNCHANGED},
    tag="News",
    query=COUNTING,
    problems=PROBLEMS,
)
LIST_TRENDING: Final = Operation(
    "listTrendingTerms",
    "Trending terms",
    {200: ReplyDoc("Words and pairs of words, the highest score first.", TrendingTerms), 304: UNCHANGED},
    tag="News",
    query=TRENDS,
    problems=PROBLEMS,
)


def count_sentiment(request: Request, snapshot: Snapshot) -> Reply:
    query = BucketQuery.read(request)
    ids = {article.id for article in query.filters.select(snapshot.articles)}
    # A story counts once, for the first of its articles that matches.
    leads = [match.lead for story in snapshot.stories if (match := story.with_lead_from(ids))]
    buckets = count_by_time(leads, query.bucket)
    return build_reply(SentimentBuckets(bucket=query.bucket, total=len(leads), buckets=buckets), snapshot)


def list_trending(request: Request, snapshot: Snapshot, now_s: float) -> Reply:
    query = TrendQuery.read(request)
    now = datetime.fromtimestamp(int(now_s) - int(now_s) % _STEP_S, UTC)
    stories = group_into_stories(query.filters.select(snapshot.articles))
    terms = rank_terms(stories, now=now, hours=query.hours, limit=query.limit)
    # The reply changes with the clock as well as with the data, so the time of the data would mislead.
    return build_reply(TrendingTerms(hours=query.hours, terms=terms), None)
