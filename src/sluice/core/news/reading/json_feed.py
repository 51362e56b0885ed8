"""Reads JSON Feed 1.0 and 1.1."""

from typing import Any

from sluice.core.json_text import parse_bounded_json
from sluice.core.news.reading.feed_document import MAX_FIELD_CHARS, MAX_ITEMS, FeedDocument, FeedItem, Warn
from sluice.core.news.reading.plain_text import cut_title, fold_text, plain_text, resolve_link

_MAX_TAGS = 50


def read_json_feed(text: str, url: str, feed: FeedDocument) -> None:
    """Fill in the feed; its error says why the text is none."""
    try:
        value = parse_bounded_json(text.strip(), strict=False)
    except (ValueError, RecursionError):
        feed.error = "the document begins like JSON and is none"
        return
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list):
        feed.error = "the document is JSON, but no JSON Feed: it has no list of items"
        return
    version = _text(value.get("version"))
    feed.format = "json"
    feed.title = fold_text(_text(value.get("title")))
    feed.language = _text(value.get("language"))
    feed.self_link = _text(value.get("feed_url"))
    feed.hub = next((_text(each.get("url")) for each in _objects(value.get("hubs"))), "")
    if "jsonfeed.org" not in version:
        feed.warn(Warn.REPAIRED)
    for each in items[:MAX_ITEMS]:
        _add_item(each, value, url, feed)


def _add_item(value: object, channel: dict[str, Any], url: str, feed: FeedDocument) -> None:
    if not isinstance(value, dict):
        feed.warn(Warn.LOST)
        return
    link = resolve_link(url, _text(value.get("url")) or _text(value.get("external_url")))
    item_id = _text(value.get("id"))
    if not item_id:
        feed.warn(Warn.REPAIRED)
    content = _text(value.get("content_html")) or _text(value.get("content_text"))
    summary = _text(value.get("summary"))
    item = FeedItem(
        title=cut_title(fold_text(_text(value.get("title"))) or plain_text(summary or content)[:100]),
        link=link,
        id=item_id or link,
        published=_text(value.get("date_published")),
        updated=_text(value.get("date_modified")),
        summary=summary,
        content=content,
        author=_find_author(value) or _find_author(channel),
        categories=[fold_text(_text(each)) for each in _list(value.get("tags"))[:_MAX_TAGS] if _text(each)],
        image=resolve_link(url, _text(value.get("image")) or _text(value.get("banner_image"))),
    )
    if item.title:
        feed.items.append(item)


def _find_author(value: dict[str, Any]) -> str:
    authors = [*_objects(value.get("authors")), *_objects([value.get("author")])]
    return fold_text(", ".join(name for each in authors if (name := _text(each.get("name")))))[:200]


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in _list(value) if isinstance(each, dict)]


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value[:MAX_FIELD_CHARS] if isinstance(value, str) else ""
