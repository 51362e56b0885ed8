"""The steps of one build. Each may be repeated, and passes keys on, never rules."""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, NotRequired, TypedDict

from sluice.core.compiler.published.definition import ADBLOCK, ListDefinition
from sluice.core.compiler.published.text_lines import TextLines, cut_lines
from sluice.core.compiler.published.versions import BuildOutcome, ListState, SourceState
from sluice.core.compiler.published.why_index import ShardDirectory, count_shards
from sluice.core.errors import NotFound, SluiceError
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import Bucket, Clock, Log
from sluice.services.compiler.published.builds.build_queue import BuildQueue
from sluice.services.compiler.published.builds.rule_compilation import (
    FileLibrary,
    build_index,
    compile_rules,
    count_overlap,
    digest_rules,
    pack_index,
)
from sluice.services.compiler.published.keys import build_key, index_key, version_key
from sluice.services.compiler.published.list_store import IndexDirectory, ListStore, PublishedList, SourceNotes
from sluice.services.compiler.published.sources.bundles import Bundle, compress, compress_lines, decompress
from sluice.services.compiler.published.sources.good_copies import GoodCopyStore
from sluice.services.compiler.published.sources.source_fetcher import SourceFetcher
from sluice.services.compiler.published.sources.source_outcomes import SourceFacts, SourceOutcome

RULES: Final = "rules"
INDEX: Final = "index"
OVERLAP: Final = "overlap"  # a part of the index
_PROGRAM: Final = "1"  # a change of what compilation means is a new input

# Waits until the isolate has room for a long list, and holds it.
HoldLargeSlot = Callable[[], AbstractAsyncContextManager[None]]


class TakenSources(SourceNotes, TypedDict):
    """What was taken for each source: what readers see of it, and what the rules depend on."""

    sources: list[SourceFacts]
    digests: dict[str, str]
    missingPatterns: list[str]


class CompiledRules(TypedDict):
    """The rules of a build. `index` only of rules that were compiled anew."""

    ruleCount: int
    digest: str
    index: NotRequired[IndexDirectory]


class BuildDecision(CompiledRules):
    outcome: BuildOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildSteps:
    lists: ListStore
    builds: BuildQueue
    copies: GoodCopyStore
    bucket: Bucket
    fetcher: SourceFetcher
    hold_large_slot: HoldLargeSlot
    clock: Clock
    log: Log

    async def fetch_sources(self, name: str, build_id: str) -> TakenSources:
        """Read all sources, store the new good copies, and return what was taken for each."""
        await self.builds.renew(build_id)
        definition = (await self.lists.load_for_build(name, build_id)).definition
        outcomes = await self.fetcher.fetch_all(definition, await self.copies.load_copies(name))
        await self.copies.store(name, outcomes)
        counts = {one.source: one.rule_count for one in outcomes if one.state is SourceState.OK and not one.is_patterns}
        await self.lists.record_counts(name, counts)
        return describe_outcomes(definition, outcomes)

    async def compile(self, name: str, build_id: str, sources: TakenSources) -> BuildDecision:
        """Decide whether there is something new, and store the rules if they had to be compiled."""
        await self.builds.renew(build_id)
        known = await self.lists.load_for_build(name, build_id)
        published = known.published
        if known.version and published["input"] == sources["input"]:
            rules: CompiledRules = {"ruleCount": published["ruleCount"], "digest": published["digest"]}
        else:
            rules = await self._compile_anew(known, build_id, sources)
        return {**rules, "outcome": _decide_outcome(known, sources, rules)}

    async def _compile_anew(self, known: PublishedList, build_id: str, sources: TakenSources) -> CompiledRules:
        async with self.hold_large_slot():
            configuration = known.definition.configuration
            library = self._open_library(known.name, sources)
            lines = await compile_rules(configuration, library, self.clock)
            count, digest = digest_rules(lines)
            packed = compress_lines(lines)
            del lines
            await self._store_rules(build_id, packed)
            index = await build_index(configuration, library, TextLines(decompress(packed)), count)
            overlap = await count_overlap(configuration, library)
            index = index.with_part(OVERLAP, encode_utf8(encode_json(overlap)))
            await self.bucket.put(build_key(build_id, INDEX), index.content)
        return {"ruleCount": count, "digest": digest, "index": index.directory}

    async def restore(self, name: str, build_id: str, version: int) -> BuildDecision:
        """Store the rules of an older version as those of this build."""
        await self.builds.renew(build_id)
        known = await self.lists.load_for_build(name, build_id)
        found = next((one for one in await self.lists.load_versions(name) if one.version == version), None)
        if found is None:
            raise NotFound(f"version {version} of {name} is no longer stored")
        async with self.hold_large_slot():
            rules = await self._load_rules(name, version, found.facts["headerLines"])
            lines = TextLines(rules)
            count, digest = digest_rules(lines)
            index = pack_index(lines, ShardDirectory(count_shards(count), []), lambda _at, _text: ())
            index = index.with_part(OVERLAP, await read_index_part(self.bucket, known, OVERLAP))
            await self.bucket.put(build_key(build_id, INDEX), index.content)
            await self._store_rules(build_id, compress(rules))
        return {"ruleCount": count, "digest": digest, "index": index.directory, "outcome": BuildOutcome.PUBLISHED}

    async def _store_rules(self, build_id: str, content: bytes) -> None:
        await self.bucket.put(build_key(build_id, RULES), content)

    async def load_rules(self, known: PublishedList, build_id: str, decided: BuildDecision) -> bytes:
        """Return the rules of the build: compiled anew, or those of the published version."""
        if "index" not in decided:
            return await self._load_rules(known.name, known.version, known.published["headerLines"])
        content = await self.bucket.get_bytes(build_key(build_id, RULES))
        if content is None:
            raise SluiceError(f"the rules of {build_id} are no longer stored: build the list again")
        return decompress(content)

    async def _load_rules(self, name: str, version: int, header_lines: int) -> bytes:
        content = await self.bucket.get_bytes(version_key(name, version))
        if content is None:
            raise NotFound(f"version {version} of {name} is no longer stored")
        return cut_lines(decompress(content), header_lines)

    def _open_library(self, name: str, sources: TakenSources) -> FileLibrary:
        digests = sources["digests"]

        async def load(source: str) -> Bundle:
            return await self.copies.load_bundle(name, source, digests[source])

        return FileLibrary(digests, load)


