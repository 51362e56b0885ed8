"""Builds a feed from the events of a parser, strict or tolerant: an element starts, ends, or has text."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.news.reading.feed_document import MAX_ELEMENTS, MAX_FIELD_CHARS, MAX_ITEMS, FeedDocument, Warn
from sluice.core.news.reading.item_fields import ItemFields, read_item
from sluice.core.news.reading.namespaces import NamespaceResolver
from sluice.core.news.reading.plain_text import fold_text, resolve_link

ITEMS: Final = frozenset({"item", "atom:entry", "rss:item"})
_CHANNELS: Final = frozenset({"channel", "atom:feed", "rdf:rdf", "rss"})
_INLINE: Final = frozenset(
    [
        "a",
        "abbr",
        "b",
        "cite",
        "code",
        "em",
        "font",
        "i",
        "mark",
        "q",
        "s",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
        "tt",
        "u",
    ]
)
# Elements whose children belong to the item: authors have names, a group has pictures.
_GROUPS: Final = frozenset({"atom:author", "media:group", "media:content", "atom:source"})


class FeedTooLarge(Exception):
    """The feed has more elements or items than are read."""


@dataclass(slots=True)
class FeedBuilder:
    """Builds a feed from events. `feed` is complete after `finish`."""

    feed: FeedDocument
    base: str
    names: NamespaceResolver = field(default_factory=NamespaceResolver)
    root_closed: bool = False
    _stack: list[str] = field(default_factory=list)
    _bases: list[str] = field(default_factory=list)
    _elements: int = 0
    _item: ItemFields | None = None
    _item_depth: int = 0
    # The element whose text is being collected, its depth, attributes and text.
    _field: str = ""
    _field_depth: int = 0
    _attributes: dict[str, str] = field(default_factory=dict)
    _pieces: list[str] = field(default_factory=list)
    _size: int = 0

    def start(self, qualified: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise FeedTooLarge
        name = self.names.open(qualified, attributes)
        base = self._bases[-1] if self._bases else self.base
        self._bases.append(resolve_link(base, attributes.get("xml:base", "")) or base)
        self._stack.append(name)
        if self._field:
            self._add_break(name)
        elif name in ITEMS:
            self._start_item(attributes)
        else:
            self._start_field(name, attributes)

    def text(self, text: str) -> None:
        if self._field and self._size < MAX_FIELD_CHARS:
            self._pieces.append(text)
            self._size += len(text)

    def end(self) -> None:
        name = self._stack.pop()
        depth = len(self._stack) + 1
        if self._field and depth == self._field_depth:
            self._end_field()
        elif self._field:
            self._add_break(name)
        if self._item is not None and depth == self._item_depth:
            self._end_item()
        self._bases.pop()
        self.names.close()
        self.root_closed = not self._stack

    def finish(self) -> FeedDocument:
        """Add the item that is still open if its title and its link or id were complete."""
        self._field = ""
        if self._item is not None and self._item.is_usable:
            self._end_item()
        if self.names.has_undeclared:
            self.feed.warn(Warn.REPAIRED)
        return self.feed

    def _start_item(self, attributes: dict[str, str]) -> None:
        if len(self.feed.items) >= MAX_ITEMS:
            raise FeedTooLarge
        about = next((value for name, value in attributes.items() if name.lower() == "rdf:about"), "")
        self._item = ItemFields(about=about)
        self._item_depth = len(self._stack)

    def _end_item(self) -> None:
        item = read_item(self._item, self.base) if self._item else None
        if item is None:
            self.feed.warn(Warn.LOST)
        else:
            self.feed.items.append(item)
        self._item = None

    def _start_field(self, name: str, attributes: dict[str, str]) -> None:
        depth = len(self._stack)
        parent = self._stack[-2] if depth > 1 else ""
        if self._item is not None:
            inside = depth == self._item_depth + 1 or (depth > self._item_depth and parent in _GROUPS)
        else:
            inside = parent in _CHANNELS
        if not inside or name in _CHANNELS:
            return
        self._attributes, self._pieces, self._size = attributes, [], 0
        if name in _GROUPS:
            self._add_value(name)
        else:
            self._field, self._field_depth = (f"{parent}/{name}" if parent in _GROUPS else name), depth

    def _end_field(self) -> None:
        name, self._field = self._field, ""
        self._add_value(name)

    def _add_value(self, name: str) -> None:
        value = "".join(self._pieces)
        if self._item is not None:
            self._item.add(name, value, self._attributes, self._bases[-1])
        else:
            self._add_to_channel(name, value)

    def _add_break(self, name: str) -> None:
        if name.rpartition(":")[2] not in _INLINE:
            self._pieces.append(" ")

    def _add_to_channel(self, name: str, value: str) -> None:
        match name:
            case "title" | "atom:title":
                self.feed.title = self.feed.title or fold_text(value)[:200]
            case "language" | "dc:language":
                self.feed.language = self.feed.language or value.strip()[:20]
            case "atom:link" if self._attributes.get("rel") == "hub":
                self.feed.hub = self.feed.hub or self._attributes.get("href", "")
            case "atom:link" if self._attributes.get("rel") == "self":
                self.feed.self_link = self.feed.self_link or self._attributes.get("href", "")
