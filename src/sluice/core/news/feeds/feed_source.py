"""An RSS, Atom or JSON feed as a source of news."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sluice import __version__
from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.news.feeds.news_source import MAX_BYTES, SourceResult, check_status
from sluice.core.news.feeds.normalise import normalise_article
from sluice.core.news.feeds.word_filter import EVERYTHING, WordFilter
from sluice.core.ports import Fetch, FetchResponse

if TYPE_CHECKING:
    from sluice.core.news.reading import FeedDocument, FeedItem

FEED_TIMEOUT_S: Final = 10.0  # with six feeds at a time, ten that hang take 20 s of a run
MAX_ARTICLES: Final = 200  # the newest of one feed; a run reads many feeds
MAX_NAME_CHARS: Final = 60  # ten names must fit into KV metadata of 1,024 bytes
USER_AGENT: Final = f"sluice-news/{__version__}"
_HEADERS: Final = (
    ("Accept", "application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5"),
    ("User-Agent", USER_AGENT),
)


class NotAFeed(SluiceError):
    """The source answered with something that is no feed."""


@dataclass(frozen=True, slots=True)
class FeedSource:
    """One feed, named by its address without the query, which may hold a key."""

    fetch: Fetch
    url: str
    rules: WordFilter = EVERYTHING

    @property
    def name(self) -> str:
        parts = urlsplit(self.url)
        return f"feed:{parts.netloc}{parts.path}"[:MAX_NAME_CHARS]

    async def fetch_articles(self, _known: Collection[str], now_ms: int) -> SourceResult:
        try:
            feed, address = await self._fetch_feed(now_ms)
        except SluiceError as error:
            return SourceResult((), 0, error)
        found = {article.id: article for article in _read_articles(feed, address, now_ms) if self.rules.admits(article)}
        newest_first = sorted(found.values(), key=lambda each: each.text("pubDate"), reverse=True)
        return SourceResult(tuple(newest_first[:MAX_ARTICLES]), 1, warnings=tuple(feed.warnings))

    async def _fetch_feed(self, now_ms: int) -> "tuple[FeedDocument, str]":
        """Read the feed, or the first feed that a page at the address names."""
        response = await self._fetch(self.url)
        feed = read_response(response, now_ms)
        if feed.error is not None and feed.discovered:
            response = await self._fetch(feed.discovered[0])
            feed = read_response(response, now_ms)
        if feed.error is not None:
            raise NotAFeed(f"{self.name}: {feed.error}")
        return feed, response.url

    async def _fetch(self, url: str) -> FetchResponse:
        response = await self.fetch(url, max_bytes=MAX_BYTES, timeout_s=FEED_TIMEOUT_S, headers=_HEADERS)
        check_status(response, url)
        return response


def read_response(response: FetchResponse, now_ms: int) -> "FeedDocument":
    # Loaded with the first feed, so that it does not slow down the start.
    from sluice.core.news.reading import read_feed  # noqa: PLC0415

    now = datetime.fromtimestamp(now_ms / 1000, UTC)
    return read_feed(response.body, content_type=response.header("content-type") or "", url=response.url, now=now)


def _read_articles(feed: "FeedDocument", address: str, now_ms: int) -> Iterator[Article]:
    """Yield the articles; of two with the same id the later one counts, as in Atom."""
    language = feed.language[:2].lower()
    host = urlsplit(address).netloc
    uses: Counter[str] = Counter()
    for item in _oldest_change_first(feed.items):
        uses[item.id] += 1
        article = normalise_article(
            native_id=_identify(item, host, is_repeated=uses[item.id] > 1),
            title=item.title,
            link=item.link,
            published=item.written_time,
            queued_at_ms=now_ms,
            description=item.summary or item.content,
            source_id=host.removeprefix("www."),
            source_name=feed.title or host,
            source_url=f"{urlsplit(address).scheme}://{host}",
            image_url=item.image or None,
            language=language or None,
            author=item.author or None,
            category=item.categories,
        )
        if article is not None:
            yield article


def _oldest_change_first(items: "list[FeedItem]") -> "list[FeedItem]":
    return sorted(items, key=lambda item: item.updated) if all(item.updated for item in items) else items


def _identify(item: "FeedItem", host: str, *, is_repeated: bool) -> str | None:
    """Return an id made of the feed's own id; None where the link says as much.

    An id that one feed uses for several items is told apart by their links.
    """
    if not item.id or item.id == item.link:
        return None
    return sha256("\n".join((host, item.id, *([item.link] if is_repeated else ()))).encode()).hexdigest()[:32]
