"""One run of the updater: reads the pending list and the checkpoint, fetches from all sources, and writes once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, NotRequired, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json, parse_stored_json
from sluice.core.news.checkpoint import Checkpoint, CorruptCheckpoint, parse_checkpoint
from sluice.core.news.feeds.merging import Merge, merge_new_articles
from sluice.core.news.feeds.news_source import NewsSource, SourceResult
from sluice.core.news.pending_list import parse_pending_list
from sluice.core.ports import Clock, KvWriter, Log
from sluice.services.news.collect.conditional_feeds import ConditionalFeeds
from sluice.services.news.collect.fetch_all import SourceResults, fetch_all
from sluice.services.news.collect.source_listing import SeenArticles, SourceListing
from sluice.services.news.collect.source_reports import build_report, describe_outcome, is_failure
from sluice.services.news.run_lease.lease import Announcement, CurrentValue, RunLease, RunLeases
from sluice.services.news.run_lease.leased_run import run_with_lease
from sluice.services.news.run_outcomes import Busy, Waiting
from sluice.services.news.settings import UpdaterSettings
from sluice.services.news.state.remote_state import Outcome, PastUpdates, RemoteNewsState, UpdateReport
from sluice.services.news.storage.keys import CHECKPOINT, PENDING
from sluice.services.news.storage.pending_metadata import PendingMetadata
from sluice.services.news.storage.value_version import read_version

_DAY_MS: Final = 86_400_000
_IDS_PER_LOG_LINE: Final = 50  # the log cuts longer lists


class SourceCounts(TypedDict):
    articles: int
    pages: int
    outcome: Outcome
    warnings: NotRequired[list[str]]


class UpdaterRun(TypedDict):
    """The result of a run; a run that was busy or waiting has only a reason."""

    outcome: Annotated[Literal["ok", "failed", "busy", "waiting"], Doc("`failed`: every source failed.")]
    reason: NotRequired[str]
    added: NotRequired[Annotated[list[str], Doc("Ids of new articles.")]]
    trimmed: NotRequired[Annotated[int, Doc("Processed articles that were removed from the list.")]]
    surplus: NotRequired[Annotated[int, Doc("New articles without room in the list yet.")]]
    tooOld: NotRequired[Annotated[int, Doc("New articles older than MAX_ARTICLE_AGE_DAYS.")]]
    pending: NotRequired[int]
    sources: NotRequired[dict[str, SourceCounts]]
    failed: NotRequired[Annotated[dict[str, str], Doc("The reason for each source that failed.")]]


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The outcome of a run that has written the pending list."""

    merge: Merge
    results: SourceResults

    def as_json(self) -> UpdaterRun:
        failed = {name: str(result.error) for name, result in self.results if is_failure(result)}
        run: UpdaterRun = {
            "outcome": "failed" if failed and len(failed) == len(self.results) else "ok",
            "added": list(self.merge.added),
            "trimmed": self.merge.trimmed,
            "surplus": len(self.merge.surplus),
            "tooOld": self.merge.too_old,
            "pending": len(self.merge.entries),
            "sources": {name: _describe(result) for name, result in self.results},
            "failed": failed,
        }
        if not self.results:
            run["reason"] = "no source is configured: set NEWSDATA_API_KEY, APITUBE_API_KEY or NEWS_FEEDS"
        return run


