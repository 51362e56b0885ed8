"""Reads and writes the checkpoint under the run lease, and rebuilds one that is corrupt."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from sluice.core.json_text import encode_json
from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint, CorruptCheckpoint, parse_checkpoint, rebuild_checkpoint
from sluice.core.news.checkpoint_transitions import Place
from sluice.core.ports import Clock, KvText, KvWriter, Log
from sluice.services.news.process.index_store import IndexStore
from sluice.services.news.process.run import LegacyMarker, RunState, StaleRead
from sluice.services.news.run_lease.lease import Announcement, CurrentValue, RunLease, RunLeases
from sluice.services.news.run_lease.leased_run import run_with_lease
from sluice.services.news.run_outcomes import Busy, Waiting
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.article_index import ArticleIndex, read_articles
from sluice.services.news.storage.keys import CHECKPOINT, CORRUPT
from sluice.services.news.storage.value_version import read_version

_MAX_REBUILD_ARTICLES: Final = 500  # read to rebuild a checkpoint; the rest of a larger index counts as processed
# The stored reason of an article in the try-later list while an attempt at it is made.
_IN_PROGRESS: Final = "in work"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """The checkpoint as KV returned it; the version is None if there is none, and 0 if a person wrote it."""

    text: str
    version: int | None
    checkpoint: Checkpoint | CorruptCheckpoint
    legacy: LegacyMarker

    @classmethod
    def from_kv(cls, stored: KvText | None) -> "StoredCheckpoint":
        text = stored.value if stored else None
        metadata = stored.metadata if stored and isinstance(stored.metadata, dict) else {}
        adopted = metadata.get("legacy")
        mark = LegacyMarker(adopted if isinstance(adopted, str) else None)
        return cls(text or "", read_version(stored), parse_checkpoint(text), mark)

    @property
    def is_edited(self) -> bool:
        """Whether a person has read, edited and written it; the documented reset has no time of its last update."""
        return self.version == 0 and isinstance(self.checkpoint, Checkpoint) and self.checkpoint.updated_at_ms > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStore:
    """Reads and writes the checkpoint: before an attempt and after it, so that a crash at any point loses nothing."""

    kv: KvWriter
    leases: RunLeases
    indexes: IndexStore
    clock: Clock
    log: Log
    settings: ProcessorSettings

    async def read(self) -> StoredCheckpoint:
        return StoredCheckpoint.from_kv(await self.kv.get_with_metadata(CHECKPOINT))

    async def run_with_lease(
        self, work: Callable[[RunState], Awaitable[T]], stored: StoredCheckpoint | None = None
    ) -> T | Busy | Waiting:
        """Do the work while no other run can, and write the checkpoint at the end."""
        read = stored or await self.read()
        return await run_with_lease(
            self.leases, self.settings.lease_s, lambda lease: self._work_and_write(lease, read, work)
        )

    async def begin_attempt(self, run: RunState, article: Article, place: Place) -> None:
        """Write the checkpoint with the counted attempt before the attempt is made."""
        started = run.checkpoint.move(article, place, now_ms=self.now_ms(), reason=_IN_PROGRESS)
        await self._write(run, started)

    def record(self, run: RunState, article: Article, place: Place, reason: str) -> None:
        """Move the article. The checkpoint is written at the end of the run or with the next attempt."""
        index = run.index or ArticleIndex()
        moved = run.checkpoint.move(article, place, now_ms=self.now_ms(), reason=reason)
        run.checkpoint = moved.trim_processed(set(index.ids), self.settings.max_pending_list_size)
        run.has_unwritten_checkpoint = True

    def now_ms(self) -> int:
        return int(self.clock.now() * 1000)

    async def _work_and_write(
        self, lease: RunLease, stored: StoredCheckpoint, work: Callable[[RunState], Awaitable[T]]
    ) -> T | Waiting:
        try:
            run = await self._start_run(lease, stored)
            result = await work(run)
        except StaleRead as stale:
            return stale.waiting
        if run.has_unwritten_checkpoint:
            await self._write(run, run.checkpoint)
        return result

    async def _start_run(self, lease: RunLease, stored: StoredCheckpoint) -> RunState:
        """Take the announced checkpoint if KV returned an older one; rebuild at once one that cannot be read."""
        checkpoint, was_present = stored.checkpoint, stored.version is not None
        is_stale = lease.judge_read(CHECKPOINT, stored.version, self.now_ms()) is CurrentValue.ANNOUNCED
        if is_stale:
            announced = await self.leases.load_announced(CHECKPOINT)
            if announced is None:
                raise StaleRead(Waiting("checkpoint"))
            checkpoint = parse_checkpoint(announced)
        is_corrupt = isinstance(checkpoint, CorruptCheckpoint)
        if isinstance(checkpoint, CorruptCheckpoint):
            checkpoint = await self._rebuild(lease, stored.text, checkpoint)
        removed: tuple[Article, ...] = ()
        if stored.is_edited:
            checkpoint, removed = await self._apply_edit(lease, checkpoint)
        # The announced one may never have been written.
        is_unwritten = is_stale or is_corrupt or stored.is_edited
        return RunState(
            lease,
            checkpoint,
            was_present=was_present,
            has_unwritten_checkpoint=is_unwritten,
            removed=removed,
            legacy=stored.legacy,
        )

    async def _apply_edit(self, lease: RunLease, edited: Checkpoint) -> tuple[Checkpoint, tuple[Article, ...]]:
        from sluice.core.news.checkpoint_edits import apply_edit  # noqa: PLC0415 - rare

        text = await self.leases.load_announced(CHECKPOINT) if CHECKPOINT in lease.announced else None
        last = parse_checkpoint(text)
        if text is None or isinstance(last, CorruptCheckpoint):
            return edited, ()
        edit = apply_edit(edited, last)
        return edit.checkpoint, edit.removed

    async def _rebuild(self, lease: RunLease, text: str, error: CorruptCheckpoint) -> Checkpoint:
        """Keep the unreadable checkpoint under another key, and derive a new one from the stored articles."""
        now_ms = self.now_ms()
        await self.kv.put_text(CORRUPT, text, ttl_s=self.settings.ttl_s, metadata={"keptAt": now_ms})
        self.log.error("checkpoint.corrupt", error, alert="the checkpoint was rebuilt", kept_as=CORRUPT)
        ids = (await self.indexes.read(lease)).index.ids
        articles = await read_articles(self.kv, ids[:_MAX_REBUILD_ARTICLES])
        rebuilt = rebuild_checkpoint(articles.values(), now_ms)
        unread = [article_id for article_id in ids if article_id not in articles]
        return replace(rebuilt, processed=(*rebuilt.processed, *unread))

    async def _write(self, run: RunState, checkpoint: Checkpoint) -> None:
        now_ms = self.now_ms()
        version = max(run.lease.next_version(CHECKPOINT, now_ms), checkpoint.updated_at_ms + 1)
        stamped = replace(checkpoint, updated_at_ms=version)
        text = encode_json(stamped.as_json())
        announcement = Announcement(key=CHECKPOINT, version=version, value=text, was_present=run.was_present)
        await self.leases.announce(run.lease, announcement)
        mark = {} if run.legacy.adopted is None else {"legacy": run.legacy.adopted}
        await self.kv.put_text(CHECKPOINT, text, ttl_s=self.settings.ttl_s, metadata={"version": version, **mark})
        run.checkpoint, run.has_unwritten_checkpoint = stamped, False
