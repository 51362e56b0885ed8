"""Thirty days of checks, what they come to for each source, and the last report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.ports import Clock, Database
from sluice.core.timestamps import iso
from sluice.services.compiler.health.source import SourceHealth, Validators, summary

RETENTION_S: Final = 30 * 24 * 3600
ALERT_AFTER: Final = 3  # failures in a row
MAX_TOLD_RUNS: Final = 100

_INSERT: Final = """
insert into source_attempts (run_id, source, position, name, at_ms, success, status_code, duration_ms, rule_count, error,
    etag, last_modified, recheck)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing
"""
# Counted from the attempts each time, so that doing it twice changes nothing.
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
_KNOWN: Final = """
select etag, last_modified, rule_count from source_attempts
where source = ? and success order by at_ms desc limit 1
"""
_LAST_RUN: Final = """
select id, completed_ms from workflow_runs
where type = 'health-monitoring' and outcome = 'completed'
    and exists (select 1 from source_attempts where run_id = workflow_runs.id and not recheck)
order by completed_ms desc limit 1
"""
# The sources of the run, each by its newest check: a recheck may have found it well again since.
_LATEST: Final = """
select newer.*, max(newer.at_ms) from source_attempts as ran
join source_attempts as newer on newer.source = ran.source
where ran.run_id = ? group by ran.source order by ran.position
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthStore:
    database: Database
    clock: Clock

    async def found(self, run_id: str, source: str) -> SourceHealth | None:
        """What this run found already, if it was here before."""
        row = await self.database.first("select * from source_attempts where run_id = ? and source = ?", run_id, source)
        return _health(row) if row else None

    async def known(self, source: str) -> Validators | None:
        """How to see that the source is as it was when it was last well."""
        row = await self.database.first(_KNOWN, source)
        return Validators(**row) if row else None

    async def record(self, run_id: str, position: int, found: SourceHealth, *, recheck: bool) -> None:
        """Keep a check and what all checks come to, both or neither."""
        now_ms = self._now_ms()
        row = (
            run_id,
            found.url,
            position,
            found.name,
            now_ms,
            int(found.healthy),
            found.status_code,
            found.response_ms,
            found.rule_count,
            found.error,
            found.etag,
            found.last_modified,
            int(recheck),
        )
        counted = (_UPDATE, (found.url, found.name, now_ms - RETENTION_S * 1000))
        await self.database.batch([(_INSERT, row), counted])

    async def failing(self, sources: Sequence[str]) -> dict[str, int]:
        """How often in a row each source has failed up to now."""
        rows = await self.database.all(
            f"select source, consecutive_failures from source_health where source in ({_marks(sources)})",  # noqa: S608
            *sources,
        )
        return {row["source"]: row["consecutive_failures"] for row in rows}

    async def history(self, sources: Mapping[str, str]) -> dict[str, Any]:
        """The last runs of the sources (address to name): when they were, and what each found; null where not asked."""
        oldest_ms = self._now_ms() - RETENTION_S * 1000
        rows = await self.database.all(
            f"select run_id, source, at_ms, success from source_attempts where source in ({_marks(sources)})"  # noqa: S608
            " and at_ms > ? order by at_ms desc limit ?",
            *sources,
            oldest_ms,
            MAX_TOLD_RUNS * len(sources),
        )
        runs: dict[str, dict[str, Any]] = {}
        for row in reversed(rows):
            run = runs.setdefault(row["run_id"], {"at_ms": row["at_ms"], "results": {}})
            run["results"][row["source"]] = bool(row["success"])
        told = list(runs.values())[-MAX_TOLD_RUNS:]
        return {
            "timestamps": [iso(run["at_ms"] / 1000) for run in told],
            "sourceResults": {name: [run["results"].get(source) for run in told] for source, name in sources.items()},
            "consecutiveFailures": max((await self.failing(list(sources))).values(), default=0),
        }

    async def latest(self) -> dict[str, Any] | None:
        """The last full report, with what rechecks have found since."""
        run = await self.database.first(_LAST_RUN)
        if run is None:
            return None
        rows = await self.database.all(_LATEST, run["id"])
        results = [_health(row).as_json() for row in rows]
        timestamp = iso(max(row["at_ms"] for row in rows) / 1000)
        return {"timestamp": timestamp, "runId": run["id"], "results": results, "summary": summary(results)}

    async def tidy(self) -> None:
        """Forget checks after 30 days, and the alerts that were resolved by then."""
        before_ms = self._now_ms() - RETENTION_S * 1000
        await self.database.batch(
            [
                ("delete from source_attempts where at_ms < ?", (before_ms,)),
                ("delete from source_health where last_attempt_ms < ?", (before_ms,)),
                ("delete from health_alerts where resolved_ms < ?", (before_ms,)),
            ]
        )

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _marks(values: Sequence[str] | Mapping[str, str]) -> str:
    return ", ".join("?" * len(values))


def _health(row: Mapping[str, Any]) -> SourceHealth:
    return SourceHealth(
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