UpdaterReport = Busy | Waiting | UpdateResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Updater:
    """Fetches from all sources and adds new articles to the pending list, the only key it writes."""

    kv: KvWriter
    leases: RunLeases
    sources: Sequence[NewsSource]
    # What the feeds among the sources fetch with.
    feeds: ConditionalFeeds
    state: RemoteNewsState
    clock: Clock
    log: Log
    settings: UpdaterSettings

    async def run(self) -> UpdaterReport:
        """Run once. A source that fails does not affect the articles of the others."""
        report = await run_with_lease(self.leases, self.settings.lease_s, self._update)
        self.log.event("updater.run", **report.as_json())
        return report

    async def _update(self, lease: RunLease) -> UpdaterReport:
        stored = await self.kv.get_with_metadata(PENDING)
        metadata = PendingMetadata.from_json(stored.metadata if stored else None)
        text = stored.value if stored else None
        if lease.judge_read(PENDING, read_version(stored), self._now_ms()) is CurrentValue.ANNOUNCED:
            text = await self.leases.load_announced(PENDING)
            if text is None:
                return Waiting("pending list")
        last = await self._begin(is_list_missing=text is None)
        entries = parse_pending_list(parse_stored_json(text))
        checkpoint = await self._read_checkpoint()
        # Without a pending list the operator has begun anew.
        seen = SeenArticles.collect(entries, checkpoint, last.remembered if last and text is not None else ())
        results = await fetch_all(self.sources, seen.ids, metadata.incomplete, self.clock)
        self._log_sources(results)
        listing = SourceListing.read(results, self._now_ms())
        known = listing.build_known(seen)
        merge = merge_new_articles(
            entries,
            listing.newest_first(),
            processed=checkpoint.processed,
            known=known,
            oldest_ms=listing.now_ms - self.settings.max_article_age_days * _DAY_MS,
            max_size=self.settings.max_pending_list_size,
            now_ms=listing.now_ms,
        )
        await self._write(lease, metadata, merge, results, legacy=last.legacy if last else metadata.legacy)
        listed = listing.describe_known(known, merge)
        await self._report(build_report(results, self.feeds, listed, has_surplus=bool(merge.surplus)))
        self._log_surplus([each.article.id for each in merge.surplus])
        return UpdateResult(merge, results)

    async def _begin(self, *, is_list_missing: bool) -> PastUpdates | None:
        """Return what the state object knows. Without it the feeds are read without conditions."""
        try:
            last = await self.state.begin_update()
        except SluiceError as error:
            self.log.error("state.failed", error)
            return None
        self.feeds.load(last.feeds, is_list_missing=is_list_missing)
        return last

    async def _report(self, report: UpdateReport) -> None:
        """Report the run to the state object. Best effort: the articles are stored already."""
        try:
            await self.state.finish_update(report)
        except SluiceError as error:
            self.log.error("state.failed", error)

    def _log_sources(self, results: SourceResults) -> None:
        for name, result in results:
            if is_failure(result):
                self.log.error("source.failed", result.error or SluiceError(), source=name, pages=result.pages)
            if result.warnings:
                self.log.event("source.warnings", source=name, warnings=result.warnings)

    async def _read_checkpoint(self) -> Checkpoint:
        """Read only: the processor repairs a corrupt checkpoint. Without one nothing is trimmed and nothing is lost."""
        checkpoint = parse_checkpoint(await self.kv.get_text(CHECKPOINT))
        if isinstance(checkpoint, CorruptCheckpoint):
            self.log.error("checkpoint.corrupt", checkpoint, alert="the processor will rebuild the checkpoint")
            return Checkpoint()
        return checkpoint

    async def _write(
        self, lease: RunLease, last: PendingMetadata, merge: Merge, results: SourceResults, *, legacy: str
    ) -> None:
        now_ms = self._now_ms()
        metadata = PendingMetadata(
            version=max(lease.next_version(PENDING, now_ms), last.version + 1),
            incomplete=tuple(name for name, result in results if is_failure(result)),
            last_run=now_ms,
            added=len(merge.added),
            legacy=legacy,
        )
        text = encode_json([entry.as_json() for entry in merge.entries])
        announcement = Announcement(key=PENDING, version=metadata.version, value=text, was_present=last.version > 0)
        await self.leases.announce(lease, announcement)
        await self.kv.put_text(PENDING, text, ttl_s=self.settings.ttl_s, metadata=metadata.as_json())

    def _log_surplus(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _IDS_PER_LOG_LINE):
            self.log.event("articles.surplus", ids=tuple(ids[start : start + _IDS_PER_LOG_LINE]))

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def _describe(result: SourceResult) -> SourceCounts:
    outcome = describe_outcome(result)
    counts: SourceCounts = {"articles": len(result.articles), "pages": result.pages, "outcome": outcome}
    if result.warnings:
        counts["warnings"] = list(result.warnings)
    return counts
