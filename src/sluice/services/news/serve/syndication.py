"""Writes stories as RSS 2.0, Atom and JSON Feed 1.1: title, summary and a link to the source, never its text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sluice.core.http_dates import format_http_date
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import Story

TITLE: Final = "Bitcoin news"
DESCRIPTION: Final = "Bitcoin news from many sources, with sentiment and summary."
# Characters that XML does not allow, not even escaped.
_UNPRINTABLE: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# An attribute keeps white space only if it is escaped.
_IN_ATTRIBUTES: Final = str.maketrans({'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SyndicationFeed:
    """The feed itself; all addresses are absolute."""

    home: str
    address: str
    updated: datetime
    next_page: str | None = None
    # Where to subscribe, if this feed can be.
    hub: str | None = None


def write_rss(stories: Sequence[Story], feed: SyndicationFeed) -> bytes:
    channel = [
        _element("title", TITLE),
        _element("link", feed.home),
        _element("description", DESCRIPTION),
        _element("language", "en"),
        _element("lastBuildDate", format_http_date(feed.updated)),
        _empty_element("atom:link", href=feed.address, rel="self", type="application/rss+xml"),
        *([_empty_element("atom:link", href=feed.hub, rel="hub")] if feed.hub else []),
        *(_rss_item(story.lead) for story in stories),
    ]
    return _document(
        "rss", {"version": "2.0", "xmlns:atom": "http://www.w3.org/2005/Atom"}, f"<channel>{''.join(channel)}</channel>"
    )


def write_atom(stories: Sequence[Story], feed: SyndicationFeed) -> bytes:
    members = [
        _element("id", feed.address),
        _element("title", TITLE),
        _element("subtitle", DESCRIPTION),
        _element("updated", _rfc3339(feed.updated)),
        f"<author>{_element('name', TITLE)}</author>",
        _empty_element("link", rel="self", href=feed.address, type="application/atom+xml"),
        _empty_element("link", rel="alternate", href=feed.home),
        *([_empty_element("link", rel="hub", href=feed.hub)] if feed.hub else []),
        *([_empty_element("link", rel="next", href=feed.next_page)] if feed.next_page else []),
        *(_atom_entry(story.lead, feed) for story in stories),
    ]
    return _document("feed", {"xmlns": "http://www.w3.org/2005/Atom"}, "".join(members))


def write_json_feed(stories: Sequence[Story], feed: SyndicationFeed) -> bytes:
    body = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": TITLE,
        "description": DESCRIPTION,
        "home_page_url": feed.home,
        "feed_url": feed.address,
        "language": "en",
        "items": [_json_item(story) for story in stories],
    }
    hubs = {"hubs": [{"type": "WebSub", "url": feed.hub}]} if feed.hub else {}
    return encode_utf8(encode_json(body | hubs | ({"next_url": feed.next_page} if feed.next_page else {})))


def _rss_item(item: PublishedArticle) -> str:
    members = [
        _element("title", item.article.title),
        _element("link", item.article.link),
        f'<guid isPermaLink="false">{_escape_text(item.id)}</guid>',
        _element("pubDate", format_http_date(item.published)),
        _element("description", _summary(item)),
        *(_element("category", tag) for tag in _tags(item)),
    ]
    return f"<item>{''.join(members)}</item>"


def _atom_entry(item: PublishedArticle, feed: SyndicationFeed) -> str:
    source = item.article.text("source_name")
    members = [
        _element("id", f"{feed.home}/api/v1/articles/{item.id}"),
        _element("title", item.article.title),
        _empty_element("link", rel="alternate", href=item.article.link),
        _element("published", _rfc3339(item.published)),
        _element("updated", _rfc3339(item.published)),
        _element("summary", _summary(item)),
        *([f"<author>{_element('name', source)}</author>"] if source else []),
        *(_empty_element("category", term=tag) for tag in _tags(item)),
    ]
    return f"<entry>{''.join(members)}</entry>"


def _json_item(story: Story) -> dict[str, Any]:
    item = story.lead
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
        "date_published": _rfc3339(item.published),
        **{name: value for name, value in optional.items() if value},
        "_sluice": {
            "sentiment": article.sentiment,
            "alternates": [
                {"url": other.article.link, "source": other.article.text("source_name")} for other in story.alternates
            ],
        },
    }


def _summary(item: PublishedArticle) -> str:
    return item.article.text("aiSummary") or item.article.description


def _tags(item: PublishedArticle) -> list[str]:
    categories = item.article.data.get("category")
    names = [each for each in categories if isinstance(each, str)] if isinstance(categories, list) else []
    return [*([item.article.sentiment] if item.article.sentiment else []), *names[:10]]


def _rfc3339(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _escape_text(text: str) -> str:
    """Escape by hand, because the standard library's module imports a web client, which delays the start of a Worker."""
    return _UNPRINTABLE.sub("", text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _element(name: str, text: str) -> str:
    return f"<{name}>{_escape_text(text)}</{name}>"


def _empty_element(name: str, **attributes: str) -> str:
    return f"<{name}{_format_attributes(attributes)}/>"


def _document(name: str, attributes: dict[str, str], content: str) -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<{name}{_format_attributes(attributes)}>{content}</{name}>\n'.encode()
    )


def _format_attributes(attributes: dict[str, str]) -> str:
    return "".join(f' {name}="{_escape_text(value).translate(_IN_ATTRIBUTES)}"' for name, value in attributes.items())
