"""The objects that addresses serve: compressed once, with all that a reply needs in their metadata."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from sluice.core.filters.formats.table import FORMATS
from sluice.core.json_text import encode_utf8
from sluice.services.compiler.published.sources.bundles import compress

TEXT: Final = "text/plain; charset=utf-8"
JSON: Final = "application/json"
_ETAG_CHARS: Final = 32
# Marks the address of a list that was never built.
UNBUILT: Final[Mapping[str, str]] = {"unbuilt": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFile:
    """A gzip file, and the metadata beside it."""

    content: bytes
    metadata: Mapping[str, str]

    @classmethod
    def build(cls, lines: list[str], list_format: str, *, version: int, modified_s: int) -> Self:
        text = encode_utf8("\n".join(lines))
        return cls(
            content=compress(text),
            metadata={
                "etag": hashlib.sha256(text).hexdigest()[:_ETAG_CHARS],
                "modified": str(modified_s),
                "size": str(len(text)),
                "type": JSON if FORMATS[list_format].json_key else TEXT,
                "version": str(version),
            },
        )
