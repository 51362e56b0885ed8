"""Compiles a published list from the stored files of its sources, with the index that says why a name is blocked."""

import hashlib
import zlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypedDict

from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.compiler.credits import Credits
from sluice.core.compiler.header import NO_CREDITS, HeaderGenerator
from sluice.core.compiler.published.overlap import OverlapCounter, PairOverlap, SourceRules
from sluice.core.compiler.published.places import find_places
from sluice.core.compiler.published.why_index import FindPlaces, ShardDirectory, build_shards, count_shards
from sluice.core.compiler.source_walk import SourceWalk
from sluice.core.compiler.stage_metrics import Amount
from sluice.core.errors import SluiceError, Unusable
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.json_text import encode_utf8
from sluice.core.ports import Clock
from sluice.services.compiler.limits.memory import MAX_PUBLISHED_BYTES, TextBudget, estimate_text_bytes
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.published.list_store import IndexDirectory
from sluice.services.compiler.published.sources.bundles import Bundle

_CHECKSUM_LINES: Final = 1


class _SourceHeadersOnly(HeaderGenerator):
    """The header of a published list is written with its version, so only what is said of the sources is needed here."""

    def list_header(
        self, configuration: Configuration, modified: str, credits_by_source: Mapping[int, Credits] = NO_CREDITS
    ) -> list[str]:
        del modified
        return self.credit_lines(configuration, credits_by_source)


class SourceOverlap(SourceRules, TypedDict):
    shared: Amount


class Overlap(TypedDict):
    sources: list[SourceOverlap]
    pairs: list[PairOverlap]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedIndex:
    """All shards in one object, each compressed for itself; `directory` says where each of them begins and ends."""

    content: bytes
    directory: IndexDirectory

    def with_part(self, name: str, content: bytes) -> "PackedIndex":
        packed = zlib.compress(content)
        directory = self.directory.copy()
        directory["parts"] = {**directory["parts"], name: [len(self.content), len(packed)]}
        return PackedIndex(content=self.content + packed, directory=directory)


class FileLibrary:
    """The stored files of some sources, as the download of a compilation. A source is loaded when it is read."""

    def __init__(self, sources: Collection[str], load: Callable[[str], Awaitable[Bundle]]) -> None:
        self.sources = sources
        self._load = load
        self._included: dict[str, bytes] = {}

    async def download(self, url: str) -> bytes:
        if url in self.sources:
            files = dict((await self._load(url)).files)
            body = files.pop(url).body
            self._included |= {other: file.body for other, file in files.items()}
            return body
        if url not in self._included:
            raise SluiceError("it is not among the stored files of the list")
        return self._included[url]


async def compile_rules(configuration: Configuration, library: FileLibrary, clock: Clock) -> list[str]:
    """Compile the sources that are in the library; return the lines below the header."""
    budget = TextBudget(MAX_PUBLISHED_BYTES)

    async def download(url: str) -> bytes:
        body = await library.download(url)
        budget.take(estimate_text_bytes(body))
        return body

    compiler = FilterCompiler(
        download=download, clock=clock, draw=lambda: 0.0, limits=LIMITS, headers=_SourceHeadersOnly()
    )
    lines = (await compiler.compile(select_sources(configuration, library.sources))).rules
    del lines[:_CHECKSUM_LINES]
    return lines


async def build_index(
    configuration: Configuration, library: FileLibrary, lines: Sequence[str], rule_count: int
) -> PackedIndex:
    """Read the sources again, find where each rule stands in them, and count what they share."""
    selected = select_sources(configuration, library.sources)
    walk = SourceWalk(selected, library.download, LIMITS)
    places = await find_places(lines, walk, selected.transformations)
    files = [(file.source, file.file) for file in walk.files]
    return pack_index(lines, ShardDirectory(count_shards(rule_count), files), lambda _at, text: places.find(text))


async def count_overlap(configuration: Configuration, library: FileLibrary) -> Overlap:
    """Return how many rules each source has, has alone, and shares with each other one."""
    selected = select_sources(configuration, library.sources)
    counter = OverlapCounter()
    async for source in SourceWalk(selected, library.download, LIMITS).iterate_sources():
        counter.add_source(source.label, source.transform(selected.transformations))
        del source
    counts = counter.count()
    sources: list[SourceOverlap] = [{**row, "shared": row["rules"] - row["unique"]} for row in counts["sources"]]
    return {"sources": sources, "pairs": counts["pairs"]}


def select_sources(configuration: Configuration, stored: Collection[str]) -> Configuration:
    """Return the configuration without the sources of which there is nothing; raise Unusable if none is left."""
    kept = [source for source in configuration.sources if source.source in stored]
    if not kept:
        raise Unusable("no source of the list can be read, and there is no copy of any")
    # A published list never blocks the hosts of its own sources, or what the operator names.
    values = {"neverBlock": [], **configuration.model_dump(exclude_unset=True)}
    return parse_configuration(values | {"sources": [source.model_dump(exclude_unset=True) for source in kept]})


def digest_rules(lines: Iterable[str]) -> tuple[int, str]:
    """Return the number and the hash of the lines that are rules: comments make no new version."""
    digest, count = hashlib.sha256(), 0
    for line in lines:
        if not is_blank(line) and not is_comment(line):
            digest.update(encode_utf8(line) + b"\n")
            count += 1
    return count, digest.hexdigest()


def pack_index(lines: Sequence[str], directory: ShardDirectory, find_places: FindPlaces) -> PackedIndex:
    parts: list[bytes] = []
    places: dict[str, list[int]] = {}
    start = 0
    for name, content in build_shards(lines, directory, find_places):
        parts.append(zlib.compress(content))
        places[name] = [start, len(parts[-1])]
        start += len(parts[-1])
    shards = directory.as_json()
    stored: IndexDirectory = {"shards": shards["shards"], "files": shards["files"], "parts": places}
    return PackedIndex(content=b"".join(parts), directory=stored)
