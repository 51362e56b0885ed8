"""How the pipeline stands: backlog, what waits and why, when somebody last worked."""

from dataclasses import dataclass
from typing import Any

from sluice.core.bounded_json import parsed
from sluice.core.news.checkpoint import Checkpoint, Corrupt
from sluice.core.news.pending_list import entries_of
from sluice.core.ports import Clock, KvReader
from sluice.services.news.collect.updater import Notes
from sluice.services.news.http import api_docs as docs
from sluice.services.news.storage.keys import CHECKPOINT, PENDING
from sluice.web import Reply, Request, Route


@dataclass(frozen=True, slots=True)
class Status:
    """Two reads."""

    store: KvReader
    clock: Clock

    async def report(self) -> dict[str, Any]:
        found = await self.store.get_with_metadata(PENDING)
        entries = entries_of(parsed(found.value if found else None))
        notes = Notes.of(found.metadata if found else None)
        checkpoint, problem = _understood(parsed(await self.store.get_text(CHECKPOINT)))
        now_ms = int(self.clock.now() * 1000)
        waiting = [entry for entry in entries if entry.article.id not in checkpoint.known_ids]
        oldest = min((entry.added_at_ms for entry in waiting), default=None)
        return {
            "status": "degraded" if problem else "ok",
            "problem": problem,
            "backlog": len(waiting),
            "oldestPendingAgeSeconds": None if oldest is None else max(0, now_ms - oldest) // 1000,
            "current": checkpoint.current and {"id": checkpoint.current.id, "stage": checkpoint.current.stage},
            "processed": len(checkpoint.processed),
            "tryLater": [
                {
                    "id": each.article.id,
                    "title": each.article.title,
                    "reason": each.reason,
                    "attempts": each.article.attempts,
                    "failedAt": each.failed_at_ms,
                }
                for each in checkpoint.try_later
            ],
            "lastRun": {
                "processor": checkpoint.updated_at_ms or None,
                "updater": notes.report.get("lastRun"),
                "failedSources": list(notes.incomplete),
            },
        }

    def routes(self) -> list[Route]:
        async def status(_request: Request) -> Reply:
            return Reply.json(await self.report(), headers={"Cache-Control": "no-store"})

        return [Route("GET", "/status", status, doc=docs.STATUS)]


def _understood(value: object) -> tuple[Checkpoint, str | None]:
    if value is None:
        return Checkpoint(), None
    try:
        return Checkpoint.from_json(value), None
    except Corrupt as error:
        return Checkpoint(), f"the checkpoint is corrupt: {error}"
