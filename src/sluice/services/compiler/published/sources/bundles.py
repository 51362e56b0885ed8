"""The files of one source as they were fetched: the source itself and what it includes, with their validators."""

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from sluice.core.json_text import encode_json, encode_utf8
from sluice.services.compiler.cache.gzip_parts import inflate_gzip

_GZIP: Final = zlib.MAX_WBITS | 16
_LEVEL: Final = 6


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file in UTF-8, and what a conditional request for it needs."""

    body: bytes
    etag: str = ""
    modified: str = ""


@dataclass(frozen=True, slots=True)
class Bundle:
    """All files by their address; the first one is the source itself."""

    files: Mapping[str, SourceFile]

    @property
    def digest(self) -> str:
        """The hash of addresses and contents; a new ETag of the same bytes does not change it."""
        digest = hashlib.sha256()
        for url, file in self.files.items():
            digest.update(encode_utf8(f"{url}\n{len(file.body)}\n"))
            digest.update(file.body)
        return digest.hexdigest()

    def to_bytes(self) -> bytes:
        head = [[url, len(file.body), file.etag, file.modified] for url, file in self.files.items()]
        return compress(b"".join((encode_utf8(encode_json(head)), b"\n", *(file.body for file in self.files.values()))))

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        head, _, rest = decompress(content).partition(b"\n")
        files: dict[str, SourceFile] = {}
        start = 0
        for url, length, etag, modified in json.loads(head):
            files[url] = SourceFile(rest[start : start + length], etag, modified)
            start += length
        return cls(files)


def compress(content: bytes) -> bytes:
    """Return a gzip file; equal content gives equal bytes."""
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    return deflate.compress(content) + deflate.flush()


def decompress(content: bytes) -> bytes:
    return b"".join(inflate_gzip(content))
