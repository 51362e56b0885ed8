"""The list of articles that wait to be processed: newest first and bounded. An accepted article is never dropped."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from sluice.core.news.article import Article

# After this wait an article goes before newer ones. Otherwise a steady stream of news would starve it.
MAX_WAIT_MS: Final = 6 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """An article and the time it was added."""

    article: Article
    added_at_ms: int

    @classmethod
    def from_json(cls, value: object) -> Self | None:
        """Return None for an entry that cannot be read."""
        if not isinstance(value, dict) or not isinstance(article_id := value.get("id"), str) or not article_id:
            return None
        article = Article.from_json(article_id, value.get("article"))
        added_at = value.get("addedAt")
        if article is None:
            return None
        return cls(article, int(added_at) if isinstance(added_at, int | float) else 0)

    def as_json(self) -> dict[str, Any]:
        return {"id": self.article.id, "article": self.article.as_json(), "addedAt": self.added_at_ms}


def parse_pending_list(value: object) -> list[PendingEntry]:
    """Read the stored list, and leave out entries that cannot be read."""
    entries = [PendingEntry.from_json(each) for each in value] if isinstance(value, list) else []
    return [entry for entry in entries if entry is not None]


def next_pending(entries: Sequence[PendingEntry], known: Collection[str], now_ms: int) -> Article | None:
    """Return the first unknown article, unless the oldest has waited too long."""
    free = [entry for entry in entries if entry.article.id not in known]
    if not free:
        return None
    oldest = min(free, key=lambda entry: entry.added_at_ms)
    is_starving = now_ms - oldest.added_at_ms > MAX_WAIT_MS
    return (oldest if is_starving else free[0]).article
