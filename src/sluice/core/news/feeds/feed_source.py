"""An RSS or Atom feed as a source of news."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.news.feeds.feed_parser import ParsedFeed, parse_feed
from sluice.core.news.feeds.normalise import normalise_article
from sluice.core.news.feeds.source import MAX_BYTES, TIMEOUT_S, SourceResult, check_status
from sluice.core.ports import Fetch

MAX_NAME_CHARS: Final = 60  # ten names must fit into KV metadata of 1,024 bytes
_ACCEPT: Final = (("Accept", "application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.8"),)
# Elements that hold each value, without their namespace; the first that is there counts.
_TITLE: Final = ("title",)
_LINK: Final = ("link", "origLink")
_PUBLISHED: Final = ("pubDate", "published", "date", "issued", "updated", "modified")
_TEXT: Final = ("description", "summary", "encoded", "content")


@dataclass(frozen=True, slots=True)
class FeedSource:
    """One feed, named by its address without the query, which may hold a key."""

    fetch: Fetch
    url: str

    @property
    def name(self) -> str:
        parts = urlsplit(self.url)
        return f"feed:{parts.netloc}{parts.path}"[:MAX_NAME_CHARS]

    async def fetch_articles(self, _known: Collection[str], now_ms: int) -> SourceResult:
        try:
            response = await self.fetch(self.url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, headers=_ACCEPT)
            check_status(response, self.url)
            feed = parse_feed(response.body)
        except SluiceError as error:
            return SourceResult((), 0, error)
        articles: dict[str, Article] = {}
        for article in _read_articles(feed, response.url, now_ms):
            articles.setdefault(article.id, article)
        newest_first = sorted(articles.values(), key=lambda each: each.text("pubDate"), reverse=True)
        return SourceResult(tuple(newest_first), 1)


def _read_articles(feed: ParsedFeed, base: str, now_ms: int) -> Iterator[Article]:
    language = feed.channel.get("language", "")[:2].lower()
    host = urlsplit(base).netloc
    for item in feed.items:
        link = _first_member(item, _LINK) or _guid_link(item)
        article = normalise_article(
            native_id=None,
            title=_first_member(item, _TITLE),
            link=urljoin(base, link) if link else None,
            published=_first_member(item, _PUBLISHED),
            queued_at_ms=now_ms,
            description=_first_member(item, _TEXT),
            source_id=host.removeprefix("www."),
            source_name=feed.channel.get("title") or host,
            source_url=f"{urlsplit(base).scheme}://{host}",
            image_url=item.get("image"),
            language=language or None,
        )
        if article is not None:
            yield article


def _first_member(item: dict[str, str], names: tuple[str, ...]) -> str:
    return next((item[name] for name in names if item.get(name)), "")


def _guid_link(item: dict[str, str]) -> str:
    guid = item.get("guid", "")
    return guid if guid.startswith("http") else ""
