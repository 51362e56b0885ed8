"""The stored events of every workflow instance, and the figures made from them.

Any number of writers may emit at once: each event is one statement, which sets its own time, at least a millisecond after
the last event. So no event is lost, and a reader who asks for events after the last one it has seen misses none.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.json_text import encode_json
from sluice.core.ports import Clock, Database, Statement
from sluice.core.timestamps import iso
from sluice.services.compiler.workflows.events import Run, RunEvent, WorkflowType

MAX_EVENTS: Final = 100
EVENTS_TTL_S: Final = 3600
RUNS_TTL_S: Final = 30 * 24 * 3600
_MAX_BATCH: Final = 50  # events in one transaction: a guess, unmeasured

_OPEN: Final = "insert into workflow_runs (id, type, started_ms) values (?, ?, ?) on conflict do nothing"
_INSERT: Final = """
insert into workflow_events (workflow_id, at_ms, event_key, type, body)
select ?1, max(?2, coalesce((select max(at_ms) + 1 from workflow_events where workflow_id = ?1), 0)), ?3, ?4, ?5
where true
on conflict (workflow_id, event_key) do nothing
"""
_PROGRESS: Final = "update workflow_runs set progress = max(progress, ?) where id = ?"
_END: Final = """
update workflow_runs
set completed_ms = ended.at_ms, duration_ms = ended.at_ms - started_ms, outcome = ?2, error = ?3
from (select at_ms from workflow_events where workflow_id = ?1 and event_key = 'ended') as ended
where id = ?1 and completed_ms is null
"""
# Events with a key stay for their hour, so that a repeated step does not store them again; _READ leaves them out.
_TRIM: Final = f"""
delete from workflow_events where workflow_id = ?1 and event_key is null and at_ms <
    (select at_ms from workflow_events where workflow_id = ?1 order by at_ms desc limit 1 offset {MAX_EVENTS - 1})
"""  # noqa: S608 - only constants
_READ: Final = f"""
select * from (
    select at_ms, type, body from workflow_events where workflow_id = ?1 and at_ms > ?2
    order by at_ms desc limit {MAX_EVENTS}
) where at_ms > ?3 order by at_ms
"""  # noqa: S608 - only constants
_METRICS: Final = """
select type, count(*) as runs, sum(outcome is 'completed') as completed, sum(outcome is 'failed') as failed,
    sum(outcome is null) as unfinished, avg(duration_ms) as average_ms, max(duration_ms) as longest_ms,
    max(started_ms) as last_ms
from workflow_runs where started_ms > ?1 group by type
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowEventLog:
    database: Database
    clock: Clock

    async def emit(self, run: Run, *events: RunEvent) -> None:
        """Stores the events of one call in their order; once this returns they are stored."""
        for at in range(0, len(events), _MAX_BATCH):
            await self.database.batch(self._statements(run, events[at : at + _MAX_BATCH]))

    async def read(self, workflow_id: str, since_ms: int | None = None) -> dict[str, Any] | None:
        """Returns the events after a time, and the progress and end of the whole run; None if the run is unknown."""
        run = await self.database.first("select * from workflow_runs where id = ?", workflow_id)
        if run is None:
            return None
        oldest_ms = self._now_ms() - EVENTS_TTL_S * 1000
        since_ms = oldest_ms if since_ms is None else since_ms
        rows = await self.database.all(_READ, workflow_id, oldest_ms, since_ms)
        ended = {} if run["completed_ms"] is None else {"completedAt": iso(run["completed_ms"] / 1000)}
        return {
            "workflowId": workflow_id,
            "workflowType": run["type"],
            "startedAt": iso(run["started_ms"] / 1000),
            **ended,
            "progress": run["progress"],
            "isComplete": bool(ended),
            "events": [_event_as_json(workflow_id, run["type"], row) for row in rows],
        }

    async def load_duration_ms(self, run: Run) -> int:
        """Returns how long a finished run took."""
        return int(await self.database.value("select duration_ms from workflow_runs where id = ?", run.id) or 0)

    async def load_metrics(self) -> dict[WorkflowType, dict[str, Any]]:
        """Returns figures of the runs of the last 30 days, for each type that had a run."""
        rows = await self.database.all(_METRICS, self._now_ms() - RUNS_TTL_S * 1000)
        return {row["type"]: _metrics_as_json(row) for row in rows}

    async def delete_expired(self) -> None:
        """Deletes events after an hour, runs after 30 days."""
        now_ms = self._now_ms()
        await self.database.batch(
            [
                ("delete from workflow_events where at_ms < ?", (now_ms - EVENTS_TTL_S * 1000,)),
                ("delete from workflow_runs where started_ms < ?", (now_ms - RUNS_TTL_S * 1000,)),
            ]
        )

    def _statements(self, run: Run, events: Sequence[RunEvent]) -> list[Statement]:
        now_ms = self._now_ms()
        first_ms = min(event.at_ms or now_ms for event in events)
        statements: list[Statement] = [(_OPEN, (run.id, run.type, first_ms))]
        for event in events:
            row = (run.id, event.at_ms or now_ms, event.key, event.type, encode_json(event.as_json()))
            statements.append((_INSERT, row))
            if event.progress:
                statements.append((_PROGRESS, (event.progress, run.id)))
            if event.outcome:
                error = event.message if event.outcome == "failed" else None
                statements.append((_END, (run.id, event.outcome, error)))
        return [*statements, (_TRIM, (run.id,))]

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _event_as_json(workflow_id: str, workflow_type: str, row: Mapping[str, Any]) -> dict[str, Any]:
    head = {"type": row["type"], "workflowId": workflow_id, "workflowType": workflow_type}
    return {**head, "timestamp": iso(row["at_ms"] / 1000), **json.loads(row["body"])}


def _metrics_as_json(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "totalRuns": row["runs"],
        "completed": row["completed"],
        "failed": row["failed"],
        "unfinished": row["unfinished"],
        "avgDurationMs": None if row["average_ms"] is None else round(row["average_ms"]),
        "maxDurationMs": row["longest_ms"],
        "lastRunAt": iso(row["last_ms"] / 1000),
    }
