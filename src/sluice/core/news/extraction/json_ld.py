"""Reads what publishers tell search engines in JSON-LD: the body of the article, its headline, and whether it is free."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from typing import Any, Final

from sluice.core.json_text import parse_bounded_json
from sluice.core.news.extraction.blocks import blocks_of
from sluice.core.news.extraction.tree import parse

_MAX_VALUES: Final = 10_000  # of one script; the largest seen has a few hundred
_ARTICLE_TYPES: Final = ("article", "posting", "report", "story")
_NOT_FREE: Final = ("false", "no", "0")
# They name other articles.
_LISTS: Final = frozenset({"itemListElement", "relatedLink", "mentions", "citation", "isBasedOn"})


@dataclass(frozen=True, slots=True)
class StructuredArticle:
    """What a page says of its article in JSON-LD. `hidden_classes` are the classes of the elements that only subscribers may read."""

    body: str = ""
    headline: str = ""
    is_free: bool = True
    hidden_classes: frozenset[str] = frozenset()


def read_structured(scripts: list[str]) -> StructuredArticle:
    """Return the longest body in the scripts of the page, and the rest from its first article."""
    things = [thing for script in scripts for thing in _find_things(script)]
    bodies = [_plain_text(body) for thing in things if isinstance(body := thing.get("articleBody"), str)]
    article = next((thing for thing in (*filter(_is_article, things), *things)), {})
    headline = article.get("headline")
    return StructuredArticle(
        body=max(bodies, key=len, default=""),
        headline=unescape(headline) if isinstance(headline, str) else "",
        is_free=not _is_locked(article),
        hidden_classes=frozenset(_find_hidden_classes(article)),
    )


def _find_things(script: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a script in the order of the text, without those in lists of other articles."""
    try:
        waiting: list[Any] = [parse_bounded_json(script.strip(), strict=False)]
    except ValueError:
        return
    for _ in range(_MAX_VALUES):
        if not waiting:
            return
        match waiting.pop():
            case list() as items:
                waiting.extend(reversed(items))
            case dict() as thing:
                yield thing
                inner = [value for name, value in thing.items() if name not in _LISTS]
                waiting.extend(value for value in reversed(inner) if isinstance(value, dict | list))


def _is_article(thing: Mapping[str, Any]) -> bool:
    kinds = thing.get("@type")
    names = kinds if isinstance(kinds, list) else [kinds]
    return any(isinstance(name, str) and name.lower().endswith(_ARTICLE_TYPES) for name in names)


def _is_locked(thing: Mapping[str, Any]) -> bool:
    value = thing.get("isAccessibleForFree")
    return value is False or (isinstance(value, str) and value.strip().lower() in _NOT_FREE)


def _find_hidden_classes(article: Mapping[str, Any]) -> Iterator[str]:
    parts = article.get("hasPart")
    for part in parts if isinstance(parts, list) else [parts]:
        selectors = part.get("cssSelector") if isinstance(part, dict) and _is_locked(part) else None
        for selector in selectors if isinstance(selectors, list) else [selectors]:
            if isinstance(selector, str):
                yield from (name.strip().lstrip(".") for name in selector.split(",") if name.strip().startswith("."))


def _plain_text(body: str) -> str:
    """Remove the markup that some publishers put into the body."""
    if "</" in body or "<br" in body:
        return "\n".join(block.text for block in blocks_of(parse(body).root))
    return "\n".join(" ".join(line.split()) for line in unescape(body).splitlines() if line.strip())
