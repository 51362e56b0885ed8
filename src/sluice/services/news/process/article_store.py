"""What the processor reads and writes besides the checkpoint: the articles, their index, and the pending list."""

from dataclasses import dataclass

from sluice.core.json_text import parse_stored_json
from sluice.core.news.article import Article
from sluice.core.news.pending_list import PendingEntry, parse_pending_list
from sluice.core.ports import Clock, KvWriter
from sluice.services.news.process.run import Run, StaleRead
from sluice.services.news.run_lease.lease import SETTLE_MS
from sluice.services.news.run_outcomes import Waiting
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.article_index import ArticleIndex
from sluice.services.news.storage.keys import PENDING, article_key


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleStore:
    kv: KvWriter
    clock: Clock
    settings: ProcessorSettings

    async def read(self, article_id: str) -> Article | None:
        return Article.from_json(article_id, parse_stored_json(await self.kv.get_text(article_key(article_id))))

    async def write(self, article: Article) -> None:
        await self.kv.put_json(article_key(article.id), article.as_json(), ttl_s=self.settings.ttl_s)

    async def read_latest(self, run: Run, article: Article) -> Article:
        """Returns the stored copy if a crashed run or a lost checkpoint has left it further than `article`."""
        index = await self.read_index(run)
        is_known = article.id in run.checkpoint.known_ids
        if not article.is_in_progress and (is_known or article.id not in index.ids):
            return article
        stored = await self.read(article.id)
        return stored if stored is not None and stored.is_further_than(article) else article

    async def read_pending(self, run: Run) -> list[PendingEntry]:
        if run.pending is None:
            run.pending = parse_pending_list(parse_stored_json(await self.kv.get_text(PENDING)))
        return run.pending

    async def read_index(self, run: Run) -> ArticleIndex:
        """Raises StaleRead when the index is older than the one that belongs to the checkpoint."""
        if run.index is None:
            run.index = await ArticleIndex.read(self.kv)
            expected = run.checkpoint.index_version
            if run.index.version < expected and self._now_ms() - expected < SETTLE_MS:
                raise StaleRead(Waiting("index"))
        return run.index

    async def add_to_index(self, run: Run, article_id: str, *, rewrite: bool = False) -> None:
        """Writes the index if the article is new in it, or if `rewrite` is set."""
        index = await self.read_index(run)
        if article_id in index.ids and not rewrite:
            return
        max_size = self.settings.max_stored_articles
        run.index, dropped = index.add(article_id, max_size=max_size, now_ms=self._now_ms())
        await run.index.write(self.kv, ttl_s=self.settings.ttl_s)
        for old in dropped if self.settings.delete_old_articles else ():
            await self.kv.delete(article_key(old))

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)
