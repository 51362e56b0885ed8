"""Reads and writes the index of articles under the run lease, and rebuilds one that is corrupt.

An index or a checkpoint that cannot be read is kept beside, and made anew of the articles. A checkpoint that a person
has edited is compared with the last one (`core/news/checkpoint_edits.py`), and what the architecture before checkpoints
has left is adopted (`legacy_migration.py`), 25 articles in a run.
"""

from dataclasses import dataclass

from sluice.core.ports import Clock, KvWriter, Log
from sluice.services.news.process.run import StaleRead
from sluice.services.news.run_lease.lease import Announcement, CurrentValue, RunLease, RunLeases
from sluice.services.news.run_outcomes import Waiting
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.article_index import ArticleIndex, CorruptIndex
from sluice.services.news.storage.keys import CORRUPT_INDEX, INDEX
from sluice.services.news.storage.value_version import read_version


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """The index that counts. `is_unwritten`: the run that announced it may have crashed before it was written."""

    index: ArticleIndex
    was_present: bool
    is_unwritten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStore:
    kv: KvWriter
    leases: RunLeases
    clock: Clock
    log: Log
    settings: ProcessorSettings

    async def read(self, lease: RunLease) -> StoredIndex:
        """Return the index that was announced last if KV shows an older one; rebuild at once one that is corrupt."""
        stored = await self.kv.get_with_metadata(INDEX)
        index, was_present = ArticleIndex.from_kv(stored), stored is not None
        if isinstance(index, CorruptIndex):
            return StoredIndex(await self._rebuild(lease, index), was_present)
        if lease.judge_read(INDEX, read_version(stored), self._now_ms()) is CurrentValue.KV:
            return StoredIndex(index, was_present)
        announced = await self._load_announced(lease)
        if announced is None:
            raise StaleRead(Waiting("index"))
        return StoredIndex(announced, was_present, is_unwritten=True)

    def next_version(self, lease: RunLease, index: ArticleIndex) -> int:
        return max(lease.next_version(INDEX, self._now_ms()), index.version + 1)

    async def write(self, index: ArticleIndex) -> None:
        """Write an index that was announced."""
        await index.write(self.kv, ttl_s=self.settings.ttl_s)

    async def _rebuild(self, lease: RunLease, error: CorruptIndex) -> ArticleIndex:
        """Keep the unreadable index under another key, and write one of the ids that are announced, readable or stored."""
        from sluice.services.news.storage.index_recovery import recover_ids  # noqa: PLC0415 - rare

        await self._keep_corrupt()
        announced = await self._load_announced(lease) or ArticleIndex()
        ids = await recover_ids(self.kv, (*announced.ids, *error.readable), self.settings.max_stored_articles)
        index = ArticleIndex(ids, self.next_version(lease, announced))
        alert = "the index of articles was rebuilt"
        self.log.error("index.corrupt", error, alert=alert, kept_as=CORRUPT_INDEX, articles=len(ids))
        await self.leases.announce(
            lease, Announcement(key=INDEX, version=index.version, value=index.encode(), was_present=True)
        )
        await self.write(index)
        return index

    async def _keep_corrupt(self) -> None:
        # As bytes, because it need not be a text.
        stored = await self.kv.get_bytes_with_metadata(INDEX)
        if stored is not None:
            kept_at = {"keptAt": self._now_ms()}
            await self.kv.put_bytes(CORRUPT_INDEX, stored.value, ttl_s=self.settings.ttl_s, metadata=kept_at)

    async def _load_announced(self, lease: RunLease) -> ArticleIndex | None:
        """Return the announced index; None if there is none, or it was too large to keep."""
        if INDEX not in lease.announced:
            return None
        text = await self.leases.load_announced(INDEX)
        index = None if text is None else ArticleIndex.parse(text, lease.announced[INDEX].version)
        return None if isinstance(index, CorruptIndex) else index

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)
