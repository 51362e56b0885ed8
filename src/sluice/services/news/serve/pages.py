"""One page of a list of stories."""

from collections.abc import Iterable
from dataclasses import dataclass

from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import Story, group_into_stories, single_article_story
from sluice.services.news.serve.cursor import decode_cursor, encode_cursor
from sluice.services.news.serve.query import ListQuery
from sluice.services.news.serve.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class StoryPage:
    """Some stories, the number of all, and the cursor of the next page; None after the last."""

    stories: list[Story]
    total: int
    next_cursor: str | None


def select_page(query: ListQuery, snapshot: Snapshot) -> StoryPage:
    matches = query.filters.select(snapshot.articles)
    if query.duplicates:
        stories = [single_article_story(article) for article in matches]
    else:
        stories = _select_stories(matches, snapshot)
    stories.sort(key=lambda story: story.lead.order, reverse=True)
    after = decode_cursor(query.cursor) if query.cursor is not None else None
    rest = [story for story in stories if after is None or story.lead.order < after]
    page = rest[: query.limit]
    next_cursor = encode_cursor(page[-1].lead.order) if len(rest) > len(page) else None
    return StoryPage(page, len(stories), next_cursor)


def _select_stories(matches: Iterable[PublishedArticle], snapshot: Snapshot) -> list[Story]:
    """Groups before filtering, so that a story is the same for every query; a matching article leads it."""
    ids = {article.id for article in matches}
    stories = (story.with_lead_from(ids) for story in group_into_stories(snapshot.articles))
    return [story for story in stories if story is not None]
