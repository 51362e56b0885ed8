"""The routes of worker-api."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import urlencode

from sluice.core.errors import NotFound
from sluice.core.news.stories import Story, stories_of
from sluice.core.ports import Clock, KvReader
from sluice.services.news.http import api_docs as docs
from sluice.services.news.serve import cursor as cursors
from sluice.services.news.serve.query import BucketQuery, ListQuery, TrendQuery
from sluice.services.news.serve.snapshot import Item, Snapshot, read_snapshot
from sluice.services.news.serve.syndication import Feed, atom, json_feed, rss
from sluice.services.news.serve.trends import buckets, trending
from sluice.web import Doc, ETag, Reply, Request, Route, conditional, format_http_date, problem, query_model

MAX_AGE_S: Final = 60
STALE_S: Final = 300
EXPOSED: Final = (
    "ETag",
    "Last-Modified",
    "Link",
    "Retry-After",
    "X-Cache-Status",
    "X-Cache-TTL",
    "X-Data-Source",
    "X-Last-Updated",
)
_TREND_STEP_S: Final = 600  # within it, the same question has the same answer
_FEEDS: Final[dict[str, tuple[str, Callable[[Sequence[Story], Feed], bytes]]]] = {
    "rss": ("application/rss+xml; charset=utf-8", rss),
    "atom": ("application/atom+xml; charset=utf-8", atom),
    "json": ("application/feed+json; charset=utf-8", json_feed),
}


@dataclass(frozen=True, slots=True)
class Api:
    """Answers from one snapshot of the store each; `public_url` is how the world calls this Worker, if not as asked."""

    store: KvReader
    clock: Clock
    public_url: str = ""

    def routes(self) -> list[Route]:
        table: list[tuple[str, Callable[[Request, Snapshot], Reply], Doc]] = [
            ("/api/bitcoin-news", self._bitcoin_news, docs.ALL_NEWS),
            ("/api/v1/articles", self._articles, docs.ARTICLES),
            ("/api/v1/articles/:id", self._article, docs.ARTICLE),
            ("/api/v1/sentiment", self._sentiment, docs.SENTIMENT),
            ("/api/v1/trending", self._trending, docs.TRENDING),
            ("/api/v1/feed.rss", self._feed("rss"), docs.feed_doc("RSS 2.0", "application/rss+xml")),
            ("/api/v1/feed.atom", self._feed("atom"), docs.feed_doc("Atom", "application/atom+xml")),
            ("/api/v1/feed.json", self._feed("json"), docs.feed_doc("JSON Feed 1.1", "application/feed+json")),
        ]
        return [Route("GET", path, self._answering(answer), doc=doc) for path, answer, doc in table]

    def _answering(self, answer: Callable[[Request, Snapshot], Reply]) -> Callable[[Request], Awaitable[Reply]]:
        async def handle(request: Request) -> Reply:
            snapshot = await read_snapshot(self.store)
            if not snapshot.items:
                detail = "there are no articles yet: the updater has found none, or the processor has not begun"
                return problem(503, "No news yet", detail, instance=request.path, headers={"Retry-After": "60"})
            return conditional(request, answer(request, snapshot))

        return handle

    def _bitcoin_news(self, _request: Request, snapshot: Snapshot) -> Reply:
        """As it always was: every article, the latest to be processed first."""
        body = {
            "articles": [item.public() for item in snapshot.items],
            "totalArticles": len(snapshot.items),
            "lastUpdatedExternal": snapshot.changed_at_ms,
            "sentimentCounts": snapshot.sentiment_counts,
        }
        reply = _json(body, snapshot)
        told = {
            "X-Cache-Status": "KV-LEGACY" if snapshot.is_legacy else "KV",
            "X-Data-Source": "Cloudflare KV",
            "X-Last-Updated": snapshot.changed_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "X-Cache-TTL": str(MAX_AGE_S),
        }
        for name, value in told.items():
            reply = reply.with_header(name, value)
        return reply

    def _articles(self, request: Request, snapshot: Snapshot) -> Reply:
        query = query_model(request, ListQuery)
        page, total, following = _paged(query, snapshot)
        address = self._next_address(request, following)
        body = {
            "articles": [story.public() for story in page],
            "total": total,
            "next": following,
            "sentimentCounts": snapshot.sentiment_counts,
        }
        reply = _json(body, snapshot)
        return reply.with_header("Link", f'<{address}>; rel="next"') if address else reply

    def _article(self, request: Request, snapshot: Snapshot) -> Reply:
        wanted = request.params["id"]
        for story in stories_of(snapshot.items):
            if found := story.led_by({wanted}):
                return _json(found.public(), snapshot)
        raise NotFound(f"no article has the id {wanted!r}")

    def _sentiment(self, request: Request, snapshot: Snapshot) -> Reply:
        query = query_model(request, BucketQuery)
        found = query.matching(snapshot.items)
        return _json({"bucket": query.bucket, "total": len(found), "buckets": buckets(found, query.bucket)}, snapshot)

    def _trending(self, request: Request, snapshot: Snapshot) -> Reply:
        query = query_model(request, TrendQuery)
        now_s = int(self.clock.now())
        now = datetime.fromtimestamp(now_s - now_s % _TREND_STEP_S, UTC)
        stories = stories_of(query.matching(snapshot.items))
        terms = trending(stories, now=now, hours=query.hours, limit=query.limit)
        # By the clock as well as by the data, so the data's time would mislead.
        return _json({"hours": query.hours, "terms": terms}, None)

    def _feed(self, name: str) -> Callable[[Request, Snapshot], Reply]:
        content_type, write = _FEEDS[name]

        def answer(request: Request, snapshot: Snapshot) -> Reply:
            query = query_model(request, ListQuery)
            complete = query.model_copy(update={"status": "complete"})
            page, _, following = _paged(complete, snapshot)
            home = self._home(request)
            feed = Feed(
                home=home,
                address=f"{home}{request.path}{_query_text(request)}",
                updated=snapshot.changed_at,
                following=self._next_address(request, following),
            )
            return _dated(Reply(200, (("Content-Type", content_type),), write(page, feed)), snapshot)

        return answer

    def _home(self, request: Request) -> str:
        scheme, _, rest = request.url.partition("://")
        return self.public_url.rstrip("/") or f"{scheme}://{rest.partition('/')[0]}"

    def _next_address(self, request: Request, following: str | None) -> str | None:
        if following is None:
            return None
        pairs = [(name, value) for name, values in request.query.items() if name != "cursor" for value in values]
        return f"{self._home(request)}{request.path}?{urlencode([*pairs, ('cursor', following)])}"


def _paged(query: ListQuery, snapshot: Snapshot) -> tuple[list[Story], int, str | None]:
    """One page, how many there are in all, and where the next page begins."""
    found = query.matching(snapshot.items)
    stories = [_alone(item) for item in found] if query.duplicates else _grouped(found, snapshot)
    stories.sort(key=lambda story: story.first.order, reverse=True)
    after = cursors.decoded(query.cursor) if query.cursor is not None else None
    rest = [story for story in stories if after is None or story.first.order < after]
    page = rest[: query.limit]
    return page, len(stories), cursors.encoded(page[-1].first.order) if len(rest) > len(page) else None


def _grouped(found: list[Item], snapshot: Snapshot) -> list[Story]:
    """Grouped before they are filtered, so that a story is the same whatever is asked; one that fits stands for it."""
    wanted = {item.id for item in found}
    shown = (story.led_by(wanted) for story in stories_of(snapshot.items))
    return [story for story in shown if story is not None]


def _alone(item: Item) -> Story:
    return Story(item.id, item, [])


def _json(body: dict[str, Any], snapshot: Snapshot | None) -> Reply:
    return _dated(Reply.json(body), snapshot)


def _dated(reply: Reply, snapshot: Snapshot | None) -> Reply:
    """With what a cache needs: how long, and the version and time of the data."""
    content = reply.body if isinstance(reply.body, bytes) else b""
    reply = reply.with_header("Cache-Control", f"public, max-age={MAX_AGE_S}, stale-while-revalidate={STALE_S}")
    reply = reply.with_header("ETag", str(ETag.of(content)))
    return reply.with_header("Last-Modified", format_http_date(snapshot.changed_at)) if snapshot else reply


def _query_text(request: Request) -> str:
    pairs = [(name, value) for name, values in request.query.items() for value in values]
    return f"?{urlencode(pairs)}" if pairs else ""
