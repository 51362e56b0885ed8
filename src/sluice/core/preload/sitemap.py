"""Sitemaps, parsed as they arrive: gzip is recognised by its first bytes, a DOCTYPE is refused, everything is capped."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from xml.parsers import expat

from sluice.core.errors import Refused

MAX_BYTES: Final = 50 * 1024 * 1024  # uncompressed, the limit of sitemaps.org
MAX_URLS: Final = 50_000
MAX_TEXT_CHARS: Final = 4096
MAX_DEPTH: Final = 16  # nested elements; a real sitemap has 3, with images and videos 4
MAX_ROBOTS_SITEMAPS: Final = 20
_GZIP: Final = b"\x1f\x8b"
_SEPARATOR: Final = "\x1f"
_NAMESPACES: Final = frozenset(
    {"", "http://www.sitemaps.org/schemas/sitemap/0.9", "https://www.sitemaps.org/schemas/sitemap/0.9"}
    | {"http://www.google.com/schemas/sitemap/0.84", "https://www.google.com/schemas/sitemap/0.84"}
)


@dataclass(frozen=True, slots=True)
class SitemapLink:
    """One URL in a sitemap; `modified_at` in epoch seconds."""

    url: str
    modified_at: float | None


@dataclass(slots=True)
class Sitemap:
    """The content of a file: pages, or further sitemaps in an index."""

    pages: list[SitemapLink] = field(default_factory=list)
    sitemaps: list[SitemapLink] = field(default_factory=list)


class SitemapReader:
    """Takes the bytes of one file by `feed()`, then `finish()`; both raise Refused for a bad file."""

    def __init__(self, *, max_bytes: int = MAX_BYTES, max_urls: int = MAX_URLS) -> None:
        self._sitemap = Sitemap()
        self._max_bytes = max_bytes
        self._max_urls = max_urls
        self._head = b""
        self._unzip: zlib._Decompress | None = None
        self._total = 0
        self._elements = _Elements(self._add_link)

    def feed(self, chunk: bytes) -> None:
        if self._head is not None and self._total == 0 and len(self._head) < len(_GZIP):
            self._head += chunk
            if len(self._head) < len(_GZIP):
                return
            chunk = self._head
            self._unzip = zlib.decompressobj(wbits=31) if chunk.startswith(_GZIP) else None
        for part in self._decompress(chunk):
            self._total += len(part)
            if self._total > self._max_bytes:
                raise Refused(f"the sitemap is larger than {self._max_bytes} bytes")
            self._elements.feed(part)

    def finish(self) -> Sitemap:
        if self._unzip and not self._unzip.eof:
            raise Refused("the compressed sitemap is cut off")
        self._elements.finish()
        return self._sitemap

    def _decompress(self, chunk: bytes) -> Iterator[bytes]:
        """Yield 64 kB at a time, so that a zip bomb is noticed while it is small."""
        if self._unzip is None:
            yield chunk
            return
        while chunk and not self._unzip.eof:
            try:
                yield self._unzip.decompress(chunk, 65_536)
            except zlib.error:
                raise Refused("the sitemap is not valid gzip") from None
            chunk = self._unzip.unconsumed_tail

    def _add_link(self, kind: str, url: str, modified: str) -> None:
        into = self._sitemap.sitemaps if kind == "sitemap" else self._sitemap.pages
        if len(into) >= self._max_urls:
            raise Refused(f"the sitemap has more than {self._max_urls} URLs")
        into.append(SitemapLink(url, parse_w3c_time(modified)))


class _Elements:
    """The XML parser: reads `loc` and `lastmod` of each `url` or `sitemap` and ignores all other elements."""

    def __init__(self, add_link: Callable[[str, str, str], None]) -> None:
        self._add_link = add_link
        self._open_elements: list[str] = []
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

    def _refuse_doctype(self, *_declaration: object) -> None:
        raise Refused("the sitemap has a document type declaration, which no sitemap needs")

    def _start(self, name: str, _attributes: dict[str, str]) -> None:
        if len(self._open_elements) >= MAX_DEPTH:
            raise Refused(f"the sitemap has more than {MAX_DEPTH} nested elements")
        namespace, _, local = name.rpartition(_SEPARATOR)
        self._open_elements.append(local if namespace in _NAMESPACES else "")
        if self._open_elements[1:] in (["url"], ["sitemap"]):
            self._texts = {}

    def _text(self, text: str) -> None:
        if len(self._open_elements) == 3 and self._open_elements[-1] in {"loc", "lastmod"}:
            whole = self._texts.get(self._open_elements[-1], "") + text
            if len(whole) > MAX_TEXT_CHARS:
                raise Refused(f"the sitemap has a text of more than {MAX_TEXT_CHARS} characters")
            self._texts[self._open_elements[-1]] = whole

    def _end(self, _name: str) -> None:
        if self._open_elements[1:] in (["url"], ["sitemap"]) and (url := self._texts.get("loc", "").strip()):
            self._add_link(self._open_elements[-1], url, self._texts.get("lastmod", "").strip())
        self._open_elements.pop()


def parse_w3c_time(text: str) -> float | None:
    """Return the epoch seconds of `2026-11-16` or `2026-11-16T04:00:00+01:00`; None for anything else."""
    try:
        time = datetime.fromisoformat(text)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def parse_robots_sitemaps(text: str) -> list[str]:
    """Return the URLs in the `Sitemap:` lines of a robots.txt."""
    lines = (line.partition("#")[0] if "://" not in line else line for line in text.splitlines())
    urls = (line.partition(":")[2].strip() for line in lines if line.strip().lower().startswith("sitemap:"))
    return [url for url in urls if url][:MAX_ROBOTS_SITEMAPS]
