"""The replies of the three news Workers; a test compares them with real replies."""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from sluice.core.news.article import Stage
from sluice.core.news.checkpoint_transitions import Place
from sluice.web.openapi.docs import Absent, CamelReplyModel, ReplyModel

# NewsData's own names, kept as they are.
_SNAKE_CASE_NAMES: Final = frozenset({"source_id", "source_name", "source_url", "source_icon", "image_url"})

Sentiment = Literal["positive", "negative", "neutral", "unknown"]
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
    author: str | Absent = None
    sentiment_score: Annotated[float, Field(description="From -1 to 1, by the embedded analyst.")] | Absent = None
    sentiment_confidence: Annotated[float, Field(description="From 0 to 1, by the embedded analyst.")] | Absent = None
    ai_summary: str | Absent = None
    summary_by: Annotated[str, Field(description="workers-ai or embedded.")] | Absent = None
    summary_at: Milliseconds | Absent = None
    summary_error: Annotated[str, Field(description="Why there is no summary.")] | Absent = None
    needs_sentiment: bool
    needs_summary: bool
    queued_at: Milliseconds | Absent = None
    processed_at: Milliseconds | Absent = None
    changed_at: Milliseconds | Absent = None
    tags: Annotated[list[str], Field(description="What it is about, from a fixed list.")] | Absent = None
    entities: Annotated[list[str], Field(description="Whom and what it names.")] | Absent = None
    importance: (
        Annotated[float, Field(ge=0, le=1, description="How much it matters; a story told by many sources, more.")]
        | Absent
    ) = None
    status: Literal["complete", "pending"]


class NewsStory(NewsArticle):
    """The article that leads a story, and the others that tell the same story."""

    story_id: Annotated[str, Field(description="The id of the first article of the story.")]
    alternates: list[Alternate]


class SentimentCounts(ReplyModel):
    """How many stories have each sentiment; unknown is a language that the analyst does not know."""

    positive: int
    negative: int
    neutral: int
    unknown: int


class AllNews(CamelReplyModel):
    articles: list[NewsArticle]
    total_articles: int
    last_updated_external: Milliseconds
    sentiment_counts: SentimentCounts


class StoryPage(CamelReplyModel):
    changed_at: Annotated[Milliseconds, Field(description="The next `changed_after` of a client that polls.")]
    articles: list[NewsStory]
    total: Annotated[int, Field(description="The number of stories on all pages.")]
    next: Annotated[str, Field(description="The `cursor` of the next page.")] | None
    sentiment_counts: SentimentCounts


class SentimentBucket(SentimentCounts):
    start: str
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


class SourceState(CamelReplyModel):
    name: str
    last_success: Milliseconds | None
    last_error: str | None
    last_error_at: Milliseconds | None
    items: Annotated[int, Field(description="Articles when it was last read.")]
    conditional_hits: Annotated[int, Field(description="How often it answered that nothing has changed.")]
    failures: Annotated[int, Field(description="Failed runs in a row.")]


class AiDay(ReplyModel):
    neurons: float
    answers: int
    failures: int


class AiState(CamelReplyModel):
    is_open: Annotated[bool, Field(description="Whether the embedded analyst serves because Workers AI keeps failing.")]
    reason: str | None
    today: AiDay


class ServiceStatus(CamelReplyModel):
    status: Literal["ok", "degraded"]
    problem: Annotated[str, Field(description="The first of `problems`.")] | None
    problems: Annotated[list[str], Field(description="Why the service is degraded, and what to do.")]
    backlog: Annotated[int, Field(description="Articles that wait to be processed.")]
    oldest_pending_age_seconds: int | None
    current: CurrentArticle | None
    processed: int
    try_later: list[TryLaterArticle]
    last_run: LastRuns
    sources: list[SourceState]
    ai: AiState
    waiting_deliveries: Annotated[int, Field(description="Alerts and messages that wait to be sent.")]
    second_looks: Annotated[int, Field(description="Articles that the embedded analyst has judged for Workers AI.")]


class HubBody(BaseModel):
    mode: Annotated[Literal["subscribe", "unsubscribe"], Field(alias="hub.mode")]
    topic: Annotated[str, Field(alias="hub.topic", description="The address or path of a feed, without a query.")]
    callback: Annotated[str, Field(alias="hub.callback", description="The https address that receives the feed.")]
    lease_seconds: Annotated[str, Field(alias="hub.lease_seconds", description="Ten days if it is not given.")] = (
        "864000"
    )
    secret: Annotated[str, Field(alias="hub.secret", description="Signs what is sent.")] = ""


class WebhookBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, Field(max_length=2000, description="The https address that receives new stories.")]


class ListedWebhook(ReplyModel):
    id: str
    url: str
    created_ms: Milliseconds


class CreatedWebhook(ListedWebhook):
    secret: Annotated[str, Field(description="Signs each message (Standard Webhooks); it is shown only here.")]


class WebhookList(ReplyModel):
    webhooks: list[ListedWebhook]


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
    outcome: Literal["read", "unchanged", "postponed", "failed"]
    warnings: list[str] | Absent = None


class UpdaterRun(CamelReplyModel):
    """The result of a run; a run that was busy or waiting has only a reason."""

    outcome: Annotated[Literal["ok", "failed", "busy", "waiting"], Field(description="`failed`: every source failed.")]
    reason: str | Absent = None
    added: Annotated[list[str], Field(description="Ids of new articles.")] | Absent = None
    trimmed: Annotated[int, Field(description="Processed articles that were removed from the list.")] | Absent = None
    surplus: Annotated[int, Field(description="New articles without room in the list yet.")] | Absent = None
    too_old: Annotated[int, Field(description="New articles older than MAX_ARTICLE_AGE_DAYS.")] | Absent = None
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
