"""An article as readers see it: its time, its place in the order, and the members that are served."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final, Literal, NotRequired, Self, TypedDict, cast

from sluice.core.doc import Doc
from sluice.core.news.article import Article, Milliseconds, Sentiment, Stage
from sluice.core.news.dates import parse_time
from sluice.core.news.feeds.normalise import canonical_url


class Alternate(TypedDict):
    """The same story at another source."""

    id: str
    title: str
    link: NotRequired[str]
    source_name: NotRequired[str]
    pubDate: NotRequired[str]


class NewsArticle(TypedDict):
    """One article; a member that is not known yet is missing."""

    id: str
    title: str
    description: NotRequired[str]
    link: Annotated[str, Doc("The source's own page.")]
    pubDate: NotRequired[Annotated[str, Doc("RFC 3339, in UTC.")]]
    source_id: NotRequired[str]
    source_name: NotRequired[str]
    source_url: NotRequired[str]
    source_icon: NotRequired[str]
    image_url: NotRequired[str]
    language: NotRequired[str]
    country: NotRequired[list[str]]
    category: NotRequired[list[str]]
    sentiment: NotRequired[Sentiment]
    sentimentBy: NotRequired[Annotated[str, Doc("workers-ai, embedded or provider.")]]
    sentimentAt: NotRequired[Milliseconds]
    aiSummary: NotRequired[str]
    sentimentScore: NotRequired[Annotated[float, Doc("From -1 to 1, by the embedded analyst.")]]
    sentimentConfidence: NotRequired[Annotated[float, Doc("From 0 to 1, by the embedded analyst.")]]
    author: NotRequired[str]
    changedAt: NotRequired[Milliseconds]
    tags: NotRequired[Annotated[list[str], Doc("What it is about, from a fixed list.")]]
    entities: NotRequired[Annotated[list[str], Doc("Whom and what it names.")]]
    importance: NotRequired[
        Annotated[float, Doc("How much it matters; a story told by many sources, more.", minimum=0, maximum=1)]
    ]
    summaryBy: NotRequired[Annotated[str, Doc("workers-ai or embedded.")]]
    summaryAt: NotRequired[Milliseconds]
    summaryError: NotRequired[Annotated[str, Doc("Why there is no summary.")]]
    needsSentiment: bool
    needsSummary: bool
    queuedAt: NotRequired[Milliseconds]
    processedAt: NotRequired[Milliseconds]
    status: Literal["complete", "pending"]


# In the order in which they are served. The text of the page belongs to its publisher; the counters of attempts are internal.
_SERVED_MEMBERS: Final = tuple(name for name in NewsArticle.__annotations__ if name != "status")
# The first Bitcoin block: the time of an article whose own time is unknown.
_EARLIEST: Final = datetime(2009, 1, 3, tzinfo=UTC)
_MAX_TIME_MS: Final = 10**13


@dataclass(frozen=True, slots=True)
class PublishedArticle:
    """An article as readers see it. `order` sorts by time of publication; the id makes it total. `url` is the canonical link."""

    article: Article
    published: datetime
    order: tuple[str, str]
    url: str

    @classmethod
    def from_article(cls, article: Article) -> Self:
        queued_ms = article.number("queuedAt")
        queued = datetime.fromtimestamp(queued_ms / 1000, UTC) if 0 < queued_ms < _MAX_TIME_MS else _EARLIEST
        published = parse_time(article.text("pubDate")) or queued
        order = (published.strftime("%Y-%m-%dT%H:%M:%SZ"), article.id)
        return cls(article, published, order, canonical_url(article.link))

    @property
    def id(self) -> str:
        return self.article.id

    @property
    def importance(self) -> float:
        """The importance of the article by itself."""
        value = self.article.data.get("importance")
        return float(value) if isinstance(value, int | float) else 0.0

    @property
    def source(self) -> str:
        return self.article.text("source_name") or self.article.text("source_id") or self.url

    def list_terms(self, name: str) -> list[str]:
        """Return the tags or the entities."""
        value = self.article.data.get(name)
        return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

    @property
    def is_complete(self) -> bool:
        return self.article.stage is Stage.COMPLETE

    def as_json(self) -> NewsArticle:
        """Return the members that the API serves."""
        data = self.article.data
        served = {name: data[name] for name in _SERVED_MEMBERS if data.get(name) not in (None, "")}
        return cast("NewsArticle", {**served, "status": "complete" if self.is_complete else "pending"})

    def as_alternate_json(self) -> Alternate:
        """Return the members that are served of an article beside the one that leads a story."""
        data = self.article.data
        served = {name: data[name] for name in Alternate.__annotations__ if data.get(name) not in (None, "")}
        return cast("Alternate", served)
