"""One run of the updater: what is pending, what is known, what is new, and one write."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sluice.core.bounded_json import loads, parsed
from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint, Corrupt
from sluice.core.news.feeds.source import Harvest, Source
from sluice.core.news.pending_list import Merge, entries_of, merge
from sluice.core.ports import Clock, KvWriter, Log
from sluice.services.news.run_lease.lease import Turn, Turns
from sluice.services.news.settings import UpdaterSettings
from sluice.services.news.storage.keys import CHECKPOINT, PENDING

_LOGGED_IDS: Final = 50  # in one line: the log cuts longer lists

# What each source gave, by its name.
Harvests = Sequence[tuple[str, Harvest]]


@dataclass(frozen=True, slots=True)
class Notes:
    """What is noted beside the list: its version, and which sources broke off before a known article."""

    version: int = 0
    incomplete: tuple[str, ...] = ()
    report: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, metadata: object) -> "Notes":
        if not isinstance(metadata, Mapping):
            return cls()
        version, incomplete = metadata.get("version"), metadata.get("incomplete")
        names = incomplete if isinstance(incomplete, list) else []
        return cls(version if isinstance(version, int) else 0, tuple(str(name) for name in names), metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Updater:
    """Fetches from all sources and adds what is new to the pending list, the only key it writes."""

    store: KvWriter
    turns: Turns
    sources: Sequence[Source]
    clock: Clock
    log: Log
    settings: UpdaterSettings

    async def run(self) -> dict[str, Any]:
        """What came of it; a source that fails keeps nothing back that another gave."""
        turn = await self.turns.take(self._now_ms())
        if turn is None:
            return self._told({"outcome": "busy", "reason": "another run is under way"})
        try:
            report = await self._with_turn(turn)
        except Exception:
            await self.turns.release(turn)
            raise
        await self.turns.release(turn)
        return self._told(report)

    async def _with_turn(self, turn: Turn) -> dict[str, Any]:
        found = await self.store.get_with_metadata(PENDING)
        notes = Notes.of(found.metadata if found else None)
        if turn.is_stale(notes.version, self._now_ms()):
            return {"outcome": "waiting", "reason": "the pending list read is older than the last one written"}
        entries = entries_of(parsed(found.value if found else None))
        checkpoint = await self._checkpoint()
        known = checkpoint.known_ids | {entry.article.id for entry in entries}
        # In a list: two feeds may go by the same name.
        harvests = [(source.name, await self._harvest(source, known, notes)) for source in self.sources]
        merged = merge(
            entries,
            _newest_first([article for _, harvest in harvests for article in harvest.articles]),
            processed=checkpoint.processed,
            known=checkpoint.known_ids,
            max_size=self.settings.max_pending_list_size,
            now_ms=self._now_ms(),
        )
        await self._write(turn, notes, merged, harvests)
        for at in range(0, len(merged.surplus), _LOGGED_IDS):
            self.log.event("articles.surplus", ids=merged.surplus[at : at + _LOGGED_IDS])
        return _report(merged, harvests)

    async def _harvest(self, source: Source, known: set[str], notes: Notes) -> Harvest:
        """Where the last run broke off, known articles do not mean that all older ones are known too."""
        stop_at = frozenset[str]() if source.name in notes.incomplete else known
        harvest = await source.harvest(stop_at, self._now_ms())
        if harvest.error is not None:
            self.log.error("source.failed", harvest.error, source=source.name, pages=harvest.pages)
        return harvest

    async def _checkpoint(self) -> Checkpoint:
        """Only read here. One that is corrupt is the processor's to mend; without it nothing is trimmed, nothing lost."""
        try:
            return Checkpoint.from_json(loads(await self.store.get_text(CHECKPOINT) or "{}"))
        except (ValueError, Corrupt) as error:
            self.log.error("checkpoint.corrupt", error, alert="the processor will rebuild the checkpoint")
            return Checkpoint()

    async def _write(self, turn: Turn, notes: Notes, merged: Merge, harvests: Harvests) -> None:
        now_ms = self._now_ms()
        version = max(now_ms, notes.version + 1, turn.announced + 1)
        failed = [name for name, harvest in harvests if harvest.error is not None]
        noted = {"version": version, "incomplete": failed[:10], "lastRun": now_ms, "added": len(merged.added)}
        await self.turns.announce(turn, version, now_ms)
        listed = [entry.to_json() for entry in merged.entries]
        await self.store.put_json(PENDING, listed, ttl_s=self.settings.ttl_s, metadata=noted)

    def _told(self, report: dict[str, Any]) -> dict[str, Any]:
        self.log.event("updater.run", **report)
        return report

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def _newest_first(articles: list[Article]) -> list[Article]:
    return sorted(articles, key=lambda each: each.text("pubDate"), reverse=True)


def _report(merged: Merge, harvests: Harvests) -> dict[str, Any]:
    failed = {name: str(harvest.error) for name, harvest in harvests if harvest.error is not None}
    nothing = {"reason": "no source is configured: set NEWSDATA_API_KEY, APITUBE_API_KEY or NEWS_FEEDS"}
    return {
        "outcome": "failed" if failed and len(failed) == len(harvests) else "ok",
        "added": list(merged.added),
        "trimmed": merged.trimmed,
        "surplus": len(merged.surplus),
        "pending": len(merged.entries),
        "sources": {name: {"articles": len(h.articles), "pages": h.pages} for name, h in harvests},
        "failed": failed,
    } | ({} if harvests else nothing)
