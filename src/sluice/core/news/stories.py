"""Groups articles into stories: the first article to arrive gives a story its id, the others are its alternates."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sluice.core.news.near_duplicates import TitleWords, is_close_in_time, is_near_duplicate
from sluice.core.news.published_article import PublishedArticle


@dataclass(frozen=True, slots=True)
class Story:
    """An article and others that tell the same story; the id is that of the first to arrive."""

    id: str
    lead: PublishedArticle
    alternates: list[PublishedArticle]
    title: TitleWords = field(default_factory=TitleWords)

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


def group_into_stories(articles: Iterable[PublishedArticle]) -> list[Story]:
    """Returns the stories, newest first. A later article joins an earlier story, so a story keeps its id."""
    grouping = _Grouping()
    for article in sorted(articles, key=lambda each: (each.article.number("queuedAt"), each.order)):
        grouping.add(article)
    return sorted(grouping.stories, key=lambda story: story.lead.order, reverse=True)


class _Grouping:
    def __init__(self) -> None:
        self.stories: list[Story] = []
        self._by_url: dict[str, Story] = {}
        self._by_word: dict[str, list[int]] = defaultdict(list)

    def add(self, article: PublishedArticle) -> None:
        title = TitleWords.from_title(article.article.title)
        story = self._by_url.get(article.url) or self._find_near_duplicate(article, title)
        if story is None:
            story = self._start_story(article, title)
        else:
            story.alternates.append(article)
        self._by_url.setdefault(article.url, story)

    def _start_story(self, article: PublishedArticle, title: TitleWords) -> Story:
        story = Story(article.id, article, [], title)
        for word in title.words:
            self._by_word[word].append(len(self.stories))
        self.stories.append(story)
        return story

    def _find_near_duplicate(self, article: PublishedArticle, title: TitleWords) -> Story | None:
        if not title.is_comparable:
            return None
        # A near-duplicate shares at least one of the probed words; the rarest words give the fewest candidates.
        rarest = sorted(title.words, key=lambda word: (len(self._by_word.get(word, ())), word))
        probes = rarest[: title.probe_count]
        for place in sorted({place for word in probes for place in self._by_word.get(word, ())}):
            story = self.stories[place]
            if is_near_duplicate(title, story.title) and is_close_in_time(article.published, story.lead.published):
                return story
        return None
