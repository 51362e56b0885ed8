"""All stored articles as one value, read with one operation for the index and one for every hundred articles."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sluice.core.json_text import parse_stored_json
from sluice.core.news.article import SENTIMENTS, Article
from sluice.core.news.published_article import PublishedArticle
from sluice.core.ports import KvReader
from sluice.services.news.storage.article_index import ArticleIndex, read_articles
from sluice.services.news.storage.keys import LEGACY

_TIMES_OF_CHANGE: Final = ("processedAt", "summaryAt", "sentimentAt", "queuedAt")
_MAX_TIME_MS: Final = 10**13


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The articles in the order of the index: the latest to be processed first."""

    articles: tuple[PublishedArticle, ...]
    changed_at_ms: int
    is_legacy: bool = False

    @property
    def changed_at(self) -> datetime:
        return datetime.fromtimestamp(self.changed_at_ms / 1000, UTC)

    @property
    def sentiment_counts(self) -> dict[str, int]:
        sentiments = [each.article.sentiment for each in self.articles]
        return {name: sentiments.count(name) for name in SENTIMENTS}


async def read_snapshot(kv: KvReader) -> Snapshot:
    """Reads every article in the index; without an index, the articles of the older architecture."""
    index = await ArticleIndex.read(kv)
    if not index.ids:
        return await _read_legacy(kv)
    articles = await read_articles(kv, index.ids)
    return _make_snapshot(articles.values(), index.version)


async def _read_legacy(kv: KvReader) -> Snapshot:
    stored = parse_stored_json(await kv.get_text(LEGACY))
    if not isinstance(stored, dict):
        return _make_snapshot([], 0, is_legacy=True)
    entries = stored.get("articles")
    articles = [_parse_legacy(each) for each in entries] if isinstance(entries, list) else []
    changed = stored.get("lastUpdatedExternal")
    known = [each for each in articles if each is not None]
    return _make_snapshot(known, changed if isinstance(changed, int) else 0, is_legacy=True)


def _parse_legacy(entry: Any) -> Article | None:
    if not isinstance(entry, dict):
        return None
    article_id = entry.get("id") or entry.get("article_id") or entry.get("link")
    return Article.from_json(str(article_id), entry) if article_id else None


def _make_snapshot(articles: Iterable[Article], version: int, *, is_legacy: bool = False) -> Snapshot:
    known = list(articles)
    times = [article.number(name) for article in known for name in _TIMES_OF_CHANGE]
    changed_at_ms = max([version, *times], default=0)
    published = tuple(PublishedArticle.from_article(article) for article in known)
    return Snapshot(published, min(changed_at_ms, _MAX_TIME_MS), is_legacy)
