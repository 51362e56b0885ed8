"""The processor's memory: which article it is at, which are done, which must wait. A table says where each may go."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Self

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article, Stage


class Outcome(StrEnum):
    """How one attempt at one stage ended."""

    DONE = "done"
    # It may go well later.
    FAILED = "failed"
    # It failed, and there are no attempts left, or another attempt could not help.
    GIVEN_UP = "given up"


class Place(StrEnum):
    """Where an article is, after a run."""

    CURRENT = "current"
    TRY_LATER = "try later"
    PROCESSED = "processed"


# Stage and outcome, to the next stage and place. A stage that is not needed is passed over.
MOVES: Final = {
    (Stage.SENTIMENT, Outcome.DONE): (Stage.CONTENT, Place.CURRENT),
    (Stage.SENTIMENT, Outcome.FAILED): (Stage.SENTIMENT, Place.TRY_LATER),
    (Stage.SENTIMENT, Outcome.GIVEN_UP): (Stage.CONTENT, Place.CURRENT),
    (Stage.CONTENT, Outcome.DONE): (Stage.SUMMARY, Place.CURRENT),
    (Stage.CONTENT, Outcome.FAILED): (Stage.CONTENT, Place.TRY_LATER),
    (Stage.CONTENT, Outcome.GIVEN_UP): (Stage.COMPLETE, Place.PROCESSED),
    (Stage.SUMMARY, Outcome.DONE): (Stage.COMPLETE, Place.PROCESSED),
    (Stage.SUMMARY, Outcome.FAILED): (Stage.SUMMARY, Place.TRY_LATER),
    (Stage.SUMMARY, Outcome.GIVEN_UP): (Stage.COMPLETE, Place.PROCESSED),
}


class IllegalMove(SluiceError):
    """An article was changed in a way that no row of the table allows."""


class Corrupt(SluiceError):
    """A stored checkpoint that cannot be understood."""


def place_after(before: Stage, outcome: Outcome, after: Stage) -> Place:
    """Where an article goes; its own flags say its stage, and the table must agree with them."""
    if (before, outcome) not in MOVES:
        raise IllegalMove(f"an article that is {before} cannot be {outcome}")
    expected, place = MOVES[before, outcome]
    if after is Stage.COMPLETE and place is not Place.TRY_LATER:
        return Place.PROCESSED
    if after is not expected and not (expected is Stage.CONTENT and after is Stage.SUMMARY):
        raise IllegalMove(f"{before} and {outcome} lead to {expected}, not to {after}")
    return place


@dataclass(frozen=True, slots=True)
class Waiting:
    """An article that failed, and will be tried again when nothing is pending."""

    article: Article
    failed_at_ms: int
    reason: str

    def to_json(self) -> dict[str, Any]:
        article = dict(self.article.data)
        return {"id": self.article.id, "article": article, "failedAt": self.failed_at_ms, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A value; the newest of `processed` stand first."""

    current: Article | None = None
    processed: tuple[str, ...] = ()
    try_later: tuple[Waiting, ...] = ()
    updated_at_ms: int = 0
    # The version of the index that belongs to it.
    index_version: int = 0

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Raises Corrupt with what is wrong."""
        if not isinstance(value, Mapping):
            raise Corrupt("it is not an object")
        processed = value.get("processedIds", [])
        if not isinstance(processed, list) or not all(isinstance(each, str) for each in processed):
            raise Corrupt("processedIds is not a list of texts")
        waiting = value.get("tryLater", [])
        if not isinstance(waiting, list):
            raise Corrupt("tryLater is not a list")
        return cls(
            current=_current(value),
            processed=tuple(dict.fromkeys(processed)),
            try_later=tuple(_waiting(each) for each in waiting),
            updated_at_ms=_time(value.get("lastUpdate"), "lastUpdate"),
            index_version=_time(value.get("indexVersion"), "indexVersion"),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "currentArticleId": self.current.id if self.current else None,
            "currentArticle": dict(self.current.data) if self.current else None,
            "processedIds": list(self.processed),
            "tryLater": [each.to_json() for each in self.try_later],
            "lastUpdate": self.updated_at_ms or None,
            "indexVersion": self.index_version or None,
        }

    @property
    def known_ids(self) -> set[str]:
        """Every article that must not be taken from the pending list."""
        current = {self.current.id} if self.current else set()
        return {*self.processed, *(each.article.id for each in self.try_later), *current}

    def at(self, article: Article) -> Self:
        """With this article in work, wherever it was."""
        return replace(self._without(article.id), current=article)

    def moved(self, article: Article, place: Place, *, now_ms: int, reason: str = "") -> Self:
        """With the article at its new place."""
        if place is Place.CURRENT:
            return self.at(article)
        rest = self._without(article.id)
        if place is Place.TRY_LATER:
            return replace(rest, try_later=(*rest.try_later, Waiting(article, now_ms, reason)))
        return replace(rest, processed=(article.id, *rest.processed))

    def trimmed(self, stored: Collection[str], max_others: int) -> Self:
        """Only what is in the index, and the latest of the rest.

        Not only the former: an article that the index has dropped may still be pending, or be listed by its provider,
        and must not be taken for new.
        """
        kept: list[str] = []
        others = 0
        for each in self.processed:
            others += each not in stored
            if each in stored or others <= max_others:
                kept.append(each)
        return replace(self, processed=tuple(kept))

    def stamped(self, now_ms: int) -> Self:
        """Every version has a later time than the one before, so that an old one is told apart."""
        return replace(self, updated_at_ms=max(now_ms, self.updated_at_ms + 1))

    def _without(self, article_id: str) -> Self:
        return replace(
            self,
            current=None if self.current and self.current.id == article_id else self.current,
            processed=tuple(each for each in self.processed if each != article_id),
            try_later=tuple(each for each in self.try_later if each.article.id != article_id),
        )


def rebuilt(articles: Iterable[Article], now_ms: int) -> Checkpoint:
    """From what is stored of the articles in the index: the complete are processed, the others wait for another try."""
    known = list(articles)
    unfinished = [each for each in known if each.stage is not Stage.COMPLETE]
    return Checkpoint(
        processed=tuple(each.id for each in known if each.stage is Stage.COMPLETE),
        try_later=tuple(Waiting(each, now_ms, "checkpoint_rebuilt") for each in unfinished),
    )


def _current(value: Mapping[str, Any]) -> Article | None:
    article_id, article = value.get("currentArticleId"), value.get("currentArticle")
    if article_id is None and article is None:
        return None
    found = Article.stored(article_id, article) if isinstance(article_id, str) else None
    if found is None:
        raise Corrupt("currentArticleId and currentArticle do not fit together")
    return found


def _waiting(value: object) -> Waiting:
    if isinstance(value, Mapping) and isinstance(article_id := value.get("id"), str):
        article = Article.stored(article_id, value.get("article"))
        if article is not None:
            return Waiting(article, _time(value.get("failedAt"), "failedAt"), str(value.get("reason", "")))
    raise Corrupt("an entry of tryLater has no id or no article")


def _time(value: object, name: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        raise Corrupt(f"{name} is not a time in milliseconds")
    return int(value)
