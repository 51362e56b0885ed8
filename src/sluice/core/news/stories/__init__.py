"""Stories: all publications about one event, told once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories.story import NewsStory, Story, single_article_story

if TYPE_CHECKING:
    from sluice.core.news.stories.comparisons import Comparisons

__all__ = ["GroupIntoStories", "NewsStory", "Story", "StoryGrouper", "group_into_stories", "single_article_story"]

GroupIntoStories = Callable[[Iterable[PublishedArticle]], list[Story]]


def group_into_stories(articles: Iterable[PublishedArticle]) -> list[Story]:
    """Return the stories, newest first. A later article joins an earlier story, so a story keeps its id."""
    return StoryGrouper().group(articles)


class StoryGrouper:
    """Groups articles into stories each time they change; two that were compared the last time are not compared again."""

    def __init__(self) -> None:
        self._comparisons: Comparisons | None = None

    def group(self, articles: Iterable[PublishedArticle]) -> list[Story]:
        # Grouping has many parts, and few requests need it.
        from sluice.core.news.stories import comparisons, grouping  # noqa: PLC0415 - rare

        self._comparisons = self._comparisons or comparisons.Comparisons()
        return grouping.group_into_stories(articles, self._comparisons)
