"""All stored articles as one value: one operation for the index, one for each hundred articles."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sluice.core.bounded_json import parsed
from sluice.core.news.article import Article, Stage
from sluice.core.news.feeds.normalise import canonical_url, parsed_time
from sluice.core.ports import KvReader
from sluice.services.news.storage.article_index import Index
from sluice.services.news.storage.keys import LEGACY, article_key

# What is served; the text of the page is not ours to publish, and how often it was tried is nobody's business.
_PUBLIC: Final = (
    *("id", "title", "description", "link", "pubDate", "source_id", "source_name", "source_url", "source_icon"),
    *("image_url", "language", "country", "category", "sentiment", "sentimentBy", "sentimentAt", "aiSummary"),
    *("summaryBy", "summaryAt", "summaryError", "needsSentiment", "needsSummary", "queuedAt", "processedAt"),
)
_CHANGES: Final = ("processedAt", "summaryAt", "sentimentAt", "queuedAt")
_LONG_AGO: Final = datetime(2009, 1, 3, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Item:
    """An article with what is needed to order and find it."""

    article: Article
    published: datetime
    # Later means greater; ids make it total.
    order: tuple[str, str]
    url: str

    @classmethod
    def of(cls, article: Article) -> "Item":
        queued_ms = article.number("queuedAt")
        queued = datetime.fromtimestamp(queued_ms / 1000, UTC) if 0 < queued_ms < 10**13 else _LONG_AGO
        published = parsed_time(article.text("pubDate")) or queued
        order = (published.strftime("%Y-%m-%dT%H:%M:%SZ"), article.id)
        return cls(article, published, order, canonical_url(article.link))

    @property
    def id(self) -> str:
        return self.article.id

    @property
    def is_complete(self) -> bool:
        return self.article.stage is Stage.COMPLETE

    def public(self) -> dict[str, Any]:
        data = self.article.data
        shown = {name: data[name] for name in _PUBLIC if data.get(name) not in (None, "")}
        return {**shown, "status": "complete" if self.is_complete else "pending"}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Items in the order of the index: the latest to be processed first."""

    items: tuple[Item, ...]
    changed_at_ms: int
    is_legacy: bool = False

    @property
    def changed_at(self) -> datetime:
        return datetime.fromtimestamp(self.changed_at_ms / 1000, UTC)

    @property
    def sentiment_counts(self) -> dict[str, int]:
        found = [item.article.sentiment for item in self.items]
        return {name: found.count(name) for name in ("positive", "negative", "neutral")}


async def read_snapshot(store: KvReader) -> Snapshot:
    """Everything in the index; without an index, what the architecture before it left."""
    index = await Index.read(store)
    if not index.ids:
        return await _read_legacy(store)
    found = await store.get_many(article_key(each) for each in index.ids)
    articles = [Article.stored(each, parsed(found.get(article_key(each)))) for each in index.ids]
    return _snapshot([each for each in articles if each is not None], index.version)


async def _read_legacy(store: KvReader) -> Snapshot:
    kept = parsed(await store.get_text(LEGACY))
    listed = kept.get("articles") if isinstance(kept, dict) else None
    articles = []
    for each in listed if isinstance(listed, list) else []:
        name = each.get("id") or each.get("article_id") or each.get("link") if isinstance(each, dict) else None
        article = Article.stored(str(name), each) if name else None
        if article is not None:
            articles.append(article)
    changed = kept.get("lastUpdatedExternal") if isinstance(kept, dict) else None
    return _snapshot(articles, changed if isinstance(changed, int) else 0, is_legacy=True)


def _snapshot(articles: list[Article], version: int, *, is_legacy: bool = False) -> Snapshot:
    times = [article.number(name) for article in articles for name in _CHANGES]
    changed_at_ms = max([version, *times], default=0)
    return Snapshot(tuple(Item.of(each) for each in articles), min(changed_at_ms, 10**13), is_legacy)
