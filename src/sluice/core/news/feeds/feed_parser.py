"""Parses RSS 2.0, RSS 1.0 and Atom with expat. A feed that declares a document type is refused."""

from dataclasses import dataclass, field
from typing import Final
from xml.parsers import expat

from sluice.core.errors import SluiceError

MAX_ITEMS: Final = 200
MAX_DEPTH: Final = 64
MAX_FIELD_CHARS: Final = 20_000
_ROOTS: Final = frozenset({"rss", "RDF", "feed"})
_ITEMS: Final = frozenset({"item", "entry"})
_CONTAINERS: Final = _ITEMS | {"channel", "feed"}
_IMAGES: Final = frozenset({"thumbnail", "content", "enclosure"})


class BadFeed(SluiceError):
    """The response is not a feed that can be read."""


@dataclass(slots=True)
class ParsedFeed:
    """The members of the feed and of each item, named without namespace; the first of a name counts."""

    channel: dict[str, str] = field(default_factory=dict)
    items: list[dict[str, str]] = field(default_factory=list)


def parse_feed(body: bytes) -> ParsedFeed:
    """Raises BadFeed for XML that is not well-formed, declares a document type, or is not a feed.

    A feed that breaks off after some items still returns those items.
    """
    handlers = _FeedHandlers()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = handlers.start_element
    parser.EndElementHandler = handlers.end_element
    parser.CharacterDataHandler = handlers.add_text
    # Entities can blow up a small document or read a file, and no feed needs them.
    parser.StartDoctypeDeclHandler = _refuse_declaration
    parser.EntityDeclHandler = _refuse_declaration
    try:
        parser.Parse(body.lstrip(), True)
    except expat.ExpatError as error:
        if not handlers.feed.items:
            raise BadFeed(f"the feed is not well-formed: {error}") from None
    if not handlers.is_feed:
        raise BadFeed("the document is XML, but neither RSS nor Atom")
    return handlers.feed


def _refuse_declaration(*_: object) -> None:
    raise BadFeed("the feed declares a document type, which is not allowed")


class _FeedHandlers:
    def __init__(self) -> None:
        self.feed = ParsedFeed()
        self.is_feed = False
        self._open: list[str] = []
        self._pieces: list[str] = []
        self._size = 0
        self._item: dict[str, str] | None = None

    def start_element(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self.is_feed = self.is_feed or name in _ROOTS
        if len(self._open) >= MAX_DEPTH:
            raise BadFeed(f"the feed is nested more than {MAX_DEPTH} levels deep")
        self._open.append(name)
        if name in _ITEMS:
            self._item = {}
        elif name == "link" and attributes.get("href") and attributes.get("rel", "alternate") == "alternate":
            self._add_member("link", attributes["href"])
        elif name in _IMAGES and _is_image(attributes):
            self._add_member("image", attributes["url"])
        elif len(self._open) > 1 and self._open[-2] in _CONTAINERS:
            self._pieces, self._size = [], 0

    def add_text(self, text: str) -> None:
        if self._size < MAX_FIELD_CHARS:
            self._pieces.append(text)
            self._size += len(text)

    def end_element(self, _qualified: str) -> None:
        name = self._open.pop()
        if name in _ITEMS and self._item is not None:
            if len(self.feed.items) < MAX_ITEMS:
                self.feed.items.append(self._item)
            self._item = None
        elif self._open and self._open[-1] in _CONTAINERS:
            self._add_member(name, "".join(self._pieces).strip())

    def _add_member(self, name: str, value: str) -> None:
        members = self.feed.channel if self._item is None else self._item
        if value:
            members.setdefault(name, value[:MAX_FIELD_CHARS])


def _is_image(attributes: dict[str, str]) -> bool:
    media_type = attributes.get("type", attributes.get("medium", "image"))
    return bool(attributes.get("url")) and media_type.startswith("image")
