"""The routes of worker-api."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypedDict
from urllib.parse import urlencode

from sluice.core.errors import NotFound
from sluice.core.news.article import Milliseconds
from sluice.core.news.published_article import NewsArticle
from sluice.core.news.stories import NewsStory
from sluice.core.ports import Clock
from sluice.services.news.http import ARTICLE_ID
from sluice.services.news.http.cache_headers import (
    CACHED,
    MAX_AGE_S,
    PROBLEMS,
    UNCHANGED,
    build_page_reply,
    build_reply,
    with_cache_headers,
)
from sluice.services.news.http.push import find_base_url
from sluice.services.news.push.topics import FEED_FORMATS, HUB_PATH, build_links, newest_change, select_feed_page
from sluice.services.news.serve.pages import StoryPage, select_page
from sluice.services.news.serve.query import LISTING, ListQuery
from sluice.services.news.serve.snapshot import SentimentCounts, Snapshot
from sluice.services.news.serve.stored_snapshot import StoredSnapshot
from sluice.services.news.serve.syndication import SyndicationFeed
from sluice.web import Handler, Reply, Request, Route, apply_conditions, build_problem
from sluice.web.clients import ReadLimit
from sluice.web.operations import LazyHandler, Media, Operation, ReplyDoc, describe
from sluice.web.parameters import PathParameter

EXPOSED_HEADERS: Final = (
    "ETag",
    "Last-Modified",
    "Link",
    "Retry-After",
    "X-Cache-Status",
    "X-Cache-TTL",
    "X-Data-Source",
    "X-Last-Updated",
)
# Answers a request from a snapshot.
SnapshotHandler = Callable[[Request, Snapshot], Reply]


class AllNews(TypedDict):
    articles: list[NewsArticle]
    totalArticles: int
    lastUpdatedExternal: Milliseconds
    sentimentCounts: SentimentCounts


ARTICLE: Final = PathParameter(
    "id", str, {"type": "string", "minLength": 1}, about="The id of an article.", example=ARTICLE_ID
)
GET_ALL_NEWS: Final = Operation(
    "listAllArticles",
    "Every article, the latest to be processed first",
    {200: ReplyDoc("All articles.", AllNews, CACHED), 304: UNCHANGED},
    tag="News",
    problems=PROBLEMS,
)
LIST_ARTICLES: Final = Operation(
    "listArticles",
    "Stories, newest first, page by page",
    {200: ReplyDoc("A page.", StoryPage, {**CACHED, "Link": "The next page."}), 304: UNCHANGED},
    (
        "A cursor stays valid while new articles arrive. Articles about one event are one story. A search (`q`) is ranked by "
        "relevance and recency; `sort=newest` ranks it by time."
    ),
    tag="News",
    query=LISTING,
    problems=PROBLEMS,
)
GET_ARTICLE: Final = Operation(
    "showArticle",
    "One article, and the story it belongs to",
    {200: ReplyDoc("The article.", NewsStory, CACHED), 304: UNCHANGED},
    tag="News",
    path=(ARTICLE,),
    problems=(404, *PROBLEMS),
)


def _describe_feed(name: str, title: str, media_type: str) -> Operation:
    """Describe a feed of complete stories, with the filters of the list."""
    return Operation(
        name,
        f"The stories as {title}",
        {200: ReplyDoc("The feed.", Media(media_type), CACHED), 304: UNCHANGED},
        tag="Feeds",
        query=LISTING,
        problems=(429, *PROBLEMS),
    )


FEEDS: Final = {
    "rss": _describe_feed("readRssFeed", "RSS 2.0", "application/rss+xml"),
    "atom": _describe_feed("readAtomFeed", "Atom", "application/atom+xml"),
    "json": _describe_feed("readJsonFeed", "JSON Feed 1.1", "application/feed+json"),
}


@dataclass(frozen=True, slots=True)
class NewsApi:
    """Answers each request from one snapshot; `public_url` replaces the address of the request in links, if set.

    Without it a feed, whose links must be whole, names the host of its request and so is not shared; but it is limited.
    """

    snapshots: StoredSnapshot
    clock: Clock
    reads: ReadLimit
    public_url: str = ""

    def routes(self) -> list[Route]:
        return [
            Route("GET", "/api/v1/articles", self._list_articles),
            Route("GET", "/api/bitcoin-news", self._serve(GET_ALL_NEWS, _get_all_news)),
            Route("GET", "/api/v1/articles/:id", self._serve(GET_ARTICLE, _get_article)),
            Route("GET", "/api/v1/sentiment", LazyHandler(self._find_sentiment)),
            Route("GET", "/api/v1/trending", LazyHandler(self._find_trending)),
            *(Route("GET", f"/api/v1/feed.{name}", self._serve_feed(name)) for name in FEEDS),
        ]

    def _serve(self, operation: Operation, answer: SnapshotHandler) -> Handler:
        @describe(operation)
        async def handle(request: Request) -> Reply:
            snapshot = await self.snapshots.read()
            if not snapshot.articles:
                detail = "there are no articles yet: the updater has found none, or the processor has not started"
                return build_problem(503, "No news yet", detail, instance=request.path, headers={"Retry-After": "60"})
            return apply_conditions(request, answer(request, snapshot))

        return handle

    @describe(LIST_ARTICLES)
    async def _list_articles(self, request: Request) -> Reply:
        """Return the first page as it is stored, and any other from the snapshot."""
        stored = None if request.query else await self.snapshots.read_first_page()
        if stored is None:
            return await self._serve(LIST_ARTICLES, self._select_articles)(request)
        return apply_conditions(request, self._link_next(request, build_page_reply(stored), stored.next_cursor))

    def _select_articles(self, request: Request, snapshot: Snapshot) -> Reply:
        page = select_page(ListQuery.read(request), snapshot)
        return self._link_next(request, build_reply(page.as_json(snapshot), snapshot), page.next_cursor)

    def _link_next(self, request: Request, reply: Reply, cursor: str | None) -> Reply:
        next_page = self._next_page(request, cursor, self.public_url.rstrip("/"))
        return reply.with_header("Link", f'<{next_page}>; rel="next"') if next_page else reply

    def _find_sentiment(self) -> Handler:
        from sluice.services.news.http.trends import COUNT_SENTIMENT, count_sentiment  # noqa: PLC0415 - rare

        return self._serve(COUNT_SENTIMENT, count_sentiment)

    def _find_trending(self) -> Handler:
        from sluice.services.news.http.trends import LIST_TRENDING, list_trending  # noqa: PLC0415 - rare

        return self._serve(LIST_TRENDING, lambda request, snapshot: list_trending(request, snapshot, self.clock.now()))

    def _serve_feed(self, name: str) -> Handler:
        content_type, write = FEED_FORMATS[name]

        def answer(request: Request, snapshot: Snapshot) -> Reply:
            page = select_feed_page(ListQuery.read(request), snapshot)
            home = find_base_url(request, self.public_url)
            topic = f"{home}{request.path}"
            feed = SyndicationFeed(
                home=home,
                address=f"{topic}{_query_text(request)}",
                updated=newest_change(page, snapshot),
                next_page=self._next_page(request, page.next_cursor, home),
                hub=None if request.query else f"{home}{HUB_PATH}",
            )
            reply = Reply(200, (("Content-Type", content_type),), write(page.stories, feed))
            linked = reply if request.query else reply.with_header("Link", build_links(topic))
            return with_cache_headers(linked, snapshot, is_shared=bool(self.public_url))

        return describe(FEEDS[name])(self.reads.limit(self._serve(FEEDS[name], answer)))

    def _next_page(self, request: Request, cursor: str | None, home: str) -> str | None:
        """Return the address of the next page; without a `home` it is relative to that of the request."""
        if cursor is None:
            return None
        pairs = [(name, value) for name, values in request.query.items() if name != "cursor" for value in values]
        return f"{home}{request.path}?{urlencode([*pairs, ('cursor', cursor)])}"


def _get_all_news(_request: Request, snapshot: Snapshot) -> Reply:
    """Return every article, the latest to be processed first, in the format of the oldest clients."""
    body: AllNews = {
        "articles": [article.as_json() for article in snapshot.articles],
        "totalArticles": len(snapshot.articles),
        "lastUpdatedExternal": snapshot.changed_at_ms,
        "sentimentCounts": snapshot.sentiment_counts,
    }
    reply = build_reply(body, snapshot)
    headers = {
        "X-Cache-Status": "KV-LEGACY" if snapshot.is_legacy else "KV",
        "X-Data-Source": "Cloudflare KV",
        "X-Last-Updated": snapshot.changed_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "X-Cache-TTL": str(MAX_AGE_S),
    }
    for name, value in headers.items():
        reply = reply.with_header(name, value)
    return reply


def _get_article(request: Request, snapshot: Snapshot) -> Reply:
    article_id = ARTICLE.read(request)
    for story in snapshot.stories:
        if match := story.with_lead_from({article_id}):
            return build_reply(match.as_json(), snapshot)
    raise NotFound(f"no article has the id {article_id!r}")


def _query_text(request: Request) -> str:
    pairs = [(name, value) for name, values in request.query.items() for value in values]
    return f"?{urlencode(pairs)}" if pairs else ""
