"""A story: all articles about one event."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from math import log10
from typing import Annotated, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.news.published_article import Alternate, NewsArticle, PublishedArticle

_FOR_TEN_SOURCES: Final = 0.35


class NewsStory(NewsArticle, TypedDict):
    """The article that leads a story, and the others that tell the same story."""

    storyId: Annotated[str, Doc("The id of the first article of the story.")]
    alternates: list[Alternate]


@dataclass(frozen=True, slots=True)
class Story:
    """An article and others that tell the same story; the id is that of the first to arrive."""

    id: str
    lead: PublishedArticle
    alternates: list[PublishedArticle]

    @property
    def importance(self) -> float:
        """The importance of its most important article, and more for each further source."""
        members = [self.lead, *self.alternates]
        best = max(each.importance for each in members)
        sources = len({each.source for each in members})
        return round(min(1.0, best + _FOR_TEN_SOURCES * log10(sources)), 2)

    def as_json(self) -> NewsStory:
        alternates = [article.as_alternate_json() for article in self.alternates]
        return {**self.lead.as_json(), "importance": self.importance, "storyId": self.id, "alternates": alternates}

    def with_lead_from(self, ids: Collection[str]) -> "Story | None":
        """Return the story led by the first of its articles that is in `ids`; None if none is."""
        members = [self.lead, *self.alternates]
        lead = next((article for article in members if article.id in ids), None)
        if lead is None:
            return None
        return replace(self, lead=lead, alternates=[article for article in members if article is not lead])


def single_article_story(article: PublishedArticle) -> Story:
    return Story(article.id, article, [])
