"""Collects the fields of one item and decides which of them are its title, link, time, text and picture."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sluice.core.news.reading.feed_document import FeedItem
from sluice.core.news.reading.plain_text import cut_title, fold_text, plain_text, resolve_link

_MAX_CATEGORIES: Final = 50
_MAILBOX: Final = re.compile(r"^\S+@\S+ \((.+)\)$")  # as RSS asks for authors
_MAX_FIELDS: Final = 200
_TITLE_FROM_TEXT_CHARS: Final = 100
# The names that hold each value; the first that has one counts.
_TITLES: Final = ("title", "atom:title", "dc:title")
_IDS: Final = ("guid", "atom:id", "dc:identifier")
_PUBLISHED: Final = (
    "pubdate",
    "atom:published",
    "dc:date",
    "atom:issued",
    "dcterms:issued",
    "dcterms:created",
    "atom:created",
)
_UPDATED: Final = ("atom:updated", "atom:modified", "dcterms:modified", "date", "lastbuilddate")
_SUMMARIES: Final = ("description", "atom:summary", "media:group/media:description", "media:description")
_SUMMARIES_LAST: Final = ("itunes:summary", "dc:description")
_CONTENTS: Final = ("content:encoded", "atom:content", "xhtml:body", "body", "content")
_AUTHORS: Final = ("dc:creator", "atom:author/atom:name", "author", "itunes:author", "atom:author/atom:email")
_CATEGORIES: Final = ("category", "atom:category", "dc:subject")
_THUMBNAILS: Final = ("media:thumbnail", "media:group/media:thumbnail", "media:content/media:thumbnail")
_PICTURES: Final = ("media:content", "media:group/media:content", "enclosure")


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    attributes: dict[str, str]
    base: str

    def attribute(self, name: str) -> str:
        return next((value for key, value in self.attributes.items() if key.lower() == name), "")


@dataclass(slots=True)
class ItemFields:
    """All values of an item by the names of their elements."""

    about: str = ""
    values: dict[str, list[_Value]] = field(default_factory=dict)
    count: int = 0

    def add(self, name: str, text: str, attributes: dict[str, str], base: str) -> None:
        self.count += 1
        if self.count <= _MAX_FIELDS:
            self.values.setdefault(name, []).append(_Value(text, attributes, base))

    @property
    def is_usable(self) -> bool:
        """Whether a reader can show and recognise an item that was cut off."""
        has_title = any(name in self.values for name in _TITLES)
        return has_title and any(name in self.values for name in ("link", "atom:link", *_IDS))

    def all(self, names: Iterable[str]) -> list[_Value]:
        return [value for name in names for value in self.values.get(name, ())]

    def first(self, names: Iterable[str]) -> str:
        return next((value.text.strip() for value in self.all(names) if value.text.strip()), "")


def read_item(fields: ItemFields, url: str) -> FeedItem | None:
    """Return the item; None if it has neither title nor text."""
    summary = fields.first(_SUMMARIES) or fields.first(_SUMMARIES_LAST)
    content = fields.first(_CONTENTS)
    title = _read_title(fields) or plain_text(summary or content)[:_TITLE_FROM_TEXT_CHARS].strip()
    if not title:
        return None
    return FeedItem(
        title=cut_title(title),
        link=_find_link(fields, url),
        id=fold_text(fields.first(_IDS) or fields.about),
        published=fields.first(_PUBLISHED),
        updated=fields.first(_UPDATED),
        summary=summary,
        content=content,
        author=_MAILBOX.sub(r"\1", plain_text(fields.first(_AUTHORS)))[:200],
        categories=_read_categories(fields),
        image=_find_image(fields),
    )


def _read_title(fields: ItemFields) -> str:
    for name in _TITLES:
        for value in fields.values.get(name, ()):
            # Atom says what its titles are; RSS does not, and in practice they are HTML.
            is_literal = name == "atom:title" and value.attribute("type") in {"", "text", "text/plain", "xhtml"}
            is_literal = is_literal and value.attribute("mode") != "escaped"
            if title := (fold_text(value.text) if is_literal else plain_text(value.text)):
                return title
    return ""


def _find_link(fields: ItemFields, url: str) -> str:
    for value in fields.all(("feedburner:origlink", "link")):
        if link := resolve_link(value.base or url, value.text or value.attribute("href")):
            return link
    if link := _find_atom_link(fields):
        return link
    for guid in fields.values.get("guid", ()):
        is_address = guid.text.strip().startswith(("http://", "https://"))
        if is_address and guid.attribute("ispermalink").strip().lower() != "false":
            return resolve_link(url, guid.text)
    return resolve_link(url, fields.about) if fields.about.startswith(("http://", "https://")) else ""


def _find_atom_link(fields: ItemFields) -> str:
    alternates = [each for each in fields.all(("atom:link",)) if each.attribute("rel") in {"", "alternate"}]
    alternates.sort(key=lambda each: each.attribute("type") not in {"", "text/html", "application/xhtml+xml"})
    # A page that calls itself HTML comes before one that says nothing.
    alternates.sort(key=lambda each: each.attribute("type") != "text/html")
    return next((link for each in alternates if (link := resolve_link(each.base, each.attribute("href")))), "")


def _read_categories(fields: ItemFields) -> list[str]:
    found = (
        plain_text(each.text or each.attribute("label") or each.attribute("term")) for each in fields.all(_CATEGORIES)
    )
    return list(dict.fromkeys(name[:100] for name in found if name))[:_MAX_CATEGORIES]


def _find_image(fields: ItemFields) -> str:
    pictures = [each for each in fields.all(_PICTURES) if _is_picture(each)]
    found = (resolve_link(each.base, each.attribute("url")) for each in [*pictures, *fields.all(_THUMBNAILS)])
    return next((address for address in found if address), "")


def _is_picture(value: _Value) -> bool:
    kind = value.attribute("type") or value.attribute("medium") or "image"
    return bool(value.attribute("url")) and kind.startswith("image")
