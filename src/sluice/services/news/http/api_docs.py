"""The API documentation of the three news Workers: the models of their replies and the text of their routes."""

from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from sluice.core.news.article import Stage
from sluice.core.news.checkpoint_transitions import Place
from sluice.services.news.serve.query import BucketQuery, ListQuery, TrendQuery
from sluice.web import Doc, Media, Param, ReplyDoc
from sluice.web.openapi.docs import Absent, CamelReplyModel, ReplyModel

_NEWS: Final = "News"
_FEEDS: Final = "Feeds"
PROCESSING: Final = "Processing"
_NO_NEWS: Final = (503,)
ARTICLE_ID: Final = "0123456789abcdef"
_CACHED: Final = {
    "ETag": "Identifies this version of the reply.",
    "Last-Modified": "When the data last changed.",
    "Cache-Control": "Fresh for a minute, and usable for five more while it is revalidated.",
}
_UNCHANGED: Final = ReplyDoc("The caller's copy is current.")

# NewsData's own names, kept as they are.
_SNAKE_CASE_NAMES: Final = frozenset({"source_id", "source_name", "source_url", "source_icon", "image_url"})

Sentiment = Literal["positive", "negative", "neutral"]
Milliseconds = Annotated[int, Field(description="Milliseconds since 1970.")]


def _member_name(name: str) -> str:
    return name if name in _SNAKE_CASE_NAMES else to_camel(name)


class _ArticleModel(ReplyModel):
    model_config = ConfigDict(alias_generator=_member_name, validate_by_name=True)


class Alternate(_ArticleModel):
    """The same story at another source."""

    id: str
    title: str
    link: str | Absent = None
    source_name: str | Absent = None
    pub_date: str | Absent = None


class NewsArticle(_ArticleModel):
    """One article; a member that is not known yet is missing."""

    id: str
    title: str
    description: str | Absent = None
    link: Annotated[str, Field(description="The source's own page.")]
    pub_date: Annotated[str, Field(description="RFC 3339, in UTC.")] | Absent = None
    source_id: str | Absent = None
    source_name: str | Absent = None
    source_url: str | Absent = None
    source_icon: str | Absent = None
    image_url: str | Absent = None
    language: str | Absent = None
    country: list[str] | Absent = None
    category: list[str] | Absent = None
    sentiment: Sentiment | Absent = None
    sentiment_by: Annotated[str, Field(description="workers-ai, embedded or provider.")] | Absent = None
    sentiment_at: Milliseconds | Absent = None
    ai_summary: str | Absent = None
    summary_by: Annotated[str, Field(description="workers-ai or embedded.")] | Absent = None
    summary_at: Milliseconds | Absent = None
    summary_error: Annotated[str, Field(description="Why there is no summary.")] | Absent = None
    needs_sentiment: bool
    needs_summary: bool
    queued_at: Milliseconds | Absent = None
    processed_at: Milliseconds | Absent = None
    status: Literal["complete", "pending"]


class NewsStory(NewsArticle):
    """The article that leads a story, and the others that tell the same story."""

    story_id: Annotated[str, Field(description="The id of the first article of the story.")]
    alternates: list[Alternate]


class SentimentCounts(ReplyModel):
    positive: int
    negative: int
    neutral: int


class AllNews(CamelReplyModel):
    articles: list[NewsArticle]
    total_articles: int
    last_updated_external: Milliseconds
    sentiment_counts: SentimentCounts


class StoryPage(CamelReplyModel):
    articles: list[NewsStory]
    total: Annotated[int, Field(description="The number of stories on all pages.")]
    next: Annotated[str, Field(description="The `cursor` of the next page.")] | None
    sentiment_counts: SentimentCounts


class SentimentBucket(SentimentCounts):
    start: str
    unknown: int
    total: int


class SentimentBuckets(ReplyModel):
    bucket: Literal["hour", "day", "week"]
    total: int
    buckets: list[SentimentBucket]


class TrendingTerm(ReplyModel):
    term: str
    score: float
    articles: int


class TrendingTerms(ReplyModel):
    hours: int
    terms: list[TrendingTerm]


class CurrentArticle(ReplyModel):
    id: str
    stage: Stage


class TryLaterArticle(CamelReplyModel):
    id: str
    title: str
    reason: str
    attempts: int
    failed_at: Milliseconds


class LastRuns(CamelReplyModel):
    processor: Milliseconds | None
    updater: Milliseconds | None
    failed_sources: list[str]


class ServiceStatus(CamelReplyModel):
    status: Literal["ok", "degraded"]
    problem: str | None
    backlog: Annotated[int, Field(description="Articles that wait to be processed.")]
    oldest_pending_age_seconds: int | None
    current: CurrentArticle | None
    processed: int
    try_later: list[TryLaterArticle]
    last_run: LastRuns


