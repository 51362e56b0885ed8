"""Groups articles into stories: the first article to arrive gives a story its id, the best one leads it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories.comparisons import ComparedArticle, Comparisons
from sluice.core.news.stories.numbers import LARGE_COUNT, Number
from sluice.core.news.stories.same_story import ArticleFacts, is_vetoed
from sluice.core.news.stories.story import Story

_MAX_CANDIDATES: Final = 60  # stories that an article is compared with; those that share the rarest words come first
_MAX_COMPARED: Final = 5  # members of a story that a new one is compared with


def group_into_stories(articles: Iterable[PublishedArticle], comparisons: Comparisons) -> list[Story]:
    """Return the stories, newest first. A later article joins an earlier story, so a story keeps its id."""
    comparisons.begin()
    grouping = _Grouping(comparisons)
    for article in sorted(articles, key=lambda each: (each.article.number("queuedAt"), each.order)):
        grouping.add(article)
    stories = [_build_story(group.members) for group in grouping.groups]
    return sorted(stories, key=lambda story: story.lead.order, reverse=True)


def _build_story(members: list[PublishedArticle]) -> Story:
    """Build the story. Its best member leads it: one with a summary before one without, then the first to arrive."""
    lead = max(members, key=lambda each: (bool(each.article.text("aiSummary")), -members.index(each)))
    return Story(members[0].id, lead, [article for article in members if article is not lead])


@dataclass(slots=True)
class _Group:
    members: list[PublishedArticle] = field(default_factory=list)
    compared: list[ComparedArticle] = field(default_factory=list)


class _Grouping:
    def __init__(self, comparisons: Comparisons) -> None:
        self.groups: list[_Group] = []
        self._comparisons = comparisons
        self._by_url: dict[str, _Group] = {}
        self._by_clue: dict[str, list[int]] = defaultdict(list)

    def add(self, article: PublishedArticle) -> None:
        compared = self._comparisons.read(article)
        group = self._by_url.get(article.url) or self._find_group(compared)
        if group is None:
            group = self._start_group(compared.facts)
        group.members.append(article)
        group.compared.append(compared)
        self._by_url.setdefault(article.url, group)

    def _start_group(self, facts: ArticleFacts) -> _Group:
        group = _Group()
        for clue in _clues(facts):
            self._by_clue[clue].append(len(self.groups))
        self.groups.append(group)
        return group

    def _find_group(self, article: ComparedArticle) -> _Group | None:
        groups = (self.groups[place] for place in sorted(self._list_candidates(article.facts)))
        return next((group for group in groups if self._is_fitting(group, article)), None)

    def _is_fitting(self, group: _Group, article: ComparedArticle) -> bool:
        """Return whether an article tells the story of one member, and contradicts none."""
        compared = group.compared[:_MAX_COMPARED]
        return any(self._comparisons.is_same_story(article, each) for each in compared) and not any(
            is_vetoed(article.facts, each.facts) for each in compared
        )

    def _list_candidates(self, facts: ArticleFacts) -> dict[int, None]:
        """Return the newest stories for each clue, up to a limit, so that alike titles do not cost more and more."""
        candidates: dict[int, None] = {}
        for clue in sorted(_clues(facts), key=lambda clue: (len(self._by_clue.get(clue, ())), clue)):
            for place in reversed(self._by_clue.get(clue, ())):
                if len(candidates) >= _MAX_CANDIDATES:
                    return candidates
                candidates[place] = None
        return candidates


def _clues(facts: ArticleFacts) -> set[str]:
    """Return the clues of an article; two articles of one story share at least one of them."""
    texts = (facts.title, facts.text) if facts.text else (facts.title,)
    numbers = {_number_clue(number) for text in texts for number in text.numbers}
    names = {name for text in texts for name in text.names}
    return {*facts.title.stems, *facts.title.measures, *names, *numbers}


def _number_clue(number: Number) -> str:
    # A large number may stand without its sign: "the 130K mark".
    kind = "money" if number.type == "count" and number.value >= LARGE_COUNT else number.type
    return f"{kind} {number.value:.2g}"
