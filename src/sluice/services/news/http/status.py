"""GET /status of all three news Workers: whether the service works and why not, the backlog, the sources and the last runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import SluiceError
from sluice.core.json_text import parse_stored_json
from sluice.core.news.article import Milliseconds, Stage
from sluice.core.news.checkpoint import Checkpoint, CorruptCheckpoint, TryLaterEntry, parse_checkpoint
from sluice.core.news.pending_list import PendingEntry, parse_pending_list
from sluice.core.ports import Clock, KvReader, Log
from sluice.core.timestamps import iso
from sluice.services.news.state.remote_state import AiState, RemoteNewsState, SourceState, StateReport
from sluice.services.news.storage.article_index import ArticleIndex, CorruptIndex
from sluice.services.news.storage.keys import CHECKPOINT, PENDING
from sluice.services.news.storage.pending_metadata import PendingMetadata
from sluice.web import Reply, Request, Route
from sluice.web.clients import ReadLimit
from sluice.web.operations import Operation, ReplyDoc, describe

# A run with a hundred feeds takes less than two minutes; the updater is due every hour, the processor every minute.
CRASHED_MS: Final = 3 * 60_000
SILENT_UPDATER_MS: Final = 150 * 60_000
SILENT_PROCESSOR_MS: Final = 10 * 60_000
_NOTHING_KNOWN: Final[StateReport] = {
    "updater": {"startedAt": 0, "finishedAt": 0, "sources": []},
    "ai": {"isOpen": False, "reason": None, "today": {"neurons": 0.0, "answers": 0, "failures": 0}},
    "waitingDeliveries": 0,
    "secondLooks": 0,
}


class CurrentArticle(TypedDict):
    id: str
    stage: Stage


class TryLaterArticle(TypedDict):
    id: str
    title: str
    reason: str
    attempts: int
    failedAt: Milliseconds


class Progress(TypedDict):
    backlog: Annotated[int, Doc("Articles that wait to be processed.")]
    oldestPendingAgeSeconds: int | None
    current: CurrentArticle | None
    processed: int
    tryLater: list[TryLaterArticle]


class LastRuns(TypedDict):
    processor: Milliseconds | None
    updater: Milliseconds | None
    failedSources: list[str]


class ServiceStatus(Progress, TypedDict):
    status: Literal["ok", "degraded"]
    problem: Annotated[str, Doc("The first of `problems`.")] | None
    problems: Annotated[list[str], Doc("Why the service is degraded, and what to do.")]
    lastRun: LastRuns
    sources: list[SourceState]
    ai: AiState
    waitingDeliveries: Annotated[int, Doc("Alerts and messages that wait to be sent.")]
    secondLooks: Annotated[int, Doc("Articles that the embedded analyst has judged for Workers AI.")]


STATUS: Final = Operation(
    "showStatus",
    "The state of the news service",
    {200: ReplyDoc("The backlog, the articles to try later and why, and the last runs.", ServiceStatus)},
    tag="Processing",
    problems=(429,),
)


@dataclass(frozen=True, slots=True)
class NewsStatus:
    """Reports the status of the service, at the cost of three reads and a call of the state object."""

    kv: KvReader
    state: RemoteNewsState
    clock: Clock
    log: Log
    reads: ReadLimit

    async def report(self) -> ServiceStatus:
        pending = await self.kv.get_with_metadata(PENDING)
        entries = parse_pending_list(parse_stored_json(pending.value if pending else None))
        metadata = PendingMetadata.from_json(pending.metadata if pending else None)
        checkpoint = parse_checkpoint(await self.kv.get_text(CHECKPOINT))
        known, problems = await self._read_state()
        index = await ArticleIndex.read(self.kv)
        if isinstance(index, CorruptIndex):
            problems.append(f"the index of articles is corrupt: {index}; the next article that is processed mends it")
        if isinstance(checkpoint, CorruptCheckpoint):
            problems.append(f"the checkpoint is corrupt: {checkpoint}; the next run of the processor mends it")
            checkpoint = Checkpoint()
        backlog = [entry for entry in entries if entry.article.id not in checkpoint.known_ids]
        problems += self._find_problems(known, metadata, checkpoint, backlog)
        return {
            "status": "degraded" if problems else "ok",
            "problem": problems[0] if problems else None,
            "problems": problems,
            **self._describe_progress(backlog, checkpoint),
            "lastRun": {
                "processor": checkpoint.updated_at_ms or None,
                "updater": metadata.last_run,
                "failedSources": list(metadata.incomplete),
            },
            "sources": known["updater"]["sources"],
            "ai": known["ai"],
            "waitingDeliveries": known["waitingDeliveries"],
            "secondLooks": known["secondLooks"],
        }

    def routes(self) -> list[Route]:
        async def get_status(_request: Request) -> Reply:
            return Reply.json(await self.report())

        return [Route("GET", "/status", describe(STATUS)(self.reads.limit(get_status)))]

    async def _read_state(self) -> tuple[StateReport, list[str]]:
        try:
            return await self.state.describe(), []
        except SluiceError as error:
            self.log.error("state.failed", error)
            return _NOTHING_KNOWN, [f"the state object does not answer: {error}"]

    def _find_problems(
        self, known: StateReport, metadata: PendingMetadata, checkpoint: Checkpoint, backlog: list[PendingEntry]
    ) -> Iterator[str]:
        now_ms = self._now_ms()
        updater = known["updater"]
        started_ms, finished_ms = updater["startedAt"], updater["finishedAt"] or int(metadata.last_run or 0)
        if started_ms > finished_ms and now_ms - started_ms > CRASHED_MS:
            yield f"the updater's run of {iso(started_ms / 1000)} has not ended: it crashed; see its log"
        elif finished_ms and now_ms - finished_ms > SILENT_UPDATER_MS:
            yield f"the updater has not run since {iso(finished_ms / 1000)}: check its cron"
        for source in updater["sources"]:
            if source["failures"]:
                yield f"source {source['name']} has failed {source['failures']} times in a row: {source['lastError']}"
        waiting_since_ms = max([checkpoint.updated_at_ms, *(entry.added_at_ms for entry in backlog[-1:])])
        if backlog and now_ms - waiting_since_ms > SILENT_PROCESSOR_MS:
            yield f"{len(backlog)} articles wait, and the processor has not worked since {iso(waiting_since_ms / 1000)}"
        if known["ai"]["isOpen"]:
            yield f"Workers AI is not asked for now, the embedded analyst serves: {known['ai']['reason']}"

    def _describe_progress(self, backlog: list[PendingEntry], checkpoint: Checkpoint) -> Progress:
        oldest_ms = min((entry.added_at_ms for entry in backlog), default=None)
        return {
            "backlog": len(backlog),
            "oldestPendingAgeSeconds": None if oldest_ms is None else max(0, self._now_ms() - oldest_ms) // 1000,
            "current": {"id": current.id, "stage": current.stage} if (current := checkpoint.current) else None,
            "processed": len(checkpoint.processed),
            "tryLater": [_describe_entry(entry) for entry in checkpoint.try_later],
        }

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def _describe_entry(entry: TryLaterEntry) -> TryLaterArticle:
    return {
        "id": entry.article.id,
        "title": entry.article.title,
        "reason": entry.reason,
        "attempts": entry.article.attempts,
        "failedAt": entry.failed_at_ms,
    }
