"""What the processor reads and writes besides the checkpoint: the articles, their index, and the pending list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.json_text import encode_json, parse_stored_json
from sluice.core.news.article import Article
from sluice.core.news.pending_list import PendingEntry, parse_pending_list
from sluice.core.ports import Clock, KvWriter
from sluice.services.news.process.index_store import IndexStore
from sluice.services.news.process.run import RunState
from sluice.services.news.run_lease.lease import Announcement, RunLeases
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.article_index import ArticleIndex
from sluice.services.news.storage.keys import INDEX, PENDING, article_key
from sluice.services.news.storage.pending_metadata import PendingMetadata

# The name under which the last article is announced. One is enough: the checkpoint holds what became of those before.
LAST_ARTICLE: Final = "article"


@dataclass(frozen=True, slots=True)
class IndexChange:
    """The index to write, and the ids that it no longer has."""

    index: ArticleIndex
    dropped: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PendingList:
    """The pending list, and what the updater says with it."""

    entries: list[PendingEntry]
    metadata: PendingMetadata


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleStore:
    kv: KvWriter
    leases: RunLeases
    indexes: IndexStore
    clock: Clock
    settings: ProcessorSettings

    async def read(self, article_id: str) -> Article | None:
        return Article.from_json(article_id, parse_stored_json(await self.kv.get_text(article_key(article_id))))

    async def write(self, article: Article) -> None:
        await self.kv.put_json(article_key(article.id), article.as_json(), ttl_s=self.settings.ttl_s)

    async def read_latest(self, run: RunState, article: Article) -> Article:
        """Return the stored copy if a crashed run or a lost checkpoint has left it further than `article`."""
        index = await self.read_index(run)
        is_known = article.id in run.checkpoint.known_ids
        if not article.is_in_progress and (is_known or article.id not in index.ids):
            return article
        copies = [await self.read(article.id), await self._restore_announced(article)]
        latest = article
        for copy in copies:
            latest = copy if copy is not None and copy.is_further_than(latest) else latest
        return latest

    async def store(self, run: RunState, article: Article, *, final: Article | None = None) -> None:
        """Write an article and, if it is new there, the index; then `final`, the article without further attempts.

        All of it is announced first: a run after a crash sees it, whatever KV shows.
        """
        change = await self._plan_index(run, article.id, rewrite=final is not None)
        await self._announce(run, change, final or article)
        await self.write(article)
        await self._write_index(run, change)
        if final is not None:
            await self.write(final)

    async def add_to_index(self, run: RunState, article_id: str) -> None:
        """Add the article to the index, and write that, unless it has the article."""
        change = await self._plan_index(run, article_id)
        if change is not None:
            await self._announce(run, change)
            await self._write_index(run, change)

    async def append_to_index(self, run: RunState, ids: Sequence[str]) -> set[str]:
        """Put older articles behind all others, as far as there is room; return which of them are in the index."""
        index = await self.read_index(run)
        wanted = tuple(dict.fromkeys((*index.ids, *ids)))[: max(self.settings.max_stored_articles, len(index.ids))]
        if wanted != index.ids:
            change = IndexChange(ArticleIndex(wanted, self.indexes.next_version(run.lease, index)), ())
            await self._announce(run, change)
            await self._write_index(run, change)
        return set(wanted).intersection(ids)

    async def _plan_index(self, run: RunState, article_id: str, *, rewrite: bool = False) -> IndexChange | None:
        """Return the index with the article; None if it need not be written."""
        index = await self.read_index(run)
        if article_id in index.ids and not (rewrite or run.is_index_unwritten):
            return None
        version = self.indexes.next_version(run.lease, index)
        return IndexChange(*index.add(article_id, max_size=self.settings.max_stored_articles, version=version))

    async def _announce(self, run: RunState, change: IndexChange | None, article: Article | None = None) -> None:
        announcements: list[Announcement] = []
        if article is not None:
            version = run.lease.next_version(LAST_ARTICLE, self._now_ms())
            text = encode_json({"id": article.id, "article": article.as_json()})
            announcements.append(Announcement(key=LAST_ARTICLE, version=version, value=text, was_present=True))
        if change is not None:
            index, was_present = change.index, run.was_index_present
            announcements.append(
                Announcement(key=INDEX, version=index.version, value=index.encode(), was_present=was_present)
            )
        await self.leases.announce(run.lease, *announcements)

    async def _write_index(self, run: RunState, change: IndexChange | None) -> None:
        if change is None:
            return
        await self.indexes.write(change.index)
        run.index, run.is_index_unwritten = change.index, False
        for old in change.dropped if self.settings.delete_old_articles else ():
            await self.kv.delete(article_key(old))

    async def _restore_announced(self, article: Article) -> Article | None:
        """Return the article as the last run announced it, and write it again: that run may have crashed before."""
        stored = parse_stored_json(await self.leases.load_announced(LAST_ARTICLE))
        if not isinstance(stored, dict) or stored.get("id") != article.id:
            return None
        announced = Article.from_json(article.id, stored.get("article"))
        if announced is not None and announced.is_further_than(article):
            await self.write(announced)
        return announced

    async def read_pending(self, run: RunState) -> list[PendingEntry]:
        if run.pending is None:
            run.pending = (await self.read_pending_list()).entries
        return run.pending

    async def read_pending_list(self) -> PendingList:
        stored = await self.kv.get_with_metadata(PENDING)
        entries = parse_pending_list(parse_stored_json(stored.value if stored else None))
        return PendingList(entries, PendingMetadata.from_json(stored.metadata if stored else None))

    async def read_index(self, run: RunState) -> ArticleIndex:
        """Read the index once in a run."""
        if run.index is None:
            stored = await self.indexes.read(run.lease)
            run.index, run.was_index_present = stored.index, stored.was_present
            run.is_index_unwritten = stored.is_unwritten
        return run.index

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)
