"""What the workflows answer over HTTP: start, status, events, figures, and the last report on the sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Protocol

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import Invalid
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.core.timestamps import iso, parse_iso_ms
from sluice.services.compiler.health.source import HealthSource
from sluice.services.compiler.health.store import HealthStore
from sluice.services.compiler.health.workflow import HealthRequest
from sluice.services.compiler.requests import MAX_BODY_BYTES, AsyncBatchRequest, CompileRequest
from sluice.services.compiler.workflows.events import WorkflowType
from sluice.services.compiler.workflows.log import RunLog
from sluice.services.compiler.workflows.starts import ApiType, Starts
from sluice.services.compiler.workflows.warming import WarmRequest
from sluice.web import Reply, Request, read_query

_UNCACHED: Final = {"Cache-Control": "no-store"}
# How the figures of each type are named.
_FIGURES: Final[Mapping[WorkflowType, str]] = {
    "compilation": "compilation",
    "batch": "batchCompilation",
    "cache-warming": "cacheWarming",
    "health-monitoring": "healthMonitoring",
}


class Guard(Protocol):
    """Gives the JSON body of a request that may pass: limits first, then the proof that a person asks."""

    async def __call__(self, request: Request, *, max_bytes: int, optional_body: bool = False) -> Any: ...


class EventsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    since: Annotated[
        str | None,
        Field(description="Events strictly later than this moment alone.", examples=["2026-01-31T12:00:00.000Z"]),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowApi:
    """`configurations` and `sources` give what is warmed and checked when a request names none."""

    guard: Guard
    starts: Starts
    run_log: RunLog
    health: HealthStore
    configurations: Callable[[], Sequence[Configuration]]
    sources: Callable[[], Sequence[HealthSource]]
    clock: Clock

    async def compile(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        parse_model(CompileRequest, body)
        workflow_id = await self.starts.requested("compilation", "requestId", body)
        return _accepted("Compilation workflow started", "compilation", workflow_id)

    async def batch(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        size = len(parse_model(AsyncBatchRequest, body).requests)
        workflow_id = await self.starts.requested("batch-compilation", "batchId", body)
        return _accepted("Batch compilation workflow started", "batch-compilation", workflow_id, batchSize=size)

    async def warm(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES, optional_body=True)
        given = parse_model(WarmRequest, body).configurations
        chosen = [configuration.model_dump(exclude_unset=True) for configuration in given or self.configurations()]
        workflow_id = await self.starts.requested("cache-warming", "runId", {"configurations": chosen})
        count = len(given) if given else "default"
        return _accepted("Cache warming workflow started", "cache-warming", workflow_id, configurationsCount=count)

    async def check(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES, optional_body=True)
        wanted = parse_model(HealthRequest, body)
        chosen = [source.model_dump() for source in wanted.sources or self.sources()]
        params = {"sources": chosen, "alertOnFailure": wanted.alertOnFailure}
        workflow_id = await self.starts.requested("health-monitoring", "runId", params)
        count = len(wanted.sources) if wanted.sources else "default"
        return _accepted("Health check workflow started", "health-monitoring", workflow_id, sourcesCount=count)

    async def status(self, request: Request) -> Reply:
        kind, workflow_id = request.params["type"], request.params["id"]
        found = next((instances for name, instances in self.starts.instances.items() if name == kind), None)
        if found is None:
            raise Invalid(f"{kind[:40]!r} is not a type of workflow; those are {', '.join(self.starts.instances)}")
        status = await found.status(workflow_id)
        told = {"status": status.state, "output": status.output, "error": status.error}
        return _found({"workflowId": workflow_id, "workflowType": kind, **told})

    async def events(self, request: Request) -> Reply:
        workflow_id = request.params["id"]
        since = read_query(request, EventsQuery).since
        log = await self.run_log.read(workflow_id, None if since is None else parse_iso_ms(since, "since"))
        if log is None:
            message = "No events: the id is not known, or the workflow has not begun"
            log = {"workflowId": workflow_id, "progress": 0, "isComplete": False, "events": [], "message": message}
        return _found(log)

    async def metrics(self, _request: Request) -> Reply:
        figures = await self.run_log.metrics()
        told = {name: figures.get(kind) for kind, name in _FIGURES.items()}
        return _found({"timestamp": iso(self.clock.now()), "workflows": told})

    async def latest(self, _request: Request) -> Reply:
        report = await self.health.latest()
        if report:
            report["history"] = await self.health.history({found["url"]: found["name"] for found in report["results"]})
        told = {"data": report} | ({} if report else {"message": "No health check has been completed yet"})
        return _found(told)


def _accepted(message: str, kind: ApiType, workflow_id: str, **more: object) -> Reply:
    told = {"success": True, "message": message, "workflowId": workflow_id, "workflowType": kind, **more}
    return Reply.json(told, 202, _UNCACHED)


def _found(told: Mapping[str, Any]) -> Reply:
    return Reply.json({"success": True, **told}, headers=_UNCACHED)
