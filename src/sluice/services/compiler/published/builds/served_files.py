"""The objects that addresses serve: compressed once, with all that a reply needs in their metadata."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from sluice.core.filters.formats.table import FORMATS
from sluice.core.filters.formats.writer import FormatWriter
from sluice.core.json_text import encode_utf8
from sluice.services.compiler.cache.gzip_parts import Deflated
from sluice.services.compiler.published.sources.bundles import compress, join_in_chunks

TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
# Marks the address of a list that was never built.
UNBUILT: Final[Mapping[str, str]] = {"unbuilt": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFile:
    """A gzip file, and the metadata beside it."""

    content: bytes
    metadata: Mapping[str, str]

    @classmethod
    def of_text(cls, text: bytes, list_format: str, *, version: int, modified_s: int) -> Self:
        facts = _Facts(len(text), list_format, version, modified_s)
        content = compress(text)
        return cls(content=content, metadata=facts.as_metadata(content))

    @classmethod
    def of_format(cls, writer: FormatWriter, list_format: str, *, version: int, modified_s: int) -> Self:
        """Write the body and then the header, of which only compressed bytes are in memory."""
        body = Deflated.compress(join_in_chunks(f"{line}\n" for line in writer.iterate_body()))
        head = encode_utf8("".join(f"{line}\n" for line in writer.list_header()))
        facts = _Facts(len(head) + body.size, list_format, version, modified_s)
        content = body.with_head(head)
        return cls(content=content, metadata=facts.as_metadata(content))


@dataclass(frozen=True, slots=True)
class _Facts:
    size: int
    list_format: str
    version: int
    modified_s: int

    def as_metadata(self, content: bytes) -> dict[str, str]:
        return {
            # The one that R2 gives the object itself, so that R2 need not read what a client has already.
            "etag": hashlib.md5(content, usedforsecurity=False).hexdigest(),
            "modified": str(self.modified_s),
            "size": str(self.size),
            "type": JSON if FORMATS[self.list_format].is_json else TEXT,
            "version": str(self.version),
        }
