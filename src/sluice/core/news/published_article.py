"""An article as readers see it: its time, its place in the order, and the members that are served."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Self

from sluice.core.news.article import Article, Stage
from sluice.core.news.dates import parse_time
from sluice.core.news.feeds.normalise import canonical_url

# The text of the page belongs to its publisher and is not served; the counters of attempts are internal.
_SERVED_MEMBERS: Final = (
    *("id", "title", "description", "link", "pubDate", "source_id", "source_name", "source_url", "source_icon"),
    *("image_url", "language", "country", "category", "sentiment", "sentimentBy", "sentimentAt", "aiSummary"),
    *("sentimentScore", "sentimentConfidence", "author", "changedAt", "tags", "entities", "importance"),
    *("summaryBy", "summaryAt", "summaryError", "needsSentiment", "needsSummary", "queuedAt", "processedAt"),
)
_ALTERNATE_MEMBERS: Final = ("id", "title", "link", "source_name", "pubDate")
# The first Bitcoin block: the time of an article whose own time is unknown.
_EARLIEST: Final = datetime(2009, 1, 3, tzinfo=UTC)
_MAX_TIME_MS: Final = 10**13


@dataclass(frozen=True, slots=True)
class PublishedArticle:
    """`order` sorts by time of publication; the id makes it total. `url` is the canonical link."""

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
        """That of the article by itself."""
        value = self.article.data.get("importance")
        return float(value) if isinstance(value, int | float) else 0.0

    @property
    def source(self) -> str:
        return self.article.text("source_name") or self.article.text("source_id") or self.url

    def list_terms(self, name: str) -> list[str]:
        """Returns the tags or the entities."""
        value = self.article.data.get(name)
        return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []

    @property
    def is_complete(self) -> bool:
        return self.article.stage is Stage.COMPLETE

    def as_json(self) -> dict[str, Any]:
        """Returns the members that the API serves."""
        data = self.article.data
        served = {name: data[name] for name in _SERVED_MEMBERS if data.get(name) not in (None, "")}
        return {**served, "status": "complete" if self.is_complete else "pending"}

    def as_alternate_json(self) -> dict[str, Any]:
        """Returns the members that are served of an article beside the one that leads a story."""
        served = self.as_json()
        return {name: served[name] for name in _ALTERNATE_MEMBERS if name in served}
