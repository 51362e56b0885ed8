"""The stored events of every workflow instance, and the figures made from them.

Any number of writers may emit at once. One write is one row: a page of events, which begins at least a millisecond after the
last page. So no event is lost, and a reader who asks for events after the last one it has seen misses none. A repeated step
stores its events again; readers see the first of each key.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NotRequired, TypedDict

from sluice.core.compiler.stage_metrics import Amount, Duration
from sluice.core.json_text import encode_json
from sluice.core.ports import Clock, Database, DatabaseRow, Statement
from sluice.core.timestamps import Timestamp, iso
from sluice.services.compiler.workflows.run_events import (
    EventMembers,
    EventType,
    Progress,
    RunEvent,
    WorkflowRun,
    WorkflowType,
)

MAX_EVENTS: Final = 100
EVENTS_TTL_S: Final = 3600
RUNS_TTL_S: Final = 30 * 24 * 3600
_MAX_PAGE: Final = 50  # events in one row: a guess, unmeasured
_MAX_PAGES: Final = 500  # that are read

_OPEN: Final = "insert into workflow_runs (id, type, started_ms) values (?, ?, ?) on conflict do nothing"
_INSERT: Final = """
insert into workflow_event_pages (workflow_id, base_ms, last_ms, progress, events)
select ?1, base_ms, base_ms + ?3, ?4, ?5 from (
    select max(?2, coalesce((select max(last_ms) + 1 from workflow_event_pages where workflow_id = ?1), 0)) as base_ms
)
"""
_END: Final = """
update workflow_runs
set completed_ms = ended.at_ms, duration_ms = max(ended.at_ms - started_ms, 0), outcome = ?2, error = ?3,
    progress = ended.progress
from (select max(last_ms) as at_ms, max(progress) as progress from workflow_event_pages where workflow_id = ?1) as ended
where id = ?1 and completed_ms is null
"""
_READ: Final = f"""
select * from (
    select base_ms, progress, events from workflow_event_pages where workflow_id = ?1
    order by base_ms desc limit {_MAX_PAGES}
) order by base_ms
"""  # noqa: S608 - only constants
_METRICS: Final = """
select type, count(*) as runs, sum(outcome is 'completed') as completed, sum(outcome is 'failed') as failed,
    sum(outcome is null) as unfinished, avg(duration_ms) as average_ms, max(duration_ms) as longest_ms,
    max(started_ms) as last_ms
