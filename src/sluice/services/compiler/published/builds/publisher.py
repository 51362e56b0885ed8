"""Writes a version: its text, its formats and the patch that leads to it; then changes the addresses, one object each.

An address changes in one step: what is served there is one object in R2, which holds the bytes and the facts of its
headers. So a reader gets the old version or the new one as a whole, and needs no D1. The public cache in front of the
Worker is purged by tag afterwards. Only the entry point that filled this cache can do that, so the workflow calls it
through the binding `SELF`.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.published.definition import ADBLOCK
from sluice.core.compiler.published.list_names import derive_patch_id
from sluice.core.compiler.published.patches import write_patch
from sluice.core.compiler.published.text_lines import TextLines
from sluice.core.compiler.published.version_text import SourceNote, VersionText
from sluice.core.compiler.published.versions import RESOURCE, ListState, VersionStamp, name_patch
from sluice.core.errors import SluiceError
from sluice.core.filters.formats.table import PASSED_THROUGH
from sluice.core.filters.formats.writer import FormatWriter
from sluice.core.ports import Bucket, Clock
from sluice.services.compiler.cache.gzip_parts import inflate_gzip
from sluice.services.compiler.published.builds.build_queue import BuildQueue
from sluice.services.compiler.published.builds.build_steps import (
    INDEX,
    BuildDecision,
    BuildSteps,
    digest_definition,
    list_formats,
)
from sluice.services.compiler.published.builds.served_files import UNBUILT, ServedFile
from sluice.services.compiler.published.keys import (
    PREFIX,
    address_key,
    address_prefix,
    build_key,
    cache_tags,
    index_key,
    list_prefixes,
    patch_key,
    version_key,
)
from sluice.services.compiler.published.list_store import (
    FormatCount,
    IndexDirectory,
    ListStore,
    PublishedList,
    SourceNotes,
    StoredVersion,
    VersionRecord,
)
from sluice.services.compiler.published.sources.bundles import decompress

_MAX_SERIAL: Final = 2**32
PATCH_KEPT_S: Final = 7 * 24 * 3600  # at least; those of the last versions are kept longer

# Tells the entrypoint in front of which the public cache stands to purge these tags.
Purge = Callable[[Sequence[str]], Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPublisher:
    lists: ListStore
    builds: BuildQueue
    steps: BuildSteps
    bucket: Bucket
    purge: Purge
    clock: Clock

    async def reserve_addresses(self, name: str, formats: Sequence[str]) -> None:
        """Mark the addresses that nothing is served at yet, so that they answer "not yet" and not "never"."""
        for one in formats:
            key = address_key(name, one)
            if await self.bucket.head(key) is None:
                await self.bucket.put(key, b"", custom_metadata=UNBUILT)

    async def write_text(self, name: str, build_id: str, sources: SourceNotes, decided: BuildDecision) -> VersionRecord:
        """Write the version's text and the patch from the last version to it. Return the facts of the version."""
        await self.builds.renew(build_id)
        known = await self.lists.load_for_build(name, build_id)
        stamp = await self.lists.reserve_stamp(name, build_id)
        async with self.steps.hold_large_slot():
            rules = await self.steps.load_rules(known, build_id, decided)
            described = _build_text(known, stamp, sources, decided, rules)
            header_lines, text = described.header_lines, described.write()
            del rules, described
            file = ServedFile.of_text(text, ADBLOCK, version=stamp.version, modified_s=stamp.created_s)
            await self._stage(build_id, ADBLOCK, file)
            await self.bucket.put(version_key(name, stamp.version), file.content)
            await self._write_patch(known, text)
        directory = await self._store_index(known, build_id, stamp, decided)
        return {
            "stamp": [stamp.version, stamp.created_s, stamp.minute],
            "headerLines": header_lines,
            "patch": name_patch(stamp, _period(known)),
            "ruleCount": decided["ruleCount"],
            "digest": decided["digest"],
            "input": sources["input"],
            "signature": sources["signature"],
            "notes": sources["notes"],
            "state": sources["state"],
            "definition": digest_definition(known.definition),
            "index": directory,
        }

    async def write_format(self, name: str, build_id: str, list_format: str, facts: VersionRecord) -> FormatCount:
        """Make one format from the version's text. Return how many entries it has, and how many rules it cannot say."""
        await self.builds.renew(build_id)
        version, created_s, _ = facts["stamp"]
        if list_format == ADBLOCK:
            return {"format": ADBLOCK, "entries": facts["ruleCount"], "skipped": 0}
        async with self.steps.hold_large_slot():
            content = await self.bucket.get_bytes(version_key(name, version))
            if content is None:
                raise SluiceError(f"version {version} of {name} is no longer stored: build the list again")
            text = decompress(content)
            if list_format in PASSED_THROUGH:
                file = ServedFile.of_text(text, list_format, version=version, modified_s=created_s)
                await self._stage(build_id, list_format, file)
                return {"format": list_format, "entries": facts["ruleCount"], "skipped": 0}
            skipped = Counter[str]()
            writer = FormatWriter(
                TextLines(text),
                list_format,
                serial=created_s % _MAX_SERIAL,
                on_skipped=lambda line: skipped.update((line.reason,)),
            )
            file = ServedFile.of_format(writer, list_format, version=version, modified_s=created_s)
            await self._stage(build_id, list_format, file)
        return {"format": list_format, "entries": writer.entries, "skipped": skipped.total()}

    async def change_addresses(self, name: str, build_id: str, formats: Sequence[str]) -> None:
        """Put what was made in place. Readers of an address get the old version or the new one."""
        for one in formats:
            stored = await self.bucket.get(build_key(build_id, one))
            if stored is None:
                raise SluiceError(f"format {one} of {build_id} is no longer stored: build the list again")
            await self.builds.renew(build_id)
            key = address_key(name, one)
            await self.bucket.put(key, stored.body, custom_metadata=stored.object.custom_metadata)

    async def record(self, name: str, build_id: str, facts: VersionRecord, formats: Sequence[FormatCount]) -> None:
        """Show the version to readers, and purge the copies of the former one."""
        await self.builds.renew(build_id)
        version, created_s, _ = facts["stamp"]
        shown: VersionRecord = {**facts, "formats": list(formats)}
        await self.lists.publish(name, build_id, StoredVersion(version, created_s, facts["ruleCount"], shown))
        await self.purge(cache_tags(name))

    async def remove_all(self, name: str, build_id: str = "") -> None:
        """Remove everything that is stored of a list, and of a build of it."""
        prefixes = [*list_prefixes(name), *([build_key(build_id, "")] if build_id else [])]
        keys = [stored.key for prefix in prefixes async for stored in self.bucket.objects(prefix)]
        if keys:
            await self.bucket.delete(keys)
        await self.purge(cache_tags(name))

    async def remove_unused(self, name: str, build_id: str) -> None:
        """Remove what no version needs any more: old texts, patches and indexes, formats not asked for, staged files."""
        known = await self.lists.find(name)
        if known is None or not known.version:
            return
        versions = await self.lists.load_versions(name)
        patch_id = derive_patch_id(name)
        kept = {version_key(name, one.version) for one in versions}
        kept |= {patch_key(patch_id, one.facts["patch"]) for one in versions}
        kept |= {_index_key(known), *(address_key(name, one) for one in list_formats(known.definition))}
        prefixes = (f"versions/{name}/", f"index/{name}/")
        unused = [
            stored.key
            for prefix in (address_prefix(name), *(PREFIX + prefix for prefix in prefixes), build_key(build_id, ""))
            async for stored in self.bucket.objects(prefix)
            if stored.key not in kept
        ]
        before_s = self.clock.now() - PATCH_KEPT_S
        unused += [
            stored.key
            async for stored in self.bucket.objects(patch_key(patch_id, ""))
            if stored.key not in kept and stored.uploaded_at < before_s
        ]
        if unused:
            await self.bucket.delete(unused)

    async def _stage(self, build_id: str, list_format: str, file: ServedFile) -> None:
        await self.bucket.put(build_key(build_id, list_format), file.content, custom_metadata=file.metadata)

    async def _write_patch(self, known: PublishedList, text: bytes) -> None:
        """Write the patch under the name that the last version states; without a last version there is none."""
        if not known.version:
            return
        old = await self.bucket.get_bytes(version_key(known.name, known.version))
        if old is not None:
            patch = write_patch(inflate_gzip(old), text, RESOURCE)
            await self.bucket.put(patch_key(derive_patch_id(known.name), known.published["patch"]), patch)

    async def _store_index(
        self, known: PublishedList, build_id: str, stamp: VersionStamp, decided: BuildDecision
    ) -> IndexDirectory:
        """Store the index of the rules under their version; rules that stay keep theirs."""
        if "index" not in decided:
            return known.published["index"]
        content = await self.bucket.get_bytes(build_key(build_id, INDEX))
        if content is None:
            raise SluiceError(f"the index of {build_id} is no longer stored: build the list again")
        await self.bucket.put(index_key(known.name, stamp.version), content)
        return {**decided["index"], "version": stamp.version}


def _index_key(known: PublishedList) -> str:
    return index_key(known.name, known.published["index"]["version"])


def _period(known: PublishedList) -> int:
    return known.definition.cron.shortest_gap_minutes() or 0


def _build_text(
    known: PublishedList,
    stamp: VersionStamp,
    sources: SourceNotes,
    decided: BuildDecision,
    rules: bytes,
) -> VersionText:
    return VersionText(
        definition=known.definition,
        stamp=stamp,
        state=ListState(sources["state"]),
        notes=[SourceNote(*note) for note in sources["notes"]],
        rules=rules,
        rule_count=decided["ruleCount"],
        patch_id=derive_patch_id(known.name),
        homepage=f"{known.origin}/lists/{known.name}" if known.origin else "",
    )