async def read_index_part(bucket: Bucket, known: PublishedList, part: str) -> bytes:
    """Return one part of the index of the published version, without reading the others."""
    index = known.published["index"]
    start, length = index["parts"][part]
    stored = await bucket.get(index_key(known.name, index["version"]), offset=start, length=length)
    if stored is None:
        raise NotFound(f"the index of {known.name} is no longer stored: build the list again")
    return zlib.decompress(stored.body)


def describe_outcomes(definition: ListDefinition, outcomes: Iterable[SourceOutcome]) -> TakenSources:
    """Return plain values: what readers see of each source, the header's notes, and what the rules depend on."""
    every = list(outcomes)
    digests = {one.source: one.packed.digest for one in every if one.packed}
    notes = [[note.source, note.substitute, note.reason] for one in every if (note := one.note)]
    missing = [one.source for one in every if one.is_patterns and one.packed is None]
    content = encode_json([_PROGRAM, definition.configuration.model_dump(), digests])
    return {
        "sources": [one.facts for one in every if not one.is_patterns],
        "digests": digests,
        "notes": notes,
        "missingPatterns": missing,
        "state": ListState.DEGRADED if notes else ListState.FRESH,
        "input": hashlib.sha256(encode_utf8(content)).hexdigest(),
        "signature": [[source, substitute] for source, substitute, _ in notes],
    }


def _decide_outcome(known: PublishedList, sources: TakenSources, decided: CompiledRules) -> BuildOutcome:
    if decided["ruleCount"] < known.definition.min_rules:
        return BuildOutcome.REFUSED
    published = known.published
    is_same = (
        known.version > 0
        and published["digest"] == decided["digest"]
        and published["signature"] == sources["signature"]
        and published["definition"] == digest_definition(known.definition)
    )
    return BuildOutcome.UNCHANGED if is_same else BuildOutcome.PUBLISHED


def digest_definition(definition: ListDefinition) -> str:
    """Return the hash of what the texts depend on besides the rules."""
    configuration = definition.configuration
    values: Sequence[Any] = (
        configuration.name, configuration.homepage, configuration.license, definition.text,
        definition.cron.shortest_gap_minutes(), definition.further_formats,
    )  # fmt: skip
    return hashlib.sha256(encode_utf8(encode_json(values))).hexdigest()


def list_formats(definition: ListDefinition) -> list[str]:
    return [ADBLOCK, *definition.further_formats]
