"""The topics of the WebSub hub: the three feeds without a query, as they are served."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlsplit

from sluice.core.news.stories import Story
from sluice.services.news.serve.pages import FIRST_PAGE, SelectedStories, select_page
from sluice.services.news.serve.query import ArticleFilters, ListQuery
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.serve.syndication import SyndicationFeed, write_atom, write_json_feed, write_rss

HUB_PATH: Final = "/api/v1/hub"
FEED_FORMATS: Final[dict[str, tuple[str, Callable[[Sequence[Story], SyndicationFeed], bytes]]]] = {
    "rss": ("application/rss+xml; charset=utf-8", write_rss),
    "atom": ("application/atom+xml; charset=utf-8", write_atom),
    "json": ("application/feed+json; charset=utf-8", write_json_feed),
}
_COMPLETE: Final = replace(FIRST_PAGE, filters=ArticleFilters(status="complete"))


def list_topics(home: str) -> list[str]:
    return [f"{home}/api/v1/feed.{name}" for name in FEED_FORMATS]


def select_feed_page(query: ListQuery, snapshot: Snapshot) -> SelectedStories:
    """Return the stories of a feed: complete ones only, the newest first."""
    return select_page(replace(query, filters=replace(query.filters, status="complete"), sort="newest"), snapshot)


def newest_change(page: SelectedStories, snapshot: Snapshot) -> datetime:
    """Return when the newest of these stories changed, so that a feed does not change with articles it does not show."""
    times = [story.lead.article.number(name) for story in page.stories for name in ("processedAt", "changedAt")]
    return datetime.fromtimestamp(max(times) / 1000, UTC) if any(times) else snapshot.changed_at


def write_topic(topic: str, snapshot: Snapshot) -> tuple[str, bytes]:
    """Return the content type and the content of a topic, the same that a reader of the feed gets."""
    parts = urlsplit(topic)
    home = f"{parts.scheme}://{parts.netloc}"
    content_type, write = FEED_FORMATS[parts.path.rpartition(".")[2]]
    page = select_page(_COMPLETE, snapshot)
    next_page = f"{topic}?cursor={page.next_cursor}" if page.next_cursor else None
    feed = SyndicationFeed(
        home=home, address=topic, updated=newest_change(page, snapshot), next_page=next_page, hub=f"{home}{HUB_PATH}"
    )
    return content_type, write(page.stories, feed)


def build_links(topic: str) -> str:
    """Return the Link header that names the hub and the topic itself."""
    parts = urlsplit(topic)
    return f'<{parts.scheme}://{parts.netloc}{HUB_PATH}>; rel="hub", <{topic}>; rel="self"'
