"""The last good copies of sources: a row in D1 says which object in R2 it is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.compiler.published.replacement_check import COPY_KEPT_S
from sluice.core.compiler.published.versions import SourceState
from sluice.core.errors import SluiceError
from sluice.core.ports import Bucket, Clock, Database, DatabaseRow
from sluice.services.compiler.published.keys import copies_prefix, copy_key
from sluice.services.compiler.published.sources.bundles import Bundle, PackedBundle, unpack_bundle
from sluice.services.compiler.published.sources.source_outcomes import GoodCopy, SourceOutcome

_PUT: Final = (
    "insert or replace into published_copies (list, source, digest, rule_count, fetched_ms) values (?, ?, ?, ?, ?)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodCopyStore:
    database: Database
    bucket: Bucket
    clock: Clock

    async def load_copies(self, name: str) -> dict[str, GoodCopy]:
        """Return the copies that may still be used, by source; one that cannot be read counts as none."""
        copies = {}
        for row in await self._load_rows(name):
            content = await self.bucket.get_bytes(copy_key(name, row["source"], row["digest"]))
            if content is not None:
                copies[row["source"]] = GoodCopy(
                    rule_count=row["rule_count"],
                    fetched_s=row["fetched_ms"] / 1000,
                    packed=PackedBundle(row["digest"], content),
                )
        return copies

    async def store(self, name: str, outcomes: Iterable[SourceOutcome]) -> None:
        """Store what was read as the new good copies; what was not read keeps its copy and its time."""
        for outcome in outcomes:
            if outcome.state not in {SourceState.OK, SourceState.MIRROR} or outcome.packed is None:
                continue
            digest = outcome.packed.digest
            key = copy_key(name, outcome.source, digest)
            # The row does not tell: it stays when its object is removed because the list no longer has the source.
            if await self.bucket.head(key) is None:
                await self.bucket.put(key, outcome.packed.content)
            fetched_ms = round((outcome.fetched_s or 0) * 1000)
            await self.database.run(_PUT, name, outcome.source, digest, outcome.rule_count, fetched_ms)

    async def load_bundle(self, name: str, source: str, digest: str) -> Bundle:
        content = await self.bucket.get_bytes(copy_key(name, source, digest))
        if content is None:
            raise SluiceError(f"the copy {digest[:12]} of {name} is no longer stored: build the list again")
        return unpack_bundle(content)

    async def remove_unused(self, name: str, sources: Iterable[str]) -> None:
        """Remove the copies of sources that the list no longer has, those that are too old, and replaced ones."""
        rows = await self._load_rows(name)
        wanted = set(sources)
        kept = {copy_key(name, row["source"], row["digest"]) for row in rows if row["source"] in wanted}
        unused = [stored.key async for stored in self.bucket.objects(copies_prefix(name)) if stored.key not in kept]
        if unused:
            await self.bucket.delete(unused)
        expired_ms = round((self.clock.now() - COPY_KEPT_S) * 1000)
        await self.database.run("delete from published_copies where list = ? and fetched_ms < ?", name, expired_ms)

    async def _load_rows(self, name: str) -> Sequence[DatabaseRow]:
        since_ms = round((self.clock.now() - COPY_KEPT_S) * 1000)
        return list(
            await self.database.all("select * from published_copies where list = ? and fetched_ms >= ?", name, since_ms)
        )
