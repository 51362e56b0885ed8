"""Thirty days of health checks, the state of each source, and the last report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Clock, Database, DatabaseRow
from sluice.core.timestamps import Timestamp, iso
from sluice.services.compiler.health.source_check import (
    CheckedSource,
    SourceHealth,
    SourcesSummary,
    SourceValidators,
    summarize,
)

RETENTION_S: Final = 30 * 24 * 3600
ALERT_AFTER: Final = 3  # failures in a row
MAX_HISTORY_RUNS: Final = 100

_INSERT: Final = """
insert into source_attempts (run_id, source, position, name, at_ms, success, status_code, duration_ms, rule_count, error,
    etag, last_modified, recheck)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing
"""
# Counted from the attempts each time, so that a repeated step changes nothing.
_UPDATE: Final = f"""
insert into source_health (source, name, status, total_attempts, successful_attempts, failed_attempts,
    consecutive_failures, average_duration_ms, average_rule_count, last_attempt_ms, last_success_ms, last_failure_ms)
select source, name, case when failing = 0 then 'healthy' when failing < {ALERT_AFTER} then 'degraded' else 'unhealthy' end,
    total, good, total - good, failing, took_ms, rules, last_ms, success_ms, failure_ms
from (
    select ?1 as source, ?2 as name, count(*) as total, sum(success) as good, avg(duration_ms) as took_ms,
        avg(case when success then rule_count end) as rules, max(at_ms) as last_ms,
        max(case when success then at_ms end) as success_ms, max(case when not success then at_ms end) as failure_ms,
        sum(at_ms > (select coalesce(max(at_ms), 0) from source_attempts where source = ?1 and success)) as failing
    from source_attempts where source = ?1 and at_ms > ?3
) where true
on conflict (source) do update set
    name = excluded.name, status = excluded.status, total_attempts = excluded.total_attempts,
    successful_attempts = excluded.successful_attempts, failed_attempts = excluded.failed_attempts,
    consecutive_failures = excluded.consecutive_failures, average_duration_ms = excluded.average_duration_ms,
    average_rule_count = excluded.average_rule_count, last_attempt_ms = excluded.last_attempt_ms,
    last_success_ms = excluded.last_success_ms, last_failure_ms = excluded.last_failure_ms
"""  # noqa: S608 - only constants
_VALIDATORS: Final = """
select etag, last_modified, rule_count from source_attempts
where source = ? and success order by at_ms desc limit 1
"""
_LAST_RUN: Final = """
select id, completed_ms from workflow_runs
where type = 'health-monitoring' and outcome = 'completed'
    and exists (select 1 from source_attempts where run_id = workflow_runs.id and not recheck)
order by completed_ms desc limit 1
"""
# The sources of the run with their newest checks: a recheck may have found a source healthy again.
_LATEST: Final = """
select newer.*, max(newer.at_ms) from source_attempts as ran
join source_attempts as newer on newer.source = ran.source
where ran.run_id = ? group by ran.source order by ran.position
"""


class SourcesHistory(TypedDict):
    """The times of the last runs, and for each source by name whether it was healthy; null if it was not checked."""

    timestamps: list[Timestamp]
    sourceResults: dict[str, list[bool | None]]
    consecutiveFailures: Annotated[int, Doc("The highest number of any source.", minimum=0)]


class CheckReport(TypedDict):
    timestamp: Timestamp
    runId: str
    results: list[SourceHealth]
    summary: SourcesSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthStore:
    database: Database
    clock: Clock

    async def find_attempt(self, run_id: str, source: str) -> CheckedSource | None:
        """Return the check of this run if it is stored already."""
        row = await self.database.first("select * from source_attempts where run_id = ? and source = ?", run_id, source)
        return _health_from_row(row) if row else None

    async def find_validators(self, source: str) -> SourceValidators | None:
        """Return the validators of the last check that found the source healthy."""
        row = await self.database.first(_VALIDATORS, source)
        return SourceValidators(**row) if row else None

    async def record_attempt(self, run_id: str, position: int, health: CheckedSource, *, recheck: bool) -> None:
        """Store a check and the new state of its source in one transaction."""
        now_ms = self._now_ms()
        row = (
            run_id,
            health.url,
            position,
            health.name,
            now_ms,
            int(health.healthy),
            health.status_code,
            health.response_ms,
            health.rule_count,
            health.error,
            health.etag,
            health.last_modified,
            int(recheck),
        )
        update = (_UPDATE, (health.url, health.name, now_ms - RETENTION_S * 1000))
        await self.database.batch([(_INSERT, row), update])

    async def count_failures(self, sources: Sequence[str]) -> dict[str, int]:
        """Return the consecutive failures of each source."""
        rows = await self.database.all(
            f"select source, consecutive_failures from source_health where source in ({_placeholders(sources)})",  # noqa: S608
            *sources,
        )
        return {row["source"]: row["consecutive_failures"] for row in rows}

    async def load_history(self, sources: Mapping[str, str]) -> SourcesHistory:
        """Return the times and results of the last runs of the sources (URL to name); null if a run had no check."""
        oldest_ms = self._now_ms() - RETENTION_S * 1000
        if not sources:
            return {"timestamps": [], "sourceResults": {}, "consecutiveFailures": 0}
        rows = await self.database.all(
            f"select run_id, source, at_ms, success from source_attempts where source in ({_placeholders(sources)})"  # noqa: S608
            " and at_ms > ? order by at_ms desc limit ?",
            *sources,
            oldest_ms,
            MAX_HISTORY_RUNS * len(sources),
        )
        times_ms: dict[str, int] = {}
        found: dict[str, dict[str, bool]] = {}
        for row in reversed(rows):
            times_ms.setdefault(row["run_id"], row["at_ms"])
            found.setdefault(row["run_id"], {})[row["source"]] = bool(row["success"])
        last_runs = list(found)[-MAX_HISTORY_RUNS:]
        return {
            "timestamps": [iso(times_ms[run] / 1000) for run in last_runs],
            "sourceResults": {name: [found[run].get(source) for run in last_runs] for source, name in sources.items()},
            "consecutiveFailures": max((await self.count_failures(list(sources))).values(), default=0),
        }

    async def load_latest(self) -> CheckReport | None:
        """Return the last full report, updated by later rechecks."""
        run = await self.database.first(_LAST_RUN)
        if run is None:
            return None
        rows = await self.database.all(_LATEST, run["id"])
        results = [_health_from_row(row).as_json() for row in rows]
        timestamp = iso(max(row["at_ms"] for row in rows) / 1000)
        return {"timestamp": timestamp, "runId": run["id"], "results": results, "summary": summarize(results)}

    async def delete_expired(self) -> None:
        """Delete checks and alerts after 30 days, also open alerts: their sources are not checked any more, or fail for ever."""
        before_ms = self._now_ms() - RETENTION_S * 1000
        await self.database.batch(
            [
                ("delete from source_attempts where at_ms < ?", (before_ms,)),
                ("delete from source_health where last_attempt_ms < ?", (before_ms,)),
                ("delete from health_alerts where opened_ms < ?", (before_ms,)),
            ]
        )

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _placeholders(values: Sequence[str] | Mapping[str, str]) -> str:
    return ", ".join("?" * len(values))


def _health_from_row(row: DatabaseRow) -> CheckedSource:
    return CheckedSource(
        name=row["name"],
        url=row["source"],
        healthy=bool(row["success"]),
        status_code=row["status_code"],
        response_ms=row["duration_ms"],
        rule_count=row["rule_count"],
        error=row["error"],
        etag=row["etag"],
        last_modified=row["last_modified"],
    )
