"""The routes of worker-api."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from sluice.core.errors import NotFound
from sluice.core.news.stories import group_into_stories
from sluice.core.ports import Clock
from sluice.services.news.http.cache_headers import MAX_AGE_S, build_page_reply, with_cache_headers
from sluice.services.news.http.push import find_home
from sluice.services.news.push.topics import FEED_FORMATS, HUB_PATH, build_links, newest_change, select_feed_page
from sluice.services.news.serve.pages import select_page
from sluice.services.news.serve.query import read_bucket_query, read_list_query, read_trend_query
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.serve.stored_snapshot import StoredSnapshot
from sluice.services.news.serve.syndication import SyndicationFeed
from sluice.web import Reply, Request, Route, apply_conditions, build_problem

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
_TREND_STEP_S: Final = 600  # within this time the same query has the same reply
# Answers a request from a snapshot.
SnapshotHandler = Callable[[Request, Snapshot], Reply]


@dataclass(frozen=True, slots=True)
class NewsApi:
    """Answers each request from one snapshot; `public_url` replaces the address of the request in links, if set."""

    snapshots: StoredSnapshot
    clock: Clock
    public_url: str = ""

    def routes(self) -> list[Route]:
        table: list[tuple[str, SnapshotHandler]] = [
            ("/api/bitcoin-news", self._get_all_news),
            ("/api/v1/articles/:id", self._get_article),
            ("/api/v1/sentiment", self._get_sentiment),
            ("/api/v1/trending", self._get_trending),
            ("/api/v1/feed.rss", self._feed_handler("rss")),
            ("/api/v1/feed.atom", self._feed_handler("atom")),
            ("/api/v1/feed.json", self._feed_handler("json")),
        ]
        articles = Route("GET", "/api/v1/articles", self._list_articles)
        return [articles, *(Route("GET", path, self._with_snapshot(handler)) for path, handler in table)]

    def _with_snapshot(self, handler: SnapshotHandler) -> Callable[[Request], Awaitable[Reply]]:
        async def handle(request: Request) -> Reply:
            snapshot = await self.snapshots.read()
            if not snapshot.articles:
                detail = "there are no articles yet: the updater has found none, or the processor has not started"
                return build_problem(503, "No news yet", detail, instance=request.path, headers={"Retry-After": "60"})
            return apply_conditions(request, handler(request, snapshot))

        return handle

    def _get_all_news(self, _request: Request, snapshot: Snapshot) -> Reply:
        """Returns every article, the latest to be processed first, in the format of the oldest clients."""
        body = {
            "articles": [article.as_json() for article in snapshot.articles],
            "totalArticles": len(snapshot.articles),
            "lastUpdatedExternal": snapshot.changed_at_ms,
            "sentimentCounts": snapshot.sentiment_counts,
        }
        reply = _json_reply(body, snapshot)
        headers = {
            "X-Cache-Status": "KV-LEGACY" if snapshot.is_legacy else "KV",
            "X-Data-Source": "Cloudflare KV",
            "X-Last-Updated": snapshot.changed_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "X-Cache-TTL": str(MAX_AGE_S),
        }
        for name, value in headers.items():
            reply = reply.with_header(name, value)
        return reply

    async def _list_articles(self, request: Request) -> Reply:
        """Returns the first page as it is stored, and any other from the snapshot."""
        stored = None if request.query else await self.snapshots.read_first_page()
        if stored is None:
            return await self._with_snapshot(self._select_articles)(request)
        return apply_conditions(request, self._link_next(request, build_page_reply(stored), stored.next_cursor))

    def _select_articles(self, request: Request, snapshot: Snapshot) -> Reply:
        page = select_page(read_list_query(request), snapshot)
        return self._link_next(request, _json_reply(page.as_json(snapshot), snapshot), page.next_cursor)

    def _link_next(self, request: Request, reply: Reply, cursor: str | None) -> Reply:
        next_page = self._next_page(request, cursor)
        return reply.with_header("Link", f'<{next_page}>; rel="next"') if next_page else reply

    def _get_article(self, request: Request, snapshot: Snapshot) -> Reply:
        article_id = request.params["id"]
        for story in snapshot.stories:
            if match := story.with_lead_from({article_id}):
                return _json_reply(match.as_json(), snapshot)
        raise NotFound(f"no article has the id {article_id!r}")

    def _get_sentiment(self, request: Request, snapshot: Snapshot) -> Reply:
        from sluice.services.news.serve.trends import count_by_time  # noqa: PLC0415 - rare

        query = read_bucket_query(request)
        ids = {article.id for article in query.filters.select(snapshot.articles)}
        # A story counts once, for the first of its articles that matches.
        leads = [match.lead for story in snapshot.stories if (match := story.with_lead_from(ids))]
        buckets = count_by_time(leads, query.bucket)
        return _json_reply({"bucket": query.bucket, "total": len(leads), "buckets": buckets}, snapshot)

    def _get_trending(self, request: Request, snapshot: Snapshot) -> Reply:
        from sluice.services.news.serve.trends import rank_terms  # noqa: PLC0415 - rare

        query = read_trend_query(request)
        now_s = int(self.clock.now())
        now = datetime.fromtimestamp(now_s - now_s % _TREND_STEP_S, UTC)
        stories = group_into_stories(query.filters.select(snapshot.articles))
        terms = rank_terms(stories, now=now, hours=query.hours, limit=query.limit)
        # The reply changes with the clock as well as with the data, so the time of the data would mislead.
        return _json_reply({"hours": query.hours, "terms": terms}, None)

    def _feed_handler(self, name: str) -> SnapshotHandler:
        content_type, write = FEED_FORMATS[name]

        def handle(request: Request, snapshot: Snapshot) -> Reply:
            page = select_feed_page(read_list_query(request), snapshot)
            home = find_home(request, self.public_url)
            topic = f"{home}{request.path}"
            feed = SyndicationFeed(
                home=home,
                address=f"{topic}{_query_text(request)}",
                updated=newest_change(page, snapshot),
                next_page=self._next_page(request, page.next_cursor),
                hub=None if request.query else f"{home}{HUB_PATH}",
            )
            reply = Reply(200, (("Content-Type", content_type),), write(page.stories, feed))
            linked = reply if request.query else reply.with_header("Link", build_links(topic))
            return with_cache_headers(linked, snapshot)

        return handle

    def _next_page(self, request: Request, cursor: str | None) -> str | None:
        if cursor is None:
            return None
        pairs = [(name, value) for name, values in request.query.items() if name != "cursor" for value in values]
        return f"{find_home(request, self.public_url)}{request.path}?{urlencode([*pairs, ('cursor', cursor)])}"


def _json_reply(body: dict[str, Any], snapshot: Snapshot | None) -> Reply:
    return with_cache_headers(Reply.json(body), snapshot)


def _query_text(request: Request) -> str:
    pairs = [(name, value) for name, values in request.query.items() for value in values]
    return f"?{urlencode(pairs)}" if pairs else ""
