"""Compiles a published list from the stored files of its sources, with the index that says why a name is blocked."""

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration, Source, parse_configuration
from sluice.core.compiler.credits import Credits
from sluice.core.compiler.header import NO_CREDITS, HeaderGenerator
from sluice.core.compiler.published.overlap import OverlapCounter
from sluice.core.compiler.published.places import MergedLines, find_packed_places
from sluice.core.compiler.published.why_index import ShardDirectory, build_shards, count_shards
from sluice.core.errors import SluiceError, Unusable
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.json_text import encode_utf8
from sluice.core.ports import Clock
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.published.sources.bundles import Bundle

_CHECKSUM_LINES: Final = 1


class _SourceHeadersOnly(HeaderGenerator):
    """The header of a published list is written with its version, so only what is said of the sources is needed here."""

    def list_header(
        self, configuration: Configuration, modified: str, credits_by_source: Mapping[int, Credits] = NO_CREDITS
    ) -> list[str]:
        del modified
        return self.credit_lines(configuration, credits_by_source)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredIndex:
    """All shards in one object, each compressed for itself; `directory` says where each of them begins and ends."""

    content: bytes
    directory: Mapping[str, Any]

    def with_part(self, name: str, content: bytes) -> "StoredIndex":
        packed = zlib.compress(content)
        parts = {**self.directory["parts"], name: [len(self.content), len(packed)]}
        return StoredIndex(content=self.content + packed, directory={**self.directory, "parts": parts})


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRules:
    """The lines below the header. `digest` is the hash of the rules among them: comments make no new version."""

    lines: list[str]
    rule_count: int
    digest: str
    index: StoredIndex


class FileLibrary:
    """The files of all bundles, as the download of a compilation."""

    def __init__(self, bundles: Mapping[str, Bundle]) -> None:
        self._files = {url: file.body for bundle in bundles.values() for url, file in bundle.files.items()}

    async def download(self, url: str) -> bytes:
        if url not in self._files:
            raise SluiceError("it is not among the stored files of the list")
        return self._files[url]


async def compile_rules(configuration: Configuration, bundles: Mapping[str, Bundle], clock: Clock) -> CompiledRules:
    """Compile the sources that have a bundle."""
    collectors: list[MergedLines] = []

    def make_collector(limit: int | None) -> MergedLines:
        collectors.append(MergedLines(limit))
        return collectors[-1]

    compiler = FilterCompiler(
        download=FileLibrary(bundles).download,
        clock=clock,
        draw=lambda: 0.0,
        limits=LIMITS,
        headers=_SourceHeadersOnly(),
        make_collector=make_collector,
    )
    result = await compiler.compile(select_sources(configuration, bundles), detailed=True)
    lines, provenance, merged = result.rules, result.provenance, collectors[-1]
    del lines[:_CHECKSUM_LINES]
    if provenance is None:
        raise SluiceError("a compilation of published lists has the origin of each rule")
    del result
    count, digest = digest_rules(lines)
    files = [(file.source, file.file) for file in merged.files]
    directory = ShardDirectory(count_shards(count), files)
    index = pack_index(
        lines,
        directory,
        lambda at, text: find_packed_places(merged, provenance, at + _CHECKSUM_LINES, text),
    )
    return CompiledRules(lines=lines, rule_count=count, digest=digest, index=index)


async def count_overlap(configuration: Configuration, bundles: Mapping[str, Bundle], clock: Clock) -> dict[str, Any]:
    """Return how many rules each source has, has alone, and shares with each other one."""
    compiler = FilterCompiler(download=FileLibrary(bundles).download, clock=clock, draw=lambda: 0.0, limits=LIMITS)
    counter = OverlapCounter()
    sources = await compiler.read_sources(select_sources(configuration, bundles))
    while sources:
        counter.add_source(*sources.pop(0))
    counts = counter.count()
    return counts | {"sources": [{**row, "shared": row["rules"] - row["unique"]} for row in counts["sources"]]}


def select_sources(configuration: Configuration, bundles: Mapping[str, Bundle]) -> Configuration:
    """Return the configuration without the sources of which there is nothing; raises Unusable if none is left."""
    kept = [source for source in configuration.sources if source.source in bundles]
    if not kept:
        raise Unusable("no source of the list can be read, and there is no copy of any")
    # A published list never blocks the hosts of its own sources, or what the operator names.
    values = {"neverBlock": [], **configuration.model_dump(exclude_unset=True)}
    return parse_configuration(values | {"sources": [_dump(source) for source in kept]})


def _dump(source: Source) -> dict[str, Any]:
    return source.model_dump(exclude_unset=True)


def digest_rules(lines: list[str]) -> tuple[int, str]:
    """Return the number and the hash of the lines that are rules."""
    digest, count = hashlib.sha256(), 0
    for line in lines:
        if not is_blank(line) and not is_comment(line):
            digest.update(encode_utf8(line) + b"\n")
            count += 1
    return count, digest.hexdigest()


def pack_index(lines: list[str], directory: ShardDirectory, find_places: Any) -> StoredIndex:
    parts: list[bytes] = []
    places: dict[str, list[int]] = {}
    start = 0
    for name, content in build_shards(lines, directory, find_places):
        parts.append(zlib.compress(content))
        places[name] = [start, len(parts[-1])]
        start += len(parts[-1])
    return StoredIndex(content=b"".join(parts), directory={**directory.as_json(), "parts": places})
