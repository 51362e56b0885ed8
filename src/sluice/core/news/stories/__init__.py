"""Stories: all publications about one event, told once."""

from collections.abc import Iterable

from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories.story import Story, single_article_story

__all__ = ["Story", "group_into_stories", "single_article_story"]


def group_into_stories(articles: Iterable[PublishedArticle]) -> list[Story]:
    """Returns the stories, newest first. A later article joins an earlier story, so a story keeps its id."""
    # Grouping has many parts, and few requests need it.
    from sluice.core.news.stories import grouping  # noqa: PLC0415 - rare

    return grouping.group_into_stories(articles)