class StoredArticle(_ArticleModel):
    """An article as it is stored: all members of its source, and the state of its processing."""

    model_config = ConfigDict(extra="allow")

    id: str
    title: str
    description: str | Absent = None
    link: str
    pub_date: str | Absent = None
    needs_sentiment: bool
    needs_summary: bool


class PendingArticles(CamelReplyModel):
    success: Literal[True]
    total_articles: int
    article_ids: list[str]
    latest_articles: list[StoredArticle]


class ProcessedArticle(ReplyModel):
    success: Annotated[bool, Field(description="Whether the article is complete.")]
    stage: Annotated[Stage, Field(description="The stage that it needs next.")]
    article: StoredArticle


class SourceCounts(ReplyModel):
    articles: int
    pages: int


class UpdaterRun(ReplyModel):
    """The result of a run; a run that was busy or waiting has only a reason."""

    outcome: Annotated[Literal["ok", "failed", "busy", "waiting"], Field(description="`failed`: every source failed.")]
    reason: str | Absent = None
    added: Annotated[list[str], Field(description="Ids of new articles.")] | Absent = None
    trimmed: Annotated[int, Field(description="Processed articles that were removed from the list.")] | Absent = None
    surplus: Annotated[int, Field(description="New articles without room in the list yet.")] | Absent = None
    pending: int | Absent = None
    sources: dict[str, SourceCounts] | Absent = None
    failed: Annotated[dict[str, str], Field(description="The reason for each source that failed.")] | Absent = None


class ProcessorStep(ReplyModel):
    """One attempt at one stage of an article: what it needs next, where it is now, and why."""

    id: str
    stage: Stage
    place: Place
    reason: str


class ProcessorRun(ReplyModel):
    """The steps of a run; a run that was busy or waiting has only a reason."""

    outcome: Annotated[Literal["ok", "idle", "busy", "waiting"], Field(description="`idle`: there was nothing to do.")]
    reason: str | Absent = None
    steps: list[ProcessorStep] | Absent = None


ALL_NEWS: Final = Doc(
    summary="Every article, the latest to be processed first",
    tag=_NEWS,
    replies={200: ReplyDoc("All articles.", AllNews, _CACHED), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
ARTICLES: Final = Doc(
    summary="Stories, newest first, page by page",
    description="A cursor stays valid while new articles arrive. Near-duplicates from several sources are one story.",
    tag=_NEWS,
    query=ListQuery,
    replies={200: ReplyDoc("A page.", StoryPage, {**_CACHED, "Link": "The next page."}), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
ARTICLE: Final = Doc(
    summary="One article, and the story it belongs to",
    tag=_NEWS,
    params={"id": Param("The id of an article.", ARTICLE_ID)},
    replies={200: ReplyDoc("The article.", NewsStory, _CACHED), 304: _UNCHANGED},
    problems=(404, 412, *_NO_NEWS),
)
SENTIMENT: Final = Doc(
    summary="Articles of each sentiment per hour, day or week",
    tag=_NEWS,
    query=BucketQuery,
    replies={200: ReplyDoc("The buckets, oldest first.", SentimentBuckets, _CACHED), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
TRENDING: Final = Doc(
    summary="Trending terms",
    tag=_NEWS,
    query=TrendQuery,
    replies={200: ReplyDoc("Words and pairs of words, the highest score first.", TrendingTerms), 304: _UNCHANGED},
    problems=(412, *_NO_NEWS),
)
STATUS: Final = Doc(
    summary="The state of the news service",
    tag=PROCESSING,
    replies={200: ReplyDoc("The backlog, the articles to try later and why, and the last runs.", ServiceStatus)},
)
PENDING: Final = Doc(
    summary="Articles that wait to be processed",
    tag=PROCESSING,
    replies={200: ReplyDoc("All ids, and the ten newest articles.", PendingArticles)},
    problems=(404,),
)
UPDATER_RUN: Final = Doc(
    summary="Fetch news now",
    tag=PROCESSING,
    replies={200: ReplyDoc("The result of the run.", UpdaterRun)},
    security=("admin",),
)
PROCESSOR_RUN: Final = Doc(
    summary="Process articles now",
    tag=PROCESSING,
    replies={200: ReplyDoc("The result of the run.", ProcessorRun)},
    security=("admin",),
)


def feed_doc(title: str, media_type: str) -> Doc:
    """Describes a feed of complete stories, with the filters of the list."""
    return Doc(
        summary=f"The stories as {title}",
        tag=_FEEDS,
        query=ListQuery,
        replies={200: ReplyDoc("The feed.", Media(media_type), _CACHED), 304: _UNCHANGED},
        problems=(412, *_NO_NEWS),
    )
