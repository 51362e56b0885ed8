"""GET /status of all three news Workers: the backlog, the articles to try later, and the last runs."""

from dataclasses import dataclass
from typing import Any

from sluice.core.json_text import parse_stored_json
from sluice.core.news.checkpoint import Checkpoint, CorruptCheckpoint, TryLaterEntry
from sluice.core.news.pending_list import PendingEntry, parse_pending_list
from sluice.core.ports import Clock, KvReader
from sluice.services.news.storage.keys import CHECKPOINT, PENDING
from sluice.services.news.storage.pending_metadata import PendingMetadata
from sluice.web import Reply, Request, Route


@dataclass(frozen=True, slots=True)
class NewsStatus:
    """Costs two reads."""

    kv: KvReader
    clock: Clock

    async def report(self) -> dict[str, Any]:
        pending = await self.kv.get_with_metadata(PENDING)
        entries = parse_pending_list(parse_stored_json(pending.value if pending else None))
        metadata = PendingMetadata.from_json(pending.metadata if pending else None)
        checkpoint = _parse_checkpoint(parse_stored_json(await self.kv.get_text(CHECKPOINT)))
        match checkpoint:
            case CorruptCheckpoint() as error:
                state = {"status": "degraded", "problem": f"the checkpoint is corrupt: {error}"}
                return state | self._report_progress(entries, metadata, Checkpoint())
            case Checkpoint():
                return {"status": "ok", "problem": None} | self._report_progress(entries, metadata, checkpoint)

    def routes(self) -> list[Route]:
        async def get_status(_request: Request) -> Reply:
            return Reply.json(await self.report(), headers={"Cache-Control": "no-store"})

        return [Route("GET", "/status", get_status)]

    def _report_progress(
        self, entries: list[PendingEntry], metadata: PendingMetadata, checkpoint: Checkpoint
    ) -> dict[str, Any]:
        backlog = [entry for entry in entries if entry.article.id not in checkpoint.known_ids]
        oldest_ms = min((entry.added_at_ms for entry in backlog), default=None)
        now_ms = int(self.clock.now() * 1000)
        return {
            "backlog": len(backlog),
            "oldestPendingAgeSeconds": None if oldest_ms is None else max(0, now_ms - oldest_ms) // 1000,
            "current": checkpoint.current and {"id": checkpoint.current.id, "stage": checkpoint.current.stage},
            "processed": len(checkpoint.processed),
            "tryLater": [_describe_entry(entry) for entry in checkpoint.try_later],
            "lastRun": {
                "processor": checkpoint.updated_at_ms or None,
                "updater": metadata.last_run,
                "failedSources": list(metadata.incomplete),
            },
        }


def _describe_entry(entry: TryLaterEntry) -> dict[str, Any]:
    return {
        "id": entry.article.id,
        "title": entry.article.title,
        "reason": entry.reason,
        "attempts": entry.article.attempts,
        "failedAt": entry.failed_at_ms,
    }


def _parse_checkpoint(value: object) -> Checkpoint | CorruptCheckpoint:
    if value is None:
        return Checkpoint()
    try:
        return Checkpoint.from_json(value)
    except CorruptCheckpoint as error:
        return error
