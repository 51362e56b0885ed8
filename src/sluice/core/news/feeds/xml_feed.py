"""RSS 2.0, RSS 1.0 and Atom feeds, read with expat; a feed that declares entities is refused."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin, urlsplit
from xml.parsers import expat

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.news.feeds.normalise import normalised
from sluice.core.news.feeds.source import MAX_BYTES, TIMEOUT_S, Harvest, check_status
from sluice.core.ports import Fetch

MAX_ITEMS: Final = 200
MAX_DEPTH: Final = 64
MAX_FIELD_CHARS: Final = 20_000
_ACCEPT: Final = (("Accept", "application/rss+xml, application/atom+xml, application/xml;q=0.9, text/xml;q=0.8"),)
_ITEMS: Final = frozenset({"item", "entry"})
MAX_NAME_CHARS: Final = 60  # ten of them stand in metadata of 1,024 bytes
# Names without their namespace, and what they mean; the first that is there counts.
_TITLE: Final = ("title",)
_LINK: Final = ("link", "origLink")
_PUBLISHED: Final = ("pubDate", "published", "date", "issued", "updated", "modified")
_TEXT: Final = ("description", "summary", "encoded", "content")


class BadFeed(SluiceError):
    """What was fetched is no feed that can be read."""


@dataclass(frozen=True, slots=True)
class Feed:
    """One feed as a source, named by its address without the query, which may hold a key."""

    fetch: Fetch
    url: str

    @property
    def name(self) -> str:
        parts = urlsplit(self.url)
        return f"feed:{parts.netloc}{parts.path}"[:MAX_NAME_CHARS]

    async def harvest(self, _known: Collection[str], now_ms: int) -> Harvest:
        try:
            answer = await self.fetch(self.url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, headers=_ACCEPT)
            check_status(answer, self.url)
            parsed = parse_feed(answer.body)
        except SluiceError as error:
            return Harvest((), 0, error)
        articles: dict[str, Article] = {}
        for each in _articles(parsed, answer.url, now_ms):
            articles.setdefault(each.id, each)
        newest_first = sorted(articles.values(), key=lambda each: each.text("pubDate"), reverse=True)
        return Harvest(tuple(newest_first), 1)


@dataclass(slots=True)
class Parsed:
    """The feed's own members, and those of each item: names without namespace, the first of a name counts."""

    channel: dict[str, str] = field(default_factory=dict)
    items: list[dict[str, str]] = field(default_factory=list)


def parse_feed(body: bytes) -> Parsed:
    """Raises BadFeed for what is not well-formed, declares a document type, or holds no feed."""
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    # Entities are how a small document becomes a huge one, or reads a file; no feed needs them.
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(body.lstrip(), True)
    except expat.ExpatError as error:
        if not reader.parsed.items:
            raise BadFeed(f"the feed is not well-formed: {error}") from None
    if not reader.is_feed:
        raise BadFeed("it is XML, but neither RSS nor Atom")
    return reader.parsed


def _refuse(*_: object) -> None:
    raise BadFeed("the feed declares a document type, which is not read")


class _Reader:
    def __init__(self) -> None:
        self.parsed = Parsed()
        self.is_feed = False
        self._path: list[str] = []
        self._pieces: list[str] = []
        self._size = 0
        self._item: dict[str, str] | None = None

    def start(self, qualified: str, attributes: dict[str, str]) -> None:
        name = qualified.rpartition(" ")[2]
        self.is_feed = self.is_feed or name in {"rss", "RDF", "feed"}
        if len(self._path) >= MAX_DEPTH:
            raise BadFeed(f"the feed is nested more than {MAX_DEPTH} levels deep")
        self._path.append(name)
        if name in _ITEMS:
            self._item = {}
        elif name == "link" and attributes.get("href") and attributes.get("rel", "alternate") == "alternate":
            self._note("link", attributes["href"])
        elif name in {"thumbnail", "content", "enclosure"} and _is_image(attributes):
            self._note("image", attributes["url"])
        elif self._is_member():
            self._pieces, self._size = [], 0

    def text(self, text: str) -> None:
        if self._size < MAX_FIELD_CHARS:
            self._pieces.append(text)
            self._size += len(text)

    def end(self, _qualified: str) -> None:
        name = self._path.pop()
        if name in _ITEMS and self._item is not None:
            if len(self.parsed.items) < MAX_ITEMS:
                self.parsed.items.append(self._item)
            self._item = None
        elif self._path and self._path[-1] in {*_ITEMS, "channel", "feed"}:
            self._note(name, "".join(self._pieces).strip())

    def _is_member(self) -> bool:
        return len(self._path) > 1 and self._path[-2] in {*_ITEMS, "channel", "feed"}

    def _note(self, name: str, value: str) -> None:
        members = self.parsed.channel if self._item is None else self._item
        if value:
            members.setdefault(name, value[:MAX_FIELD_CHARS])


def _is_image(attributes: dict[str, str]) -> bool:
    kind = attributes.get("type", attributes.get("medium", "image"))
    return bool(attributes.get("url")) and kind.startswith("image")


def _articles(parsed: Parsed, base: str, now_ms: int) -> Iterator[Article]:
    language = parsed.channel.get("language", "")[:2].lower()
    host = urlsplit(base).netloc
    for item in parsed.items:
        found = _first(item, _LINK) or (item.get("guid", "") if item.get("guid", "").startswith("http") else "")
        article = normalised(
            native_id=None,
            title=_first(item, _TITLE),
            link=urljoin(base, found) if found else None,
            published=_first(item, _PUBLISHED),
            queued_at_ms=now_ms,
            description=_first(item, _TEXT),
            source_id=host.removeprefix("www."),
            source_name=parsed.channel.get("title") or host,
            source_url=f"{urlsplit(base).scheme}://{host}",
            image_url=item.get("image"),
            language=language or None,
        )
        if article is not None:
            yield article


def _first(item: dict[str, str], names: tuple[str, ...]) -> str:
    return next((item[name] for name in names if item.get(name)), "")
