"""The articles of the architecture before checkpoints: one value with all of them, finished or not."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from sluice.core.json_text import encode_json, parse_stored_json
from sluice.core.news.article import Article, is_article_id

_DIGEST_CHARS: Final = 16
_ID_CHARS: Final = 32


@dataclass(frozen=True, slots=True)
class LegacyNews:
    """The articles in their order, each id once; `malformed` are the places of entries that are no articles."""

    articles: tuple[Article, ...] = ()
    malformed: tuple[int, ...] = ()
    changed_at_ms: int = 0
    is_readable: bool = True


def parse_legacy(text: str | None) -> LegacyNews:
    """Read the stored value; a missing one has no articles, nor has one that cannot be read."""
    if text is None:
        return LegacyNews()
    stored = parse_stored_json(text)
    entries = stored.get("articles") if isinstance(stored, Mapping) else None
    if not isinstance(stored, Mapping) or not isinstance(entries, list):
        return LegacyNews(is_readable=False)
    articles = [_parse_entry(each) for each in entries]
    first_of_each: dict[str, Article] = {}
    for article in articles:
        if article is not None:
            first_of_each.setdefault(article.id, article)
    changed = stored.get("lastUpdatedExternal")
    return LegacyNews(
        articles=tuple(first_of_each.values()),
        malformed=tuple(place for place, each in enumerate(articles) if each is None),
        changed_at_ms=changed if isinstance(changed, int) else 0,
    )


def digest_legacy(text: str | None) -> str:
    """Identify a stored value; "" if there is none."""
    return "" if text is None else sha256(text.encode("utf-8", "replace")).hexdigest()[:_DIGEST_CHARS]


def _parse_entry(entry: Any) -> Article | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("title"), str):
        return None
    names = (entry.get(name) for name in ("id", "article_id", "link"))
    article_id = next((str(each) for each in names if _is_id(each)), "")
    try:
        encode_json(entry).encode()
    except ValueError:  # a number or half a character that cannot be written
        return None
    if not article_id:
        return None
    fits = is_article_id(article_id)
    return Article.from_json(article_id if fits else sha256(article_id.encode()).hexdigest()[:_ID_CHARS], entry)


def _is_id(value: object) -> bool:
    return bool(value) and isinstance(value, str | int) and not isinstance(value, bool)
