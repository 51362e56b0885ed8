"""Stories as RSS 2.0, Atom and JSON Feed 1.1: title, summary and a link to the source, never its text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

from sluice.core.news.stories import Story
from sluice.services.news.serve.snapshot import Item
from sluice.web import encode_json, format_http_date

TITLE: Final = "Bitcoin news"
DESCRIPTION: Final = "Bitcoin news from many sources, with sentiment and summary."
# XML cannot hold these, however they are written.
_UNPRINTABLE: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """What is told of the feed itself; addresses are absolute."""

    home: str
    address: str
    updated: datetime
    following: str | None = None


def rss(stories: Sequence[Story], feed: Feed) -> bytes:
    channel = [
        _element("title", TITLE),
        _element("link", feed.home),
        _element("description", DESCRIPTION),
        _element("language", "en"),
        _element("lastBuildDate", format_http_date(feed.updated)),
        _empty("atom:link", href=feed.address, rel="self", type="application/rss+xml"),
        *(_rss_item(story.first) for story in stories),
    ]
    return _document(
        "rss", {"version": "2.0", "xmlns:atom": "http://www.w3.org/2005/Atom"}, f"<channel>{''.join(channel)}</channel>"
    )


def atom(stories: Sequence[Story], feed: Feed) -> bytes:
    members = [
        _element("id", feed.address),
        _element("title", TITLE),
        _element("subtitle", DESCRIPTION),
        _element("updated", _iso(feed.updated)),
        f"<author>{_element('name', TITLE)}</author>",
        _empty("link", rel="self", href=feed.address, type="application/atom+xml"),
        _empty("link", rel="alternate", href=feed.home),
        *([_empty("link", rel="next", href=feed.following)] if feed.following else []),
        *(_atom_entry(story.first, feed) for story in stories),
    ]
    return _document("feed", {"xmlns": "http://www.w3.org/2005/Atom"}, "".join(members))


def json_feed(stories: Sequence[Story], feed: Feed) -> bytes:
    body = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": TITLE,
        "description": DESCRIPTION,
        "home_page_url": feed.home,
        "feed_url": feed.address,
        "language": "en",
        "items": [_json_item(story) for story in stories],
    }
    return encode_json(body | ({"next_url": feed.following} if feed.following else {})).encode(
        "utf-8", "backslashreplace"
    )


def _rss_item(item: Item) -> str:
    members = [
        _element("title", item.article.title),
        _element("link", item.article.link),
        f'<guid isPermaLink="false">{_text(item.id)}</guid>',
        _element("pubDate", format_http_date(item.published)),
        _element("description", _summary(item)),
        *(_element("category", tag) for tag in _tags(item)),
    ]
    return f"<item>{''.join(members)}</item>"


def _atom_entry(item: Item, feed: Feed) -> str:
    source = item.article.text("source_name")
    members = [
        _element("id", f"{feed.home}/api/v1/articles/{item.id}"),
        _element("title", item.article.title),
        _empty("link", rel="alternate", href=item.article.link),
        _element("published", _iso(item.published)),
        _element("updated", _iso(item.published)),
        _element("summary", _summary(item)),
        *([f"<author>{_element('name', source)}</author>"] if source else []),
        *(_empty("category", term=tag) for tag in _tags(item)),
    ]
    return f"<entry>{''.join(members)}</entry>"


def _json_item(story: Story) -> dict[str, Any]:
    item = story.first
    article = item.article
    optional = {
        "image": article.text("image_url"),
        "language": "en" if article.text("language").lower() == "english" else article.text("language"),
        "authors": [{"name": article.text("source_name")}] if article.text("source_name") else [],
        "tags": _tags(item),
    }
    return {
        "id": item.id,
        "url": article.link,
        "title": article.title,
        "content_text": _summary(item) or article.title,
        "date_published": _iso(item.published),
        **{name: value for name, value in optional.items() if value},
        "_sluice": {
            "sentiment": article.sentiment,
            "alternates": [
                {"url": other.article.link, "source": other.article.text("source_name")} for other in story.alternates
            ],
        },
    }


def _summary(item: Item) -> str:
    return item.article.text("aiSummary") or item.article.description


def _tags(item: Item) -> list[str]:
    categories = item.article.data.get("category")
    named = [each for each in categories if isinstance(each, str)] if isinstance(categories, list) else []
    return [*([item.article.sentiment] if item.article.sentiment else []), *named[:10]]


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _text(text: str) -> str:
    return escape(_UNPRINTABLE.sub("", text))


def _element(name: str, text: str) -> str:
    return f"<{name}>{_text(text)}</{name}>"


def _empty(name: str, **attributes: str) -> str:
    return f"<{name}{_written(attributes)}/>"


def _document(name: str, attributes: dict[str, str], content: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}{_written(attributes)}>{content}</{name}>\n'.encode()


def _written(attributes: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(_UNPRINTABLE.sub('', value))}" for name, value in attributes.items())