from workflow_runs where started_ms > ?1 group by type
"""


class WorkflowEvent(EventMembers, TypedDict):
    type: EventType
    workflowId: str
    workflowType: WorkflowType
    timestamp: Timestamp


class RunEvents(TypedDict):
    """The events of a run. `message` says why there are no events."""

    workflowId: str
    workflowType: NotRequired[WorkflowType]
    startedAt: NotRequired[Timestamp]
    completedAt: NotRequired[Timestamp]
    progress: Progress
    isComplete: bool
    events: list[WorkflowEvent]
    message: NotRequired[str]


class WorkflowFigures(TypedDict):
    """The runs of the last 30 days."""

    totalRuns: Amount
    completed: Amount
    failed: Amount
    unfinished: Amount
    avgDurationMs: Duration | None
    maxDurationMs: Duration | None
    lastRunAt: Timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowEventLog:
    database: Database
    clock: Clock

    async def emit(self, run: WorkflowRun, *events: RunEvent) -> None:
        """Store the events of one call in their order; once this returns they are stored."""
        for at in range(0, len(events), _MAX_PAGE):
            await self.database.batch(self._statements(run, events[at : at + _MAX_PAGE]))

    async def read(self, workflow_id: str, since_ms: int | None = None) -> RunEvents | None:
        """Return the events after a time, and the progress and end of the whole run; None if the run is unknown."""
        run = await self.database.first("select * from workflow_runs where id = ?", workflow_id)
        if run is None:
            return None
        oldest_ms = self._now_ms() - EVENTS_TTL_S * 1000
        since_ms = oldest_ms if since_ms is None else since_ms
        pages = await self.database.all(_READ, workflow_id)
        events = [event for event in _unique_events(pages) if event.at_ms > oldest_ms][-MAX_EVENTS:]
        log: RunEvents = {
            "workflowId": workflow_id,
            "workflowType": run["type"],
            "startedAt": iso(run["started_ms"] / 1000),
            "progress": max(run["progress"], *(page["progress"] for page in pages), 0),
            "isComplete": run["completed_ms"] is not None,
            "events": [event.as_json(workflow_id, run["type"]) for event in events if event.at_ms > since_ms],
        }
        if log["isComplete"]:
            log["completedAt"] = iso(run["completed_ms"] / 1000)
        return log

    async def load_duration_ms(self, run: WorkflowRun) -> int:
        """Return how long a finished run took."""
        return int(await self.database.value("select duration_ms from workflow_runs where id = ?", run.id) or 0)

    async def load_metrics(self) -> dict[WorkflowType, WorkflowFigures]:
        """Return figures of the runs of the last 30 days, for each type that had a run."""
        rows = await self.database.all(_METRICS, self._now_ms() - RUNS_TTL_S * 1000)
        return {row["type"]: _metrics_as_json(row) for row in rows}

    async def delete_expired(self) -> None:
        """Delete events and errors after an hour, because they may quote what a caller has sent; runs after 30 days."""
        now_ms = self._now_ms()
        events_end_ms = now_ms - EVENTS_TTL_S * 1000
        await self.database.batch(
            [
                ("delete from workflow_event_pages where last_ms < ?", (events_end_ms,)),
                (
                    "update workflow_runs set error = null where completed_ms < ? and error is not null",
                    (events_end_ms,),
                ),
                ("delete from workflow_runs where started_ms < ?", (now_ms - RUNS_TTL_S * 1000,)),
            ]
        )

    def _statements(self, run: WorkflowRun, events: Sequence[RunEvent]) -> list[Statement]:
        now_ms = self._now_ms()
        base_ms = min(event.at_ms or now_ms for event in events)
        page, last = [], -1
        for event in events:
            last = max((event.at_ms or now_ms) - base_ms, last + 1)
            page.append([last, event.key, event.type, event.as_json()])
        progress = max(event.progress or 0 for event in events)
        statements: list[Statement] = [
            (_OPEN, (run.id, run.type, base_ms)),
            (_INSERT, (run.id, base_ms, last, progress, encode_json(page))),
        ]
        ends = [event for event in events if event.outcome]
        errors = [event.message if event.outcome == "failed" else None for event in ends]
        return statements + [(_END, (run.id, end.outcome, error)) for end, error in zip(ends, errors, strict=True)]

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


@dataclass(frozen=True, slots=True)
class StoredEvent:
    at_ms: int
    type: EventType
    body: EventMembers

    def as_json(self, workflow_id: str, workflow_type: WorkflowType) -> WorkflowEvent:
        return {
            "type": self.type,
            "workflowId": workflow_id,
            "workflowType": workflow_type,
            "timestamp": iso(self.at_ms / 1000),
            **self.body,
        }


def _unique_events(pages: Sequence[DatabaseRow]) -> Iterator[StoredEvent]:
    """Yield the events of all pages in order; of those with the same key, the first."""
    seen: set[str] = set()
    for page in pages:
        for offset_ms, key, kind, body in json.loads(page["events"]):
            if key is None or key not in seen:
                yield StoredEvent(page["base_ms"] + offset_ms, kind, body)
            seen.update({key} - {None})


def _metrics_as_json(row: DatabaseRow) -> WorkflowFigures:
    return {
        "totalRuns": row["runs"],
        "completed": row["completed"],
        "failed": row["failed"],
        "unfinished": row["unfinished"],
        "avgDurationMs": None if row["average_ms"] is None else round(row["average_ms"]),
        "maxDurationMs": row["longest_ms"],
        "lastRunAt": iso(row["last_ms"] / 1000),
    }
