"""How the queues stand, counted from the jobs themselves, so that nothing can drift."""

import json
from typing import Any, Final

from sluice.core.ports import Clock, Database
from sluice.core.timestamps import iso

HISTORY: Final = 50
DEPTHS: Final = 100
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
select request_id, kind, priority, state, config_name, rule_count, duration_ms, cache_key, error, attempts,
       created_ms, finished_ms
from compile_jobs order by coalesce(finished_ms, created_ms) desc limit {HISTORY}
"""  # noqa: S608 - only constants
# Every moment at which a job came or went; added up backwards from now they are the depth at each.
_MOMENTS: Final = f"""
select at_ms, change from (
    select created_ms as at_ms, 1 as change from compile_jobs
    union all
    select finished_ms, -1 from compile_jobs where finished_ms is not null
) order by at_ms desc limit {DEPTHS}
"""  # noqa: S608 - only constants


class QueueStats:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def counts(self) -> dict[str, Any]:
        """The jobs of the last 24 hours."""
        now_ms = round(self._clock.now() * 1000)
        counted, messages = await self._database.batch(
            [(_COUNTS, (now_ms,)), ("select labels, value from counters where name = 'queue_messages'", ())]
        )
        told = counted.rows[0]
        total_ms, oldest_ms = told.pop("total_ms"), told.pop("oldest_ms")
        seen = {json.loads(row["labels"])[0]: row["value"] for row in messages.rows}
        return {
            **told,
            "totalProcessingTime": total_ms,
            "averageProcessingTime": round(total_ms / told["completed"]) if told["completed"] else 0,
            "queueLag": now_ms - oldest_ms if oldest_ms else 0,
            "unknownMessages": seen.get("unknown", 0),
            "malformedMessages": seen.get("malformed", 0),
            "retriedMessages": seen.get("retried", 0),
            "lastUpdate": iso(self._clock.now()),
        }

    async def history(self) -> list[dict[str, Any]]:
        """The last 50 jobs, the latest first."""
        return [_job(row) for row in await self._database.all(_HISTORY)]

    async def depths(self) -> list[dict[str, Any]]:
        """How many jobs were waiting or running after each of the last 100 changes, the earliest first."""
        moments = await self._database.all(_MOMENTS)
        depth = await self._database.value("select count(*) from compile_jobs where finished_ms is null")
        told = []
        for moment in moments:
            told.append({"timestamp": moment["at_ms"], "depth": max(depth, 0)})
            depth -= moment["change"]
        return told[::-1]


def _job(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "requestId": row["request_id"],
        "type": row["kind"],
        "priority": row["priority"],
        "status": row["state"],
        "configName": row["config_name"],
        "ruleCount": row["rule_count"],
        "duration": row["duration_ms"],
        "cacheKey": row["cache_key"],
        "error": row["error"],
        "attempts": row["attempts"],
        "timestamp": row["finished_ms"] or row["created_ms"],
    }
