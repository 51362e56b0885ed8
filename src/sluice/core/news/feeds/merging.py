"""Decides what of the listed articles is new, and what of that fits into the pending list."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sluice.core.news.article import Article
from sluice.core.news.feeds.same_article import Fingerprint, KnownArticles, published_ms
from sluice.core.news.pending_list import PendingEntry


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


def merge_new_articles(
    entries: Sequence[PendingEntry], fetched: Iterable[ListedArticle], *, processed: Collection[str],
    known: KnownArticles, oldest_ms: int, max_size: int, now_ms: int
) -> Merge:  # fmt: skip
    """Remove processed articles, then put new ones in front as far as there is room. `known` learns the new ones."""
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


def _select_new(
    fetched: Iterable[ListedArticle], known: KnownArticles, oldest_ms: int
) -> tuple[list[ListedArticle], int]:
    """Return the new articles, and how many are left out because they are too old."""
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
