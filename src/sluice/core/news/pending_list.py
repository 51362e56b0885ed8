"""The list of articles that wait to be processed: newest first, bounded, and nothing accepted is ever dropped."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.news.article import Article

# An article that has waited so long goes before newer ones: else a steady stream of news would starve it.
MAX_WAIT_MS: Final = 6 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """One article, and when it was added."""

    article: Article
    added_at_ms: int

    def to_json(self) -> dict[str, Any]:
        return {"id": self.article.id, "article": dict(self.article.data), "addedAt": self.added_at_ms}


@dataclass(frozen=True, slots=True)
class Merge:
    """What one update makes of the list."""

    entries: tuple[Entry, ...]
    added: tuple[str, ...]
    trimmed: int
    # New, but there was no room: a later run takes them.
    surplus: tuple[str, ...]


def entries_of(value: object) -> list[Entry]:
    """From the stored list; an entry that cannot be read is left out, as nothing can be done with it."""
    found = []
    for each in value if isinstance(value, list) else []:
        if isinstance(each, dict) and isinstance(article_id := each.get("id"), str) and article_id:
            article = Article.stored(article_id, each.get("article"))
            added_at = each.get("addedAt")
            if article is not None:
                found.append(Entry(article, int(added_at) if isinstance(added_at, int | float) else 0))
    return found


def merge(
    entries: Sequence[Entry], fetched: Iterable[Article], *, processed: Collection[str], known: Collection[str],
    max_size: int, now_ms: int
) -> Merge:  # fmt: skip
    """Trim what is processed, then put in front what is new, as far as there is room."""
    done = set(processed)
    kept = [entry for entry in entries if entry.article.id not in done]
    taken = {entry.article.id for entry in kept} | set(known)
    new: dict[str, Article] = {}
    for article in fetched:
        if article.id not in taken:
            new.setdefault(article.id, article)
    fresh = list(new.values())
    room = max(0, max_size - len(kept))
    # The oldest go in first: the next run looks at the newest first and stops at one it knows.
    surplus = fresh[: len(fresh) - room] if room < len(fresh) else []
    accepted = fresh[len(surplus) :]
    added = [Entry(article, now_ms) for article in accepted]
    return Merge(
        entries=(*added, *kept),
        added=tuple(article.id for article in accepted),
        trimmed=len(entries) - len(kept),
        surplus=tuple(article.id for article in surplus),
    )


def next_pending(entries: Sequence[Entry], taken: Collection[str], now_ms: int) -> Article | None:
    """The first that nobody has taken, unless the last has waited too long."""
    free = [entry for entry in entries if entry.article.id not in taken]
    if not free:
        return None
    oldest = min(free, key=lambda entry: entry.added_at_ms)
    starving = now_ms - oldest.added_at_ms > MAX_WAIT_MS
    return (oldest if starving else free[0]).article
