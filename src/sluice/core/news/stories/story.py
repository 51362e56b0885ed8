"""A story: all articles about one event."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from sluice.core.news.published_article import PublishedArticle


@dataclass(frozen=True, slots=True)
class Story:
    """An article and others that tell the same story; the id is that of the first to arrive."""

    id: str
    lead: PublishedArticle
    alternates: list[PublishedArticle]

    def as_json(self) -> dict[str, Any]:
        alternates = [article.as_alternate_json() for article in self.alternates]
        return {**self.lead.as_json(), "storyId": self.id, "alternates": alternates}

    def with_lead_from(self, ids: Collection[str]) -> "Story | None":
        """Returns the story led by the first of its articles that is in `ids`; None if none is."""
        members = [self.lead, *self.alternates]
        lead = next((article for article in members if article.id in ids), None)
        if lead is None:
            return None
        return replace(self, lead=lead, alternates=[article for article in members if article is not lead])


def single_article_story(article: PublishedArticle) -> Story:
    return Story(article.id, article, [])
