"""The processor's checkpoint: the current article, the processed ids, and the articles to try later."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self, assert_never

from sluice.core.errors import SluiceError
from sluice.core.json_text import parse_bounded_json
from sluice.core.news.article import Article, Stage
from sluice.core.news.checkpoint_transitions import Place

_REBUILT_REASON: Final = "checkpoint_rebuilt"


class CorruptCheckpoint(SluiceError):
    """A stored checkpoint cannot be read; the message says which part."""


@dataclass(frozen=True, slots=True)
class TryLaterEntry:
    """An article whose last attempt failed. It is retried when nothing is pending."""

    article: Article
    failed_at_ms: int
    reason: str

    @classmethod
    def from_json(cls, value: object) -> Self:
        if isinstance(value, Mapping) and isinstance(article_id := value.get("id"), str):
            article = Article.from_json(article_id, value.get("article"))
            if article is not None:
                return cls(article, _parse_time(value.get("failedAt"), "failedAt"), str(value.get("reason", "")))
        raise CorruptCheckpoint("an entry of tryLater has no id or no article")

    def as_json(self) -> dict[str, Any]:
        article = self.article.as_json()
        return {"id": self.article.id, "article": article, "failedAt": self.failed_at_ms, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """An immutable value; `processed` holds the newest ids first."""

    current: Article | None = None
    processed: tuple[str, ...] = ()
    try_later: tuple[TryLaterEntry, ...] = ()
    updated_at_ms: int = 0

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Raise CorruptCheckpoint for a value of another shape."""
        if not isinstance(value, Mapping):
            raise CorruptCheckpoint("it is not an object")
        processed = value.get("processedIds", [])
        if not isinstance(processed, list) or not all(isinstance(each, str) for each in processed):
            raise CorruptCheckpoint("processedIds is not a list of texts")
        try_later = value.get("tryLater", [])
        if not isinstance(try_later, list):
            raise CorruptCheckpoint("tryLater is not a list")
        return cls(
            current=_parse_current(value),
            processed=tuple(dict.fromkeys(processed)),
            try_later=tuple(TryLaterEntry.from_json(each) for each in try_later),
            updated_at_ms=_parse_time(value.get("lastUpdate"), "lastUpdate"),
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "currentArticleId": self.current.id if self.current else None,
            "currentArticle": self.current.as_json() if self.current else None,
            "processedIds": list(self.processed),
            "tryLater": [entry.as_json() for entry in self.try_later],
            "lastUpdate": self.updated_at_ms or None,
        }

    @property
    def known_ids(self) -> set[str]:
        """Every article that must not be taken from the pending list again."""
        current = {self.current.id} if self.current else set()
        return {*self.processed, *(entry.article.id for entry in self.try_later), *current}

    def find(self, article_id: str) -> Article | None:
        """Return the article if it is current or waits for a retry."""
        current = [self.current] if self.current else []
        articles = [*current, *(entry.article for entry in self.try_later)]
        return next((article for article in articles if article.id == article_id), None)

    def move(self, article: Article, place: Place, *, now_ms: int, reason: str = "") -> Self:
        """Return the checkpoint with the article at its new place, and nowhere else."""
        rest = self._without(article.id)
        match place:
            case Place.CURRENT:
                return replace(rest, current=article)
            case Place.TRY_LATER:
                return replace(rest, try_later=(*rest.try_later, TryLaterEntry(article, now_ms, reason)))
            case Place.PROCESSED:
                return replace(rest, processed=(article.id, *rest.processed))
        assert_never(place)

    def trim_processed(self, indexed: Collection[str], max_others: int) -> Self:
        """Keep the ids that are in the index, and the newest `max_others` of the rest.

        The rest matters: an article that the index has dropped may still be pending or listed by its provider, and must
        not be taken for a new one.
        """
        kept: list[str] = []
        others = 0
        for article_id in self.processed:
            others += article_id not in indexed
            if article_id in indexed or others <= max_others:
                kept.append(article_id)
        return replace(self, processed=tuple(kept))

    def _without(self, article_id: str) -> Self:
        return replace(
            self,
            current=None if self.current and self.current.id == article_id else self.current,
            processed=tuple(each for each in self.processed if each != article_id),
            try_later=tuple(entry for entry in self.try_later if entry.article.id != article_id),
        )


def parse_checkpoint(text: str | None) -> Checkpoint | CorruptCheckpoint:
    """Return an empty checkpoint if none is stored, and the error of one that cannot be read."""
    try:
        return Checkpoint.from_json(parse_bounded_json(text)) if text is not None else Checkpoint()
    except ValueError as error:
        return CorruptCheckpoint(f"it is not JSON: {error}")
    except CorruptCheckpoint as error:
        return error


def rebuild_checkpoint(articles: Iterable[Article], now_ms: int) -> Checkpoint:
    """Derive a checkpoint from the stored articles: complete ones are processed, the others are tried later."""
    known = list(articles)
    unfinished = [article for article in known if article.stage is not Stage.COMPLETE]
    return Checkpoint(
        processed=tuple(article.id for article in known if article.stage is Stage.COMPLETE),
        try_later=tuple(TryLaterEntry(article, now_ms, _REBUILT_REASON) for article in unfinished),
    )


def _parse_current(value: Mapping[str, Any]) -> Article | None:
    article_id, data = value.get("currentArticleId"), value.get("currentArticle")
    if article_id is None and data is None:
        return None
    article = Article.from_json(article_id, data) if isinstance(article_id, str) else None
    if article is None:
        raise CorruptCheckpoint("currentArticleId and currentArticle do not match")
    return article


def _parse_time(value: object, name: str) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        raise CorruptCheckpoint(f"{name} is not a time in milliseconds")
    return int(value)
