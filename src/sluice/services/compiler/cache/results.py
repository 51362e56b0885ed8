"""A finished list as it is stored and sent: packed once, never parsed again."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from sluice.core.compiler.compile import CompilationResult
from sluice.core.json_text import encode_json, encode_utf8
from sluice.services.compiler.cache.packing import Packed, packed_head

# How the members before the list tell the caller where it came from.
FRESH: Final = b'{"success":true,'
CACHED: Final = b'{"success":true,"cached":true,'
SHARED: Final = b'{"success":true,"deduplicated":true,'
MAX_NAME_CHARS: Final = 64  # of a list's name in metadata, which may hold 1,024 bytes in all


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """What is told of a list without the list; `cached` if it was there already."""

    cache_key: str
    name: str
    rule_count: int
    source_count: int
    compiled_at: str
    duration_ms: int
    cached: bool = False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The list twice: as the members of a JSON reply from "rules" on, and as plain text."""

    compiled: Compiled
    members: Packed
    text: Packed

    @classmethod
    def of(
        cls,
        result: CompilationResult,
        *,
        cache_key: str,
        name: str,
        compiled_at: str,
        previous: Mapping[str, Any] | None = None,
        detailed: bool = False,
    ) -> Self:
        """Pack a compilation; its rules are not needed any more afterwards."""
        metrics = result.metrics
        told: dict[str, Any] = {"ruleCount": len(result.rules)}
        if metrics:
            told["metrics"] = metrics.as_json()
        if detailed:
            told["report"] = result.report.as_json()
        if previous:
            told["previousVersion"] = previous
        told |= {"compiledAt": compiled_at, "cacheKey": cache_key}
        compiled = Compiled(
            cache_key=cache_key,
            name=name[:MAX_NAME_CHARS],
            rule_count=len(result.rules),
            source_count=metrics.source_count if metrics else 0,
            compiled_at=compiled_at,
            duration_ms=round(metrics.total_duration_ms) if metrics else 0,
        )
        members = Packed.of(encode_utf8(f'"rules":{encode_json(result.rules)},{encode_json(told)[1:]}'))
        return cls(compiled=compiled, members=members, text=Packed.of(encode_utf8("\n".join(result.rules))))

    def to_bytes(self) -> bytes:
        """Everything in one piece, for the way to another isolate."""
        parts = [[len(packed.data), packed.crc, packed.size] for packed in (self.members, self.text)]
        about = encode_utf8(encode_json({"compiled": self.compiled.as_json(), "parts": parts}))
        return b"".join((about, b"\n", self.members.data, self.text.data))

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        about, _, rest = content.partition(b"\n")
        told = json.loads(about)
        (length, *members), (_, *text) = told["parts"]
        return cls(
            compiled=Compiled(**told["compiled"]),
            members=Packed(rest[:length], *members),
            text=Packed(rest[length:], *text),
        )

    def reply_json(self) -> dict[str, Any]:
        """The members as values, for those who need them one by one."""
        found: dict[str, Any] = json.loads(b"{" + unpacked(self.members))
        return found


def unpacked(packed: Packed) -> bytes:
    """The content itself."""
    return zlib.decompress(packed.data, wbits=-zlib.MAX_WBITS, bufsize=packed.size or 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A gzip file with what is needed to tell about it, and to exchange its head, without unpacking it."""

    compiled: Compiled
    content: bytes
    head_bytes: int
    crc: int
    size: int

    @classmethod
    def of(cls, compiled: Compiled, packed: Packed, head: bytes = b"") -> Self:
        return cls(
            compiled=compiled,
            content=packed.with_head(head),
            head_bytes=len(packed_head(head)),
            crc=packed.crc,
            size=packed.size,
        )

    @property
    def packed(self) -> Packed:
        return Packed.in_gzip(self.content, self.head_bytes, crc=self.crc, size=self.size)

    def with_head(self, head: bytes) -> Self:
        return type(self).of(self.compiled, self.packed, head)

    def about(self) -> dict[str, Any]:
        """All but the content, small enough to be metadata."""
        told = {"head_bytes": self.head_bytes, "crc": self.crc, "size": self.size}
        return told | {"compiled": self.compiled.as_json()}

    @classmethod
    def from_about(cls, about: Mapping[str, Any], content: bytes) -> Self:
        return cls(
            compiled=Compiled(**about["compiled"]),
            content=content,
            head_bytes=about["head_bytes"],
            crc=about["crc"],
            size=about["size"],
        )
