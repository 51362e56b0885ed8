"""The third reader: feedparser, for feeds of which the first two lose items."""

from typing import Any, Final

import feedparser  # type: ignore[import-untyped]

from sluice.core.news.reading.feed_document import MAX_ITEMS, FeedItem
from sluice.core.news.reading.plain_text import cut_title, plain_text, resolve_link

_MAX_CATEGORIES: Final = 50


def read_loosely(text: str, url: str) -> list[FeedItem]:
    """Return the items that feedparser finds; none if it fails."""
    try:
        parsed = feedparser.parse(
            text.encode("utf-8", "replace"),
            response_headers={"content-type": "application/xml; charset=utf-8", "content-location": url},
            sanitize_html=False,
        )
    except Exception:  # noqa: BLE001 - a parser for tag soup may fail in any way
        return []
    items = (_read_entry(entry, url) for entry in parsed.get("entries", [])[:MAX_ITEMS])
    return [item for item in items if item.title]


def _read_entry(entry: Any, url: str) -> FeedItem:
    content = next((each.get("value", "") for each in entry.get("content", [])), "")
    summary = entry.get("summary", "")
    return FeedItem(
        title=cut_title(plain_text(entry.get("title", "")) or plain_text(summary or content)[:100]),
        link=resolve_link(url, entry.get("feedburner_origlink") or entry.get("link", "")),
        id=entry.get("id", ""),
        published=entry.get("published", ""),
        updated=entry.get("updated", ""),
        summary=summary,
        content=content,
        author=plain_text(entry.get("author", "")),
        categories=[each["term"] for each in entry.get("tags", [])[:_MAX_CATEGORIES] if each.get("term")],
    )
