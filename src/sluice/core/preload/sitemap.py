"""Sitemaps read as they arrive: gzip told by its first bytes, no document type, everything counted against a cap."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from xml.parsers import expat

from sluice.core.errors import Refused

MAX_BYTES: Final = 50 * 1024 * 1024  # uncompressed, as sitemaps.org has it
MAX_URLS: Final = 50_000
MAX_TEXT_CHARS: Final = 4096
MAX_DEPTH: Final = 16  # elements inside each other; a real one has 3, images and videos 4
MAX_ROBOTS_SITEMAPS: Final = 20
_GZIP: Final = b"\x1f\x8b"
_SEPARATOR: Final = "\x1f"
_NAMESPACES: Final = frozenset(
    {"", "http://www.sitemaps.org/schemas/sitemap/0.9", "https://www.sitemaps.org/schemas/sitemap/0.9"}
    | {"http://www.google.com/schemas/sitemap/0.84", "https://www.google.com/schemas/sitemap/0.84"}
)


@dataclass(frozen=True, slots=True)
class Located:
    """One address in a sitemap; `modified_at` in epoch seconds."""

    url: str
    modified_at: float | None


@dataclass(slots=True)
class Sitemap:
    """What a file held: pages, or in an index further sitemaps."""

    pages: list[Located] = field(default_factory=list)
    sitemaps: list[Located] = field(default_factory=list)


class SitemapReader:
    """Feed it the bytes of one file, then `finish()`; whatever is wrong raises Refused."""

    def __init__(self, *, max_bytes: int = MAX_BYTES, max_urls: int = MAX_URLS) -> None:
        self.found = Sitemap()
        self._max_bytes = max_bytes
        self._max_urls = max_urls
        self._head = b""
        self._unzip: zlib._Decompress | None = None
        self._total = 0
        self._elements = _Elements(self._located)

    def feed(self, chunk: bytes) -> None:
        if self._head is not None and self._total == 0 and len(self._head) < len(_GZIP):
            self._head += chunk
            if len(self._head) < len(_GZIP):
                return
            chunk = self._head
            self._unzip = zlib.decompressobj(wbits=31) if chunk.startswith(_GZIP) else None
        for part in self._plain(chunk):
            self._total += len(part)
            if self._total > self._max_bytes:
                raise Refused(f"the sitemap is larger than {self._max_bytes} bytes")
            self._elements.feed(part)

    def finish(self) -> Sitemap:
        if self._unzip and not self._unzip.eof:
            raise Refused("the compressed sitemap breaks off")
        self._elements.finish()
        return self.found

    def _plain(self, chunk: bytes) -> Iterator[bytes]:
        """A little at a time, so that a bomb is noticed while it is small."""
        if self._unzip is None:
            yield chunk
            return
        while chunk and not self._unzip.eof:
            try:
                yield self._unzip.decompress(chunk, 65_536)
            except zlib.error:
                raise Refused("the sitemap is not valid gzip") from None
            chunk = self._unzip.unconsumed_tail

    def _located(self, kind: str, url: str, modified: str) -> None:
        into = self.found.sitemaps if kind == "sitemap" else self.found.pages
        if len(into) >= self._max_urls:
            raise Refused(f"the sitemap holds more than {self._max_urls} addresses")
        into.append(Located(url, parse_w3c(modified)))


class _Elements:
    """The XML itself: of all elements, only `loc` and `lastmod` of a `url` or `sitemap` count."""

    def __init__(self, located: Callable[[str, str, str], None]) -> None:
        self._located = located
        self._path: list[str] = []
        self._texts: dict[str, str] = {}
        self._parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self._parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.buffer_text = True

    def feed(self, chunk: bytes) -> None:
        self._parse(chunk, final=False)

    def finish(self) -> None:
        self._parse(b"", final=True)

    def _parse(self, chunk: bytes, *, final: bool) -> None:
        try:
            self._parser.Parse(chunk, final)
        except expat.ExpatError as error:
            raise Refused(f"the sitemap is not valid XML: {error}") from None

    def _refuse_doctype(self, *_declared: object) -> None:
        raise Refused("the sitemap declares a document type, which no sitemap needs")

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        if len(self._path) >= MAX_DEPTH:
            raise Refused(f"the sitemap has more than {MAX_DEPTH} elements inside each other")
        namespace, _, local = name.rpartition(_SEPARATOR)
        self._path.append(local if namespace in _NAMESPACES else "")
        if self._path[1:] in (["url"], ["sitemap"]):
            self._texts = {}

    def _text(self, text: str) -> None:
        if len(self._path) == 3 and self._path[-1] in {"loc", "lastmod"}:
            whole = self._texts.get(self._path[-1], "") + text
            if len(whole) > MAX_TEXT_CHARS:
                raise Refused(f"the sitemap has a text of more than {MAX_TEXT_CHARS} characters")
            self._texts[self._path[-1]] = whole

    def _end(self, _name: str) -> None:
        if self._path[1:] in (["url"], ["sitemap"]) and (url := self._texts.get("loc", "").strip()):
            self._located(self._path[-1], url, self._texts.get("lastmod", "").strip())
        self._path.pop()


def parse_w3c(text: str) -> float | None:
    """Epoch seconds of `2026-11-16` or `2026-11-16T04:00:00+01:00`; None for what nobody can read."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def robots_sitemaps(text: str) -> list[str]:
    """The addresses in the `Sitemap:` lines of a robots.txt."""
    lines = (line.partition("#")[0] if "://" not in line else line for line in text.splitlines())
    named = (line.partition(":")[2].strip() for line in lines if line.strip().lower().startswith("sitemap:"))
    return [url for url in named if url][:MAX_ROBOTS_SITEMAPS]
