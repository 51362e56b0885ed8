"""All articles that are served, grouped into stories, as one stored value."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Final, Self, TypedDict

from sluice.core.json_text import encode_json
from sluice.core.news.article import Article
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import GroupIntoStories, Story, group_into_stories

_TIMES_OF_CHANGE: Final = ("processedAt", "summaryAt", "sentimentAt", "queuedAt")
_MAX_TIME_MS: Final = 10**13


class SentimentCounts(TypedDict):
    """How many stories have each sentiment; unknown is a language that the analyst does not know."""

    positive: int
    negative: int
    neutral: int
    unknown: int


@dataclass(frozen=True)
class Snapshot:
    """The articles in the order of the index, the latest to be processed first; the stories newest first."""

    articles: tuple[PublishedArticle, ...]
    stories: tuple[Story, ...]
    changed_at_ms: int
    version: int = 0
    is_legacy: bool = False

    @classmethod
    def build(
        cls,
        articles: Iterable[Article],
        *,
        changed_at_ms: int = 0,
        version: int = 0,
        is_legacy: bool = False,
        group: GroupIntoStories = group_into_stories,
    ) -> Self:
        """Group the articles into stories; the data is at least as new as any of its articles says."""
        published = tuple(PublishedArticle.from_article(article) for article in articles)
        times = [each.article.number(name) for each in published for name in _TIMES_OF_CHANGE]
        newest_ms = min(max([changed_at_ms, *times]), _MAX_TIME_MS)
        return cls(published, tuple(group(published)), newest_ms, version, is_legacy)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a snapshot that `encode` wrote."""
        stored = json.loads(text)
        articles = tuple(PublishedArticle.from_article(Article(data)) for data in stored["articles"])
        stories = tuple(_parse_story(each, articles) for each in stored["stories"])
        return cls(articles, stories, stored["changedAt"], stored["version"], stored["isLegacy"])

    def encode(self) -> str:
        places = {article.id: place for place, article in enumerate(self.articles)}
        return encode_json(
            {
                "version": self.version,
                "changedAt": self.changed_at_ms,
                "isLegacy": self.is_legacy,
                "articles": [article.as_json() for article in self.articles],
                "stories": [[story.id, [places[each.id] for each in _members(story)]] for story in self.stories],
            }
        )

    @property
    def changed_at(self) -> datetime:
        return datetime.fromtimestamp(self.changed_at_ms / 1000, UTC)

    @cached_property
    def sentiment_counts(self) -> SentimentCounts:
        """How many stories there are of each sentiment, which is that of the article that leads a story."""
        counts: SentimentCounts = {"positive": 0, "negative": 0, "neutral": 0, "unknown": 0}
        for story in self.stories:
            if sentiment := story.lead.article.sentiment:
                counts[sentiment] += 1
        return counts


def _members(story: Story) -> list[PublishedArticle]:
    return [story.lead, *story.alternates]


def _parse_story(stored: tuple[str, Sequence[int]], articles: Sequence[PublishedArticle]) -> Story:
    story_id, places = stored
    lead, *alternates = (articles[place] for place in places)
    return Story(story_id, lead, alternates)
