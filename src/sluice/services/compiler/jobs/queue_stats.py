"""Statistics of the queues, counted from the jobs themselves, so that they cannot drift."""

import json
from dataclasses import dataclass
from typing import Annotated, Final, NotRequired, TypedDict

from sluice.core.compiler.stage_metrics import Amount, Duration
from sluice.core.doc import Doc
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Database, DatabaseRow, Kv, Log
from sluice.core.timestamps import EpochMs, Timestamp, iso
from sluice.core.waits import is_waiting
from sluice.services.compiler.jobs.job_store import JobKind, JobState
from sluice.services.compiler.metrics.request_metrics import ALL_COUNTERS
from sluice.services.compiler.requests import Priority

HISTORY: Final = 50
DEPTHS: Final = 100
STATS_KEY: Final = "queue:stats"
STATS_TTL_S: Final = 24 * 3600
ROWS_PER_S: Final = 1000  # that counting may read
MAX_INTERVAL_S: Final = 300.0
_COUNTS: Final = """
select
    coalesce(sum(state = 'queued'), 0) as pending,
    coalesce(sum(state = 'running'), 0) as processing,
    coalesce(sum(state = 'completed'), 0) as completed,
    coalesce(sum(state = 'failed'), 0) as failed,
    coalesce(sum(state = 'cancelled'), 0) as cancelled,
    count(*) as enqueued,
    coalesce(sum(case when state = 'completed' then duration_ms end), 0) as total_ms,
    coalesce(sum(finished_ms > ?1 - 60000), 0) as processingRate,
    min(case when state = 'queued' then created_ms end) as oldest_ms
from compile_jobs where created_ms > ?1 - 86400000
"""
_HISTORY: Final = f"""
select request_id, config_name, kind, priority, state, rule_count, duration_ms, attempts, created_ms, finished_ms from compile_jobs order by coalesce(finished_ms, created_ms) desc limit {HISTORY}
"""  # noqa: S608 - only constants
# Every time at which a job came or went. Added up backwards from now, they give the depth at each time.
_CHANGES: Final = f"""
select at_ms, change from (
    select created_ms as at_ms, 1 as change from compile_jobs
    union all
    select finished_ms, -1 from compile_jobs where finished_ms is not null
) order by at_ms desc limit {DEPTHS}
"""  # noqa: S608 - only constants


class NamedJob(TypedDict):
    """A job; its id and name are there for the operator's token alone."""

    requestId: NotRequired[str]
    configName: NotRequired[str]
    type: JobKind
    priority: Priority
    status: JobState
    ruleCount: Amount | None
    duration: Duration | None
    attempts: Amount
    timestamp: EpochMs


class Depth(TypedDict):
    """How many jobs were waiting or running from a time on."""

    timestamp: EpochMs
    depth: Amount


class JobCounts(TypedDict):
    """The jobs of the last 24 hours; times in milliseconds, the rate for each minute."""

    pending: Amount
    processing: Amount
    completed: Amount
    failed: Amount
    cancelled: Amount
    enqueued: Amount
    processingRate: Amount
    totalProcessingTime: Amount
    averageProcessingTime: Amount
    queueLag: Amount
    unknownMessages: Amount
    malformedMessages: Amount
    retriedMessages: Amount
    lastUpdate: Timestamp


class QueueHistory(TypedDict):
    history: Annotated[list[NamedJob], Doc("The last 50 jobs, the latest first.")]
    depthHistory: Annotated[list[Depth], Doc("The last 100 changes, the earliest first.")]


class QueueCounts(JobCounts, QueueHistory):
    """The jobs of the last 24 hours; times in milliseconds, the rate for each minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStats:
    database: Database
    clock: Clock

    async def load_counts(self) -> JobCounts:
        """Count the jobs of the last 24 hours."""
        now_ms = round(self.clock.now() * 1000)
        job_counts, messages = await self.database.batch(
            [(_COUNTS, (now_ms,)), (f"select labels, value from ({ALL_COUNTERS}) where name = 'queue_messages'", ())]  # noqa: S608
        )
        counts = job_counts.rows[0]
        total_ms, oldest_ms = counts["total_ms"], counts["oldest_ms"]
        by_outcome = {json.loads(row["labels"])[0]: row["value"] for row in messages.rows}
        return {
            "pending": counts["pending"],
            "processing": counts["processing"],
            "completed": counts["completed"],
            "failed": counts["failed"],
            "cancelled": counts["cancelled"],
            "enqueued": counts["enqueued"],
            "processingRate": counts["processingRate"],
            "totalProcessingTime": total_ms,
            "averageProcessingTime": round(total_ms / counts["completed"]) if counts["completed"] else 0,
            "queueLag": now_ms - oldest_ms if oldest_ms else 0,
            "unknownMessages": by_outcome.get("unknown", 0),
            "malformedMessages": by_outcome.get("malformed", 0),
            "retriedMessages": by_outcome.get("retried", 0),
            "lastUpdate": iso(self.clock.now()),
        }

    async def load_history(self) -> list[NamedJob]:
        """Return the last 50 jobs, the latest first, without ids and content: anybody may see this."""
        return [_job_as_json(row) for row in await self.database.all(_HISTORY)]

    async def load_named_history(self) -> list[NamedJob]:
        """Return the last 50 jobs with their ids and names, which are for the operator alone."""
        return [
            {"requestId": row["request_id"], "configName": row["config_name"], **_job_as_json(row)}
            for row in await self.database.all(_HISTORY)
        ]

    async def load_depths(self) -> list[Depth]:
        """Return how many jobs were unfinished after each of the last 100 changes, the earliest first."""
        changes = await self.database.all(_CHANGES)
        depth = await self.database.value("select count(*) from compile_jobs where finished_ms is null")
        depths: list[Depth] = []
        for change in changes:
            depths.append({"timestamp": change["at_ms"], "depth": max(depth, 0)})
            depth -= change["change"]
        return depths[::-1]


@dataclass(slots=True)
class PublishThrottle:
    """The time from which an isolate may count the jobs again."""

    due_at: float = 0.0


ISOLATE_TURN: Final = PublishThrottle()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatsPublisher:
    """Copies the statistics to KV, where dashboards read them.

    Counting reads a row for each job of the last day, so the more jobs there are, the rarer it is done: a thousand jobs
    give one count a second, a hundred jobs a second give one in five minutes.
    """

    stats: QueueStats
    published: Kv
    log: Log
    turn: PublishThrottle

    async def publish(self) -> None:
        """Publish the statistics, if it is time. Best effort: a failure is logged."""
        now = self.stats.clock.now()
        if is_waiting(self.turn.due_at, now, MAX_INTERVAL_S):
            return
        try:
            counts = await self.stats.load_counts()
            self.turn.due_at = now + min(MAX_INTERVAL_S, counts["enqueued"] / ROWS_PER_S)
            await self.published.put_json(STATS_KEY, counts, ttl_s=STATS_TTL_S)
        except SluiceError as error:
            self.log.error("stats.unpublished", error)


def _job_as_json(row: DatabaseRow) -> NamedJob:
    return {
        "type": row["kind"],
        "priority": row["priority"],
        "status": row["state"],
        "ruleCount": row["rule_count"],
        "duration": row["duration_ms"],
        "attempts": row["attempts"],
        "timestamp": row["finished_ms"] or row["created_ms"],
    }
