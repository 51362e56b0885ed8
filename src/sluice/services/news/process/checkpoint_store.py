"""What a run of the processor reads and writes: the checkpoint, the index and the articles, in an order that survives."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from sluice.core.bounded_json import loads, parsed
from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint, Corrupt, Place, place_after, rebuilt
from sluice.core.news.pending_list import Entry, entries_of
from sluice.core.ports import Clock, KvWriter, Log
from sluice.services.news.process.stages import Phases
from sluice.services.news.run_lease.lease import SETTLE_MS, Turn, Turns
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.article_index import Index
from sluice.services.news.storage.keys import CHECKPOINT, CORRUPT_PREFIX, PENDING, article_key

_REBUILD_ARTICLES: Final = 500  # read to rebuild a checkpoint; the rest of a larger index counts as processed

T = TypeVar("T")


class Stale(Exception):
    """KV showed an old copy; the next run will see the new one."""


@dataclass(slots=True)
class Run:
    """What one run has read so far; all of it but the pending list is its own to write, so it is read once."""

    turn: Turn
    checkpoint: Checkpoint
    index: Index = field(default_factory=Index)
    index_is_read: bool = False
    pending: list[Entry] | None = None
    # The checkpoint has moved on since it was written.
    unwritten: bool = False
    steps: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Every write of the processor goes through here."""

    store: KvWriter
    turns: Turns
    phases: Phases
    clock: Clock
    log: Log
    settings: ProcessorSettings

    async def in_turn(self, work: Callable[[Run], Awaitable[T]], busy: Callable[[], T]) -> T:
        """Do the work while no other run can; Stale when KV does not show yet what the last one wrote."""
        turn = await self.turns.take(self.now_ms())
        if turn is None:
            return busy()
        try:
            run = await self._opened(turn)
            done = await work(run)
            if run.unwritten:
                await self._write_checkpoint(run, run.checkpoint)
        except Exception:
            # Not for what ends the whole process: then the lease runs out by itself.
            await self.turns.release(turn)
            raise
        await self.turns.release(turn)
        return done

    async def attempt(self, run: Run, article: Article, *, aside: bool = False) -> tuple[Article, Place]:
        """One attempt at the article's stage. What is `aside` of the current article waits in the try-later list."""
        self.log.event(
            "article.processing", message=f"Processing article: {article.id}", id=article.id, stage=article.stage
        )
        begun = article.beginning(self.now_ms())
        before = Place.TRY_LATER if aside else Place.CURRENT
        noted = run.checkpoint.moved(begun, before, now_ms=self.now_ms(), reason="in work")
        await self._write_checkpoint(run, noted)
        result = await self.phases.perform(begun, self.now_ms)
        await self._write_article(result.interim or result.article)
        await self._list(run, begun.id, rewritten=result.interim is not None)
        if result.interim is not None:
            await self._write_article(result.article)
        place = place_after(begun.stage, result.outcome, result.article.stage)
        kept_aside = aside and place is Place.CURRENT
        self._note(run, result.article, Place.TRY_LATER if kept_aside else place, result.reason)
        self._tell(run, result.article, place, result.reason)
        return result.article, place

    async def close(self, run: Run, article: Article) -> None:
        """It was complete already, only nobody had noted it."""
        await self._list(run, article.id, rewritten=False)
        self._note(run, article, Place.PROCESSED, "")
        self._tell(run, article, Place.PROCESSED, "")

    async def latest(self, run: Run, article: Article) -> Article:
        """What is stored of an article that a dead run, or a lost checkpoint, has left further than it is known here."""
        await self._read_index(run)
        known = run.checkpoint.known_ids
        if not article.begun and (article.id in known or article.id not in run.index.ids):
            return article
        stored = await self.stored(article.id)
        return stored if stored is not None and stored.further_than(article) else article

    async def stored(self, article_id: str) -> Article | None:
        return Article.stored(article_id, parsed(await self.store.get_text(article_key(article_id))))

    async def pending(self, run: Run) -> list[Entry]:
        if run.pending is None:
            run.pending = entries_of(parsed(await self.store.get_text(PENDING)))
        return run.pending

    def now_ms(self) -> int:
        return int(self.clock.now() * 1000)

    async def _opened(self, turn: Turn) -> Run:
        run = Run(turn, await self._checkpoint())
        if turn.is_stale(run.checkpoint.updated_at_ms, self.now_ms()):
            raise Stale("the checkpoint read is older than the last one written")
        return run

    async def _read_index(self, run: Run) -> None:
        if run.index_is_read:
            return
        run.index, run.index_is_read = await Index.read(self.store), True
        wanted = run.checkpoint.index_version
        if run.index.version < wanted and self.now_ms() - wanted < SETTLE_MS:
            raise Stale("the index read is older than the last one written")

    def _note(self, run: Run, article: Article, place: Place, reason: str) -> None:
        """Written at the end of the run, or with the next article that it takes: whichever comes first."""
        moved = run.checkpoint.moved(article, place, now_ms=self.now_ms(), reason=reason)
        trimmed = moved.trimmed(set(run.index.ids), self.settings.max_pending_list_size)
        run.checkpoint = replace(trimmed, index_version=run.index.version)
        run.unwritten = True

    async def _list(self, run: Run, article_id: str, *, rewritten: bool) -> None:
        if article_id in run.index.ids and not rewritten:
            return
        run.index, dropped = run.index.adding(
            article_id, max_size=self.settings.max_stored_articles, now_ms=self.now_ms()
        )
        await run.index.write(self.store, ttl_s=self.settings.ttl_s)
        for old in dropped if self.settings.delete_old_articles else ():
            await self.store.delete(article_key(old))

    async def _checkpoint(self) -> Checkpoint:
        text = await self.store.get_text(CHECKPOINT)
        if text is None:
            return Checkpoint()
        try:
            return Checkpoint.from_json(loads(text))
        except (ValueError, Corrupt) as error:
            return await self._rebuilt(text, error)

    async def _rebuilt(self, text: str, error: Exception) -> Checkpoint:
        """Put the unreadable one aside, and find out from the articles themselves what was done."""
        now_ms = self.now_ms()
        kept_as = f"{CORRUPT_PREFIX}{now_ms}"
        await self.store.put_text(kept_as, text, ttl_s=self.settings.ttl_s)
        self.log.error("checkpoint.corrupt", error, alert="the checkpoint was rebuilt", kept_as=kept_as)
        ids = (await Index.read(self.store)).ids
        found = await self.store.get_many(article_key(each) for each in ids[:_REBUILD_ARTICLES])
        articles = [Article.stored(each, parsed(found.get(article_key(each)))) for each in ids]
        done = rebuilt([each for each in articles if each is not None], now_ms)
        unread = [each for each, article in zip(ids, articles, strict=True) if article is None]
        return replace(done, processed=(*done.processed, *unread))

    async def _write_checkpoint(self, run: Run, checkpoint: Checkpoint) -> None:
        now_ms = self.now_ms()
        newer = max(checkpoint.updated_at_ms, run.turn.announced)
        stamped = replace(checkpoint, updated_at_ms=newer).stamped(now_ms)
        await self.turns.announce(run.turn, stamped.updated_at_ms, now_ms)
        await self.store.put_json(CHECKPOINT, stamped.to_json(), ttl_s=self.settings.ttl_s)
        run.checkpoint, run.unwritten = stamped, False

    async def _write_article(self, article: Article) -> None:
        await self.store.put_json(article_key(article.id), dict(article.data), ttl_s=self.settings.ttl_s)

    def _tell(self, run: Run, article: Article, place: Place, reason: str) -> None:
        messages = {
            Place.PROCESSED: "✓ Article fully processed",
            Place.TRY_LATER: "Moving article to try-later list",
            Place.CURRENT: "Article advanced",
        }
        self.log.event("article.moved", message=messages[place], id=article.id, stage=article.stage, reason=reason)
        run.steps.append({"id": article.id, "stage": article.stage, "place": place, "reason": reason})
