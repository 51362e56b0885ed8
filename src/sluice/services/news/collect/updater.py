"""One run of the updater: reads the pending list and the checkpoint, fetches from all sources, and writes once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.json_text import parse_bounded_json, parse_stored_json
from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint, CorruptCheckpoint
from sluice.core.news.feeds.source import Source, SourceResult
from sluice.core.news.pending_list import Merge, merge_new_articles, parse_pending_list
from sluice.core.ports import Clock, KvWriter, Log
from sluice.services.news.run_lease.lease import RunLease, RunLeases
from sluice.services.news.run_outcomes import Busy, Waiting
from sluice.services.news.settings import UpdaterSettings
from sluice.services.news.storage.keys import CHECKPOINT, PENDING
from sluice.services.news.storage.pending_metadata import PendingMetadata

_IDS_PER_LOG_LINE: Final = 50  # the log cuts longer lists

# The result of each source with its name. A list, because two feeds may have the same name.
SourceResults = Sequence[tuple[str, SourceResult]]


@dataclass(frozen=True, slots=True)
class Updated:
    """The pending list was written."""

    merge: Merge
    results: SourceResults

    def as_json(self) -> dict[str, Any]:
        failed = {name: str(result.error) for name, result in self.results if result.error is not None}
        no_source = {"reason": "no source is configured: set NEWSDATA_API_KEY, APITUBE_API_KEY or NEWS_FEEDS"}
        return {
            "outcome": "failed" if failed and len(failed) == len(self.results) else "ok",
            "added": list(self.merge.added),
            "trimmed": self.merge.trimmed,
            "surplus": len(self.merge.surplus),
            "pending": len(self.merge.entries),
            "sources": {name: {"articles": len(each.articles), "pages": each.pages} for name, each in self.results},
            "failed": failed,
        } | ({} if self.results else no_source)


UpdaterReport = Busy | Waiting | Updated


@dataclass(frozen=True, slots=True, kw_only=True)
class Updater:
    """Fetches from all sources and adds new articles to the pending list, the only key it writes."""

    kv: KvWriter
    leases: RunLeases
    sources: Sequence[Source]
    clock: Clock
    log: Log
    settings: UpdaterSettings

    async def run(self) -> UpdaterReport:
        """Runs once. A source that fails does not affect the articles of the others."""
        lease = await self.leases.acquire(self._now_ms())
        if lease is None:
            return self._log_report(Busy())
        try:
            report = await self._update(lease)
        except Exception:
            await self.leases.release(lease)
            raise
        await self.leases.release(lease)
        return self._log_report(report)

    async def _update(self, lease: RunLease) -> UpdaterReport:
        stored = await self.kv.get_with_metadata(PENDING)
        metadata = PendingMetadata.from_json(stored.metadata if stored else None)
        if lease.is_stale(metadata.version, self._now_ms()):
            return Waiting("pending list")
        entries = parse_pending_list(parse_stored_json(stored.value if stored else None))
        checkpoint = await self._read_checkpoint()
        known = checkpoint.known_ids | {entry.article.id for entry in entries}
        results = [(source.name, await self._fetch(source, known, metadata)) for source in self.sources]
        merge = merge_new_articles(
            entries,
            _newest_first([article for _, result in results for article in result.articles]),
            processed=checkpoint.processed,
            known=checkpoint.known_ids,
            max_size=self.settings.max_pending_list_size,
            now_ms=self._now_ms(),
        )
        await self._write(lease, metadata, merge, results)
        self._log_surplus(merge.surplus)
        return Updated(merge, results)

    async def _fetch(self, source: Source, known: set[str], metadata: PendingMetadata) -> SourceResult:
        """After a source stopped early, a known article does not mean that all older ones are known too."""
        stop_at = frozenset[str]() if source.name in metadata.incomplete else known
        result = await source.fetch_articles(stop_at, self._now_ms())
        if result.error is not None:
            self.log.error("source.failed", result.error, source=source.name, pages=result.pages)
        return result

    async def _read_checkpoint(self) -> Checkpoint:
        """Reads only: the processor repairs a corrupt checkpoint. Without one nothing is trimmed and nothing is lost."""
        try:
            return Checkpoint.from_json(parse_bounded_json(await self.kv.get_text(CHECKPOINT) or "{}"))
        except (ValueError, CorruptCheckpoint) as error:
            self.log.error("checkpoint.corrupt", error, alert="the processor will rebuild the checkpoint")
            return Checkpoint()

    async def _write(self, lease: RunLease, last: PendingMetadata, merge: Merge, results: SourceResults) -> None:
        now_ms = self._now_ms()
        metadata = PendingMetadata(
            version=max(now_ms, last.version + 1, lease.announced + 1),
            incomplete=tuple(name for name, result in results if result.error is not None),
            last_run=now_ms,
            added=len(merge.added),
        )
        await self.leases.announce(lease, metadata.version, now_ms)
        entries = [entry.as_json() for entry in merge.entries]
        await self.kv.put_json(PENDING, entries, ttl_s=self.settings.ttl_s, metadata=metadata.as_json())

    def _log_surplus(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _IDS_PER_LOG_LINE):
            self.log.event("articles.surplus", ids=ids[start : start + _IDS_PER_LOG_LINE])

    def _log_report(self, report: UpdaterReport) -> UpdaterReport:
        self.log.event("updater.run", **report.as_json())
        return report

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def _newest_first(articles: list[Article]) -> list[Article]:
    return sorted(articles, key=lambda each: each.text("pubDate"), reverse=True)
