"""Reads and writes the checkpoint under the run lease, and rebuilds one that is corrupt."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from sluice.core.json_text import parse_bounded_json
from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint, CorruptCheckpoint, rebuild_checkpoint
from sluice.core.news.checkpoint_transitions import Place
from sluice.core.ports import Clock, KvWriter, Log
from sluice.services.news.process.run import Run, StaleRead
from sluice.services.news.run_lease.lease import RunLease, RunLeases
from sluice.services.news.run_outcomes import Busy, Waiting
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.article_index import ArticleIndex, read_articles
from sluice.services.news.storage.keys import CHECKPOINT, CORRUPT_PREFIX

_MAX_REBUILD_ARTICLES: Final = 500  # read to rebuild a checkpoint; the rest of a larger index counts as processed
# The stored reason of an article in the try-later list while an attempt at it is made.
_IN_PROGRESS: Final = "in work"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointStore:
    """A checkpoint is written before an attempt and after it, so that a crash at any point loses nothing."""

    kv: KvWriter
    leases: RunLeases
    clock: Clock
    log: Log
    settings: ProcessorSettings

    async def run_with_lease(self, work: Callable[[Run], Awaitable[T]]) -> T | Busy | Waiting:
        """Does the work while no other run can, and writes the checkpoint at the end."""
        lease = await self.leases.acquire(self.now_ms())
        if lease is None:
            return Busy()
        try:
            result = await self._work_and_write(lease, work)
        except Exception:
            # Not for exceptions that end the process: then the lease expires by itself.
            await self.leases.release(lease)
            raise
        await self.leases.release(lease)
        return result

    async def begin_attempt(self, run: Run, article: Article, place: Place) -> None:
        """Writes the checkpoint with the counted attempt before the attempt is made."""
        started = run.checkpoint.move(article, place, now_ms=self.now_ms(), reason=_IN_PROGRESS)
        await self._write(run, started)

    def record(self, run: Run, article: Article, place: Place, reason: str) -> None:
        """Moves the article. The checkpoint is written at the end of the run or with the next attempt."""
        index = run.index or ArticleIndex()
        moved = run.checkpoint.move(article, place, now_ms=self.now_ms(), reason=reason)
        trimmed = moved.trim_processed(set(index.ids), self.settings.max_pending_list_size)
        run.checkpoint = replace(trimmed, index_version=index.version)
        run.has_unwritten_checkpoint = True

    def now_ms(self) -> int:
        return int(self.clock.now() * 1000)

    async def _work_and_write(self, lease: RunLease, work: Callable[[Run], Awaitable[T]]) -> T | Waiting:
        run = Run(lease, await self._read())
        if lease.is_stale(run.checkpoint.updated_at_ms, self.now_ms()):
            return Waiting("checkpoint")
        try:
            result = await work(run)
        except StaleRead as stale:
            return stale.waiting
        if run.has_unwritten_checkpoint:
            await self._write(run, run.checkpoint)
        return result

    async def _read(self) -> Checkpoint:
        text = await self.kv.get_text(CHECKPOINT)
        if text is None:
            return Checkpoint()
        try:
            return Checkpoint.from_json(parse_bounded_json(text))
        except (ValueError, CorruptCheckpoint) as error:
            return await self._rebuild(text, error)

    async def _rebuild(self, text: str, error: Exception) -> Checkpoint:
        """Keeps the unreadable checkpoint under another key, and derives a new one from the stored articles."""
        now_ms = self.now_ms()
        backup_key = f"{CORRUPT_PREFIX}{now_ms}"
        await self.kv.put_text(backup_key, text, ttl_s=self.settings.ttl_s)
        self.log.error("checkpoint.corrupt", error, alert="the checkpoint was rebuilt", kept_as=backup_key)
        ids = (await ArticleIndex.read(self.kv)).ids
        articles = await read_articles(self.kv, ids[:_MAX_REBUILD_ARTICLES])
        rebuilt = rebuild_checkpoint(articles.values(), now_ms)
        unread = [article_id for article_id in ids if article_id not in articles]
        return replace(rebuilt, processed=(*rebuilt.processed, *unread))

    async def _write(self, run: Run, checkpoint: Checkpoint) -> None:
        now_ms = self.now_ms()
        newest = max(checkpoint.updated_at_ms, run.lease.announced)
        stamped = replace(checkpoint, updated_at_ms=newest).stamp(now_ms)
        await self.leases.announce(run.lease, stamped.updated_at_ms, now_ms)
        await self.kv.put_json(CHECKPOINT, stamped.as_json(), ttl_s=self.settings.ttl_s)
        run.checkpoint, run.has_unwritten_checkpoint = stamped, False
