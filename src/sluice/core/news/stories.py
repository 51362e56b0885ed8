"""One story from several sources: the first article to come stands for it, the others are its alternates."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from math import ceil
from typing import Any, Final

from sluice.core.news.analysts.words import content_words
from sluice.services.news.serve.snapshot import Item

_MIN_WORDS: Final = 4  # of a title that says enough to be compared
_MIN_SHARED: Final = 0.6  # of the words of both titles
_WITHIN: Final = timedelta(hours=48)
_DIGIT: Final = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Story:
    """An article, and those that tell the same; the id is that of the first to come."""

    id: str
    first: Item
    alternates: list[Item]
    words: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

    def public(self) -> dict[str, Any]:
        return {**self.first.public(), "storyId": self.id, "alternates": [_alternate(item) for item in self.alternates]}

    def led_by(self, wanted: Collection[str]) -> "Story | None":
        """The same story, told by the first of its articles that is wanted; None if none is."""
        members = [self.first, *self.alternates]
        lead = next((item for item in members if item.id in wanted), None)
        if lead is None:
            return None
        return replace(self, first=lead, alternates=[item for item in members if item is not lead])


def stories_of(items: Iterable[Item]) -> list[Story]:
    """Newest first. Whatever comes later joins what was there, so a story keeps its id."""
    shelf = _Shelf()
    for item in sorted(items, key=lambda each: (each.article.number("queuedAt"), each.order)):
        shelf.add(item)
    return sorted(shelf.stories, key=lambda each: each.first.order, reverse=True)


class _Shelf:
    def __init__(self) -> None:
        self.stories: list[Story] = []
        self._by_url: dict[str, Story] = {}
        self._by_word: dict[str, list[int]] = defaultdict(list)

    def add(self, item: Item) -> None:
        words, numbers = _said(item.article.title)
        story = self._by_url.get(item.url) or self._same(item, words, numbers)
        if story is not None:
            story.alternates.append(item)
        else:
            story = Story(item.id, item, [], words, numbers)
            for word in words:
                self._by_word[word].append(len(self.stories))
            self.stories.append(story)
        self._by_url.setdefault(item.url, story)

    def _same(self, item: Item, words: frozenset[str], numbers: frozenset[str]) -> Story | None:
        if len(words) < _MIN_WORDS:
            return None
        # Who shares enough of the words shares at least one of so many, whichever they are: the rarest find the fewest.
        rarest = sorted(words, key=lambda word: (len(self._by_word.get(word, ())), word))
        telling = rarest[: len(words) - ceil(_MIN_SHARED * len(words)) + 1]
        for at in sorted({at for word in telling for at in self._by_word.get(word, ())}):
            story = self.stories[at]
            alike = len(words & story.words) >= _MIN_SHARED * len(words | story.words)
            # The same words with other figures are other news.
            agree = not numbers or not story.numbers or numbers == story.numbers
            if alike and agree and abs(item.published - story.first.published) <= _WITHIN:
                return story
        return None


def _said(title: str) -> tuple[frozenset[str], frozenset[str]]:
    words = frozenset(content_words(title))
    numbers = frozenset(word for word in words if _DIGIT.search(word))
    return words - numbers, numbers


def _alternate(item: Item) -> dict[str, Any]:
    shown = item.public()
    return {name: shown[name] for name in ("id", "title", "link", "source_name", "pubDate") if name in shown}
