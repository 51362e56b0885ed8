"""What the sources list in one run, and what of it is known from earlier ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from sluice.core.news.article import Article, Marks
from sluice.core.news.checkpoint import Checkpoint
from sluice.core.news.feeds.merging import ListedArticle, Merge
from sluice.core.news.feeds.same_article import Fingerprint, KnownArticles, list_fingerprints
from sluice.core.news.pending_list import PendingEntry
from sluice.services.news.collect.fetch_all import SourceResults


@dataclass(frozen=True, slots=True)
class SeenArticles:
    """What must not be added again: what is pending or in the checkpoint, and what the state object remembers."""

    fingerprints: tuple[Fingerprint, ...]
    ids: frozenset[str]

    @classmethod
    def collect(cls, entries: Iterable[PendingEntry], checkpoint: Checkpoint, remembered: Iterable[Marks]) -> Self:
        current = [checkpoint.current] if checkpoint.current else []
        waiting = [entry.article for entry in checkpoint.try_later]
        pending = [entry.article for entry in entries]
        fingerprints = tuple(Fingerprint.from_json(each) for each in remembered)
        known = (*fingerprints, *(Fingerprint.of(each) for each in (*current, *waiting, *pending)))
        return cls(known, frozenset(checkpoint.known_ids | {each.id for each in known}))


@dataclass(frozen=True, slots=True)
class SourceListing:
    """The articles of each source, by its name, with what they are known by."""

    by_source: Sequence[tuple[str, Sequence[ListedArticle]]]
    now_ms: int

    @classmethod
    def read(cls, results: SourceResults, now_ms: int) -> Self:
        return cls([(name, _mark(result.articles, now_ms)) for name, result in results], now_ms)

    def newest_first(self) -> list[ListedArticle]:
        every = [each for _, articles in self.by_source for each in articles]
        return sorted(every, key=lambda each: each.article.text("pubDate"), reverse=True)

    def build_known(self, seen: SeenArticles) -> KnownArticles:
        listed = [each.fingerprint for _, articles in self.by_source for each in articles]
        return KnownArticles(seen.fingerprints, ids=seen.ids, listed=listed, now_ms=self.now_ms)

    def describe_known(self, known: KnownArticles, merge: Merge) -> Mapping[str, list[Marks]]:
        """Return what to remember of each source: all but the articles that a later run is to add."""
        unaccepted = KnownArticles((each.fingerprint for each in merge.surplus), now_ms=self.now_ms)
        described: dict[str, list[Marks]] = {}
        for name, articles in self.by_source:
            for each in articles:
                time_ms = known.find(each.fingerprint)
                if time_ms is not None and unaccepted.find(each.fingerprint) is None:
                    described.setdefault(name, []).append(each.fingerprint.with_time_of(time_ms).as_json())
        return described


def _mark(articles: Sequence[Article], now_ms: int) -> list[ListedArticle]:
    marks = list_fingerprints(articles, now_ms)
    return [ListedArticle(article, mark) for article, mark in zip(articles, marks, strict=True)]
