"""The files of one source as they were fetched: the source itself and what it includes, with their validators."""

import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Final

from sluice.core.filters.syntax.line_chunks import cut_chunks
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import HeaderPairs
from sluice.services.compiler.cache.gzip_parts import Deflated, inflate_gzip

_GZIP: Final = zlib.MAX_WBITS | 16
_CHUNK_LINES: Final = 2_000


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """One file in UTF-8, and what a conditional request for it needs."""

    body: bytes
    etag: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """All files by their address; the first one is the source itself."""

    files: Mapping[str, FetchedFile]

    @property
    def digest(self) -> str:
        """The hash of addresses and contents; a new ETag of the same bytes does not change it."""
        digest = hashlib.sha256()
        for url, file in self.files.items():
            digest.update(encode_utf8(f"{url}\n{len(file.body)}\n"))
            digest.update(file.body)
        return digest.hexdigest()

    def pack(self) -> "PackedBundle":
        head = [[url, len(file.body), file.etag, file.modified] for url, file in self.files.items()]
        parts = (encode_utf8(encode_json(head)), b"\n", *(file.body for file in self.files.values()))
        return PackedBundle(self.digest, Deflated.compress(parts).gzip())


@dataclass(frozen=True, slots=True)
class PackedBundle:
    """A compressed bundle: what is kept of a source while others are read."""

    digest: str
    content: bytes = field(repr=False)

    def unpack(self) -> Bundle:
        return unpack_bundle(self.content)

    def read_validators(self) -> dict[str, HeaderPairs]:
        """Return the headers of a conditional request for each file; reads only the beginning."""
        head = b""
        for chunk in inflate_gzip(self.content):
            head += chunk
            if b"\n" in chunk:
                break
        rows = json.loads(head[: head.index(b"\n")])
        return {url: _list_validators(etag, modified) for url, _, etag, modified in rows}


def _list_validators(etag: str, modified: str) -> HeaderPairs:
    pairs = (("If-None-Match", etag), ("If-Modified-Since", modified))
    return tuple((name, value) for name, value in pairs if value)


def unpack_bundle(content: bytes) -> Bundle:
    text = decompress(content)
    start = text.index(b"\n") + 1
    files: dict[str, FetchedFile] = {}
    for url, length, etag, modified in json.loads(text[:start]):
        files[url] = FetchedFile(text[start : start + length], etag, modified)
        start += length
    return Bundle(files)


def compress(content: bytes) -> bytes:
    """Return a gzip file; equal content gives equal bytes."""
    return Deflated.compress([content]).gzip()


def compress_lines(lines: Iterable[str]) -> bytes:
    """Return a gzip file of the lines, whose text is never in memory as a whole."""
    rows = iter(lines)
    separated = chain(islice(rows, 1), (f"\n{line}" for line in rows))
    return Deflated.compress(join_in_chunks(separated)).gzip()


def join_in_chunks(texts: Iterable[str]) -> Iterator[bytes]:
    """Yield the texts as bytes, many at a time."""
    rows = iter(texts)
    while row := list(islice(rows, _CHUNK_LINES)):
        for _, chunk in cut_chunks(row, _CHUNK_LINES):
            yield encode_utf8("".join(chunk))


def decompress(content: bytes) -> bytes:
    # The file ends with the length of the text: with it the text is written once, and not joined from parts.
    return zlib.decompress(content, wbits=_GZIP, bufsize=max(1, int.from_bytes(content[-4:], "little")))
