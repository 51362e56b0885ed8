"""A compiled list as it is stored and sent: compressed once, never parsed again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, NotRequired, Self, TypedDict

from sluice.core.compiler.compilation_result import CompilationResult
from sluice.core.compiler.report import DropReport
from sluice.core.compiler.stage_metrics import Amount, CompileMetrics
from sluice.core.doc import Doc
from sluice.core.filters.syntax.line_chunks import cut_chunks
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.timestamps import Timestamp
from sluice.services.compiler.cache.gzip_parts import Deflated, deflate_head, inflate_gzip
from sluice.services.compiler.cache.version_diff import PreviousVersion

# The first members of a JSON reply say where the list came from.
FRESH_HEAD: Final = b'{"success":true,'
CACHED_HEAD: Final = b'{"success":true,"cached":true,'
SHARED_HEAD: Final = b'{"success":true,"deduplicated":true,'
_CHUNK_LINES: Final = 4096
MAX_NAME_CHARS: Final = 64  # of a list's name in KV metadata, which may hold 1,024 bytes in all


class ListMembers(TypedDict):
    ruleCount: Amount
    metrics: NotRequired[CompileMetrics]
    report: NotRequired[DropReport]
    previousVersion: NotRequired[PreviousVersion]
    compiledAt: Timestamp
    cacheKey: str


class FilterList(ListMembers):
    """A compiled list; `report` is present on request, `previousVersion` if there is one."""

    rules: Annotated[list[str], Doc("The lines of the list, including its header.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSummary:
    """The facts about a list without its rules; `cached` if it was in the cache already."""

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
class CompressedList:
    """The list in two forms: the members of a JSON reply from "rules" on, and plain text."""

    summary: ListSummary
    members: Deflated
    text: Deflated

    @classmethod
    def compress(
        cls,
        result: CompilationResult,
        *,
        cache_key: str,
        name: str,
        compiled_at: str,
        previous: PreviousVersion | None = None,
        detailed: bool = False,
        benchmark: bool = False,
    ) -> Self:
        """Compress the result of a compilation; the plain rules are not needed afterwards."""
        metrics = result.metrics
        rule_count = count_rules(result.rules)
        facts = _describe_compilation(result, previous, detailed=detailed, benchmark=benchmark)
        members: ListMembers = {"ruleCount": rule_count, **facts, "compiledAt": compiled_at, "cacheKey": cache_key}
        summary = ListSummary(
            cache_key=cache_key,
            name=name[:MAX_NAME_CHARS],
            rule_count=rule_count,
            source_count=metrics.source_count if metrics else 0,
            compiled_at=compiled_at,
            duration_ms=round(metrics.total_duration_ms) if metrics else 0,
        )
        return cls(
            summary=summary,
            members=Deflated.compress(_encode_members(result.rules, members)),
            text=Deflated.compress(_encode_lines(result.rules)),
        )

    def to_bytes(self) -> bytes:
        """Return everything in one piece, to store it between two steps of a workflow."""
        parts = [[len(part.data), part.crc, part.size] for part in (self.members, self.text)]
        head = encode_utf8(encode_json({"compiled": self.summary.as_json(), "parts": parts}))
        return b"".join((head, b"\n", self.members.data, self.text.data))

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        head, _, rest = content.partition(b"\n")
        values = json.loads(head)
        (length, *members), (_, *text) = values["parts"]
        return cls(
            summary=ListSummary(**values["compiled"]),
            members=Deflated(rest[:length], *members),
            text=Deflated(rest[length:], *text),
        )

    def reply_members(self) -> FilterList:
        """Return the members of the JSON reply as values."""
        values: FilterList = json.loads(b"{" + self.members.inflate())
        return values


class _Details(TypedDict, total=False):
    metrics: CompileMetrics
    report: DropReport
    previousVersion: PreviousVersion


def _describe_compilation(
    result: CompilationResult, previous: PreviousVersion | None, *, detailed: bool, benchmark: bool
) -> _Details:
    details: _Details = {}
    if result.metrics and benchmark:
        details["metrics"] = result.metrics.as_json()
    if detailed:
        details["report"] = result.report.as_json()
    if previous:
        details["previousVersion"] = previous
    return details


def count_rules(lines: Sequence[str]) -> int:
    """Count the lines that are neither empty nor comments."""
    return sum(1 for line in lines if not is_blank(line) and not is_comment(line))


def _encode_members(rules: Sequence[str], members: ListMembers) -> Iterator[bytes]:
    yield b'"rules":['
    for at, chunk in cut_chunks(rules, _CHUNK_LINES):
        yield b"," if at else b""
        yield encode_utf8(encode_json(chunk))[1:-1]
    yield encode_utf8(f"],{encode_json(members)[1:]}")


def _encode_lines(rules: Sequence[str]) -> Iterator[bytes]:
    for at, chunk in cut_chunks(rules, _CHUNK_LINES):
        yield b"\n" if at else b""
        yield encode_utf8("\n".join(chunk))


@dataclass(frozen=True, slots=True, kw_only=True)
class GzippedList:
    """A gzip file of a list, with what is needed to describe it and to replace its head without inflating it."""

    summary: ListSummary
    content: bytes
    head_bytes: int
    crc: int
    size: int

    @classmethod
    def assemble(cls, summary: ListSummary, body: Deflated, head: bytes = b"") -> Self:
        return cls(
            summary=summary,
            content=body.with_head(head),
            head_bytes=len(deflate_head(head)),
            crc=body.crc,
            size=body.size,
        )

    @property
    def body(self) -> Deflated:
        return Deflated.from_gzip(self.content, self.head_bytes, crc=self.crc, size=self.size)

    def inflate_chunks(self) -> Iterator[bytes]:
        """Yield the whole content, plain."""
        return inflate_gzip(self.content)

    def with_head(self, head: bytes) -> Self:
        return type(self).assemble(self.summary, self.body, head)

    def metadata(self) -> dict[str, Any]:
        """Return everything but the content, small enough for KV metadata."""
        return {
            "head_bytes": self.head_bytes,
            "crc": self.crc,
            "size": self.size,
            "compiled": self.summary.as_json(),
        }

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any], content: bytes) -> Self:
        return cls(
            summary=ListSummary(**metadata["compiled"]),
            content=content,
            head_bytes=metadata["head_bytes"],
            crc=metadata["crc"],
            size=metadata["size"],
        )
