"""One page of a list of stories."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.news.article import Milliseconds
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import NewsStory, Story, single_article_story
from sluice.services.news.serve.cursor import decode_cursor, encode_cursor
from sluice.services.news.serve.query import DEFAULT_LIMIT, ArticleFilters, ListQuery
from sluice.services.news.serve.search import rank
from sluice.services.news.serve.snapshot import SentimentCounts, Snapshot

# What a request without a query asks for.
FIRST_PAGE: Final = ListQuery(filters=ArticleFilters(), limit=DEFAULT_LIMIT, cursor=None, duplicates=False)


class StoryPage(TypedDict):
    articles: list[NewsStory]
    total: Annotated[int, Doc("The number of stories on all pages.")]
    next: Annotated[str, Doc("The `cursor` of the next page.")] | None
    sentimentCounts: SentimentCounts
    changedAt: Annotated[Milliseconds, Doc("The next `changed_after` of a client that polls.")]


@dataclass(frozen=True, slots=True)
class SelectedStories:
    """Some stories, the number of all, and the cursor of the next page; None after the last."""

    stories: list[Story]
    total: int
    next_cursor: str | None

    def as_json(self, snapshot: Snapshot) -> StoryPage:
        return {
            "articles": [story.as_json() for story in self.stories],
            "total": self.total,
            "next": self.next_cursor,
            "sentimentCounts": snapshot.sentiment_counts,
            "changedAt": snapshot.changed_at_ms,
        }


def first_page_body(snapshot: Snapshot) -> tuple[bytes, str | None]:
    """Return the first page as it is sent, and the cursor of the next."""
    page = select_page(FIRST_PAGE, snapshot)
    return encode_utf8(encode_json(page.as_json(snapshot))), page.next_cursor


def select_page(query: ListQuery, snapshot: Snapshot) -> SelectedStories:
    matches = query.filters.select(snapshot.articles)
    if query.duplicates:
        stories = [single_article_story(article) for article in matches]
    else:
        stories = _select_stories(matches, snapshot)
    if query.min_importance:
        stories = [story for story in stories if story.importance >= query.min_importance]
    find_place = _choose_order(query)
    placed = sorted(((find_place(story), story) for story in stories), key=lambda each: each[0], reverse=True)
    after = decode_cursor(query.cursor) if query.cursor is not None else None
    rest = [(place, story) for place, story in placed if after is None or place < after]
    page = rest[: query.limit]
    next_cursor = encode_cursor(page[-1][0]) if len(rest) > len(page) else None
    return SelectedStories([story for _, story in page], len(stories), next_cursor)


def _choose_order(query: ListQuery) -> Callable[[Story], tuple[str, str]]:
    """Return what gives a story its place: its rank in a search, or its time."""
    search = query.filters.search
    if search is None or query.sort == "newest":
        return lambda story: story.lead.order
    return lambda story: (f"{rank(search.weigh(story.lead) or 1.0, story.lead):012.6f}", story.lead.id)


def _select_stories(matches: Iterable[PublishedArticle], snapshot: Snapshot) -> list[Story]:
    """Return the stories that match. They are the same for every query; a matching article leads each."""
    ids = {article.id for article in matches}
    stories = (story.with_lead_from(ids) for story in snapshot.stories)
    return [story for story in stories if story is not None]
