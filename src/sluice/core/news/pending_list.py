"""The list of articles that wait to be processed: newest first and bounded. An accepted article is never dropped."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from sluice.core.news.article import Article
from sluice.core.news.feeds.same_article import Fingerprint, KnownArticles, published_ms

# After this wait an article goes before newer ones. Otherwise a steady stream of news would starve it.
MAX_WAIT_MS: Final = 6 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """An article and the time it was added."""

    article: Article
    added_at_ms: int

    @classmethod
    def from_json(cls, value: object) -> Self | None:
        """Returns None for an entry that cannot be read."""
        if not isinstance(value, dict) or not isinstance(article_id := value.get("id"), str) or not article_id:
            return None
        article = Article.from_json(article_id, value.get("article"))
        added_at = value.get("addedAt")
        if article is None:
            return None
        return cls(article, int(added_at) if isinstance(added_at, int | float) else 0)

    def as_json(self) -> dict[str, Any]:
        return {"id": self.article.id, "article": self.article.as_json(), "addedAt": self.added_at_ms}


@dataclass(frozen=True, slots=True)
class ListedArticle:
    """An article that a source lists, and what it is known by."""

    article: Article
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class Merge:
    """The list after one update."""

    entries: tuple[PendingEntry, ...]
    added: tuple[str, ...]
    trimmed: int
    # New articles without room; a later run adds them.
    surplus: tuple[ListedArticle, ...]
    # New ones that are older than the limit.
    too_old: int


def parse_pending_list(value: object) -> list[PendingEntry]:
    """Reads the stored list and leaves out entries that cannot be read."""
    entries = [PendingEntry.from_json(each) for each in value] if isinstance(value, list) else []
    return [entry for entry in entries if entry is not None]


def merge_new_articles(
    entries: Sequence[PendingEntry], fetched: Iterable[ListedArticle], *, processed: Collection[str],
    known: KnownArticles, oldest_ms: int, max_size: int, now_ms: int
) -> Merge:  # fmt: skip
    """Removes processed articles, then puts new ones in front as far as there is room. `known` learns the new ones."""
    done = set(processed)
    kept = [entry for entry in entries if entry.article.id not in done]
    fresh, too_old = _select_new(fetched, known, oldest_ms)
    room = max(0, max_size - len(kept))
    # The oldest are added first: the next run reads the newest first and stops at an article it knows.
    surplus = fresh[: len(fresh) - room] if room < len(fresh) else []
    accepted = fresh[len(surplus) :]
    return Merge(
        entries=(*(PendingEntry(each.article, now_ms) for each in accepted), *kept),
        added=tuple(each.article.id for each in accepted),
        trimmed=len(entries) - len(kept),
        surplus=tuple(surplus),
        too_old=too_old,
    )


def next_pending(entries: Sequence[PendingEntry], known: Collection[str], now_ms: int) -> Article | None:
    """Returns the first unknown article, unless the oldest has waited too long."""
    free = [entry for entry in entries if entry.article.id not in known]
    if not free:
        return None
    oldest = min(free, key=lambda entry: entry.added_at_ms)
    is_starving = now_ms - oldest.added_at_ms > MAX_WAIT_MS
    return (oldest if is_starving else free[0]).article


def _select_new(
    fetched: Iterable[ListedArticle], known: KnownArticles, oldest_ms: int
) -> tuple[list[ListedArticle], int]:
    """Returns the new articles, and how many are left out because they are too old."""
    new: list[ListedArticle] = []
    too_old = 0
    for each in fetched:
        if known.find(each.fingerprint) is not None:
            continue
        if 0 < published_ms(each.article) < oldest_ms:
            too_old += 1
            continue
        new.append(each)
        known.add(each.fingerprint)
    return new, too_old
