"""Workflows over HTTP: start, status, events, figures, and the last health report on the sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import Invalid
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.core.timestamps import iso, parse_iso_ms
from sluice.services.compiler.health.source import HealthSource
from sluice.services.compiler.health.store import HealthStore
from sluice.services.compiler.health.workflow import HealthRequest
from sluice.services.compiler.limits.allowance import (
    count_files,
    count_sent_files,
    count_sent_sources,
    share_fetches,
)
from sluice.services.compiler.ports import CountingGuard, Instances
from sluice.services.compiler.requests import MAX_BODY_BYTES, AsyncBatchRequest, CompileRequest
from sluice.services.compiler.workflows.event_log import WorkflowEventLog
from sluice.services.compiler.workflows.events import WorkflowType
from sluice.services.compiler.workflows.starter import PUBLISHED_LIST, ApiType, WorkflowStarter
from sluice.services.compiler.workflows.warming import WarmRequest
from sluice.web import QueryReader, Reply, Request
from sluice.web.admin import is_operator

# The names of the figures of each type.
_FIGURE_NAMES: Final[Mapping[WorkflowType, str]] = {
    "compilation": "compilation",
    "batch": "batchCompilation",
    "cache-warming": "cacheWarming",
    "health-monitoring": "healthMonitoring",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowApi:
    """`configurations` and `sources` return what to warm and check if a request names none; `builds` are of published lists."""

    guard: CountingGuard
    starter: WorkflowStarter
    builds: Instances
    event_log: WorkflowEventLog
    health: HealthStore
    configurations: Callable[[], Sequence[Configuration]]
    sources: Callable[[], Sequence[HealthSource]]
    admin_token: str
    clock: Clock

    async def start_compilation(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        parse_model(CompileRequest, body)
        workflow_id = await self.starter.start_requested("compilation", "requestId", body)
        return _build_accepted("Compilation workflow started", "compilation", workflow_id)

    async def start_batch(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        requests = parse_model(AsyncBatchRequest, body).requests
        share_fetches([count_sent_files(item.configuration) for item in requests])
        await self.guard.charge_sources(request, sum(count_sent_sources(item.configuration) for item in requests))
        workflow_id = await self.starter.start_requested("batch-compilation", "batchId", body)
        return _build_accepted(
            "Batch compilation workflow started", "batch-compilation", workflow_id, batchSize=len(requests)
        )

    async def start_warming(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES, optional_body=True)
        requested = parse_model(WarmRequest, body).configurations
        if requested:
            share_fetches([count_files(configuration) for configuration in requested])
            await self.guard.charge_sources(request, sum(len(one.sources) for one in requested))
        chosen = [configuration.model_dump(exclude_unset=True) for configuration in requested or self.configurations()]
        workflow_id = await self.starter.start_requested("cache-warming", "runId", {"configurations": chosen})
        count = len(requested) if requested else "default"
        return _build_accepted(
            "Cache warming workflow started", "cache-warming", workflow_id, configurationsCount=count
        )

    async def start_health_check(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES, optional_body=True)
        check = parse_model(HealthRequest, body)
        # A stranger's check is answered and forgotten, also one of the operator's sources: three of them could raise an alert.
        is_private = check.sources is not None or not is_operator(request, self.admin_token)
        await self.guard.charge_sources(request, len(check.sources or ()))
        chosen = [source.model_dump() for source in check.sources or self.sources()]
        params = {"sources": chosen, "alertOnFailure": check.alertOnFailure, "private": is_private}
        workflow_id = await self.starter.start_requested("health-monitoring", "runId", params)
        count = len(check.sources) if check.sources else "default"
        return _build_accepted("Health check workflow started", "health-monitoring", workflow_id, sourcesCount=count)

    async def show_status(self, request: Request) -> Reply:
        kind, workflow_id = request.params["type"], request.params["id"]
        instances: list[tuple[str, Instances]] = [*self.starter.instances.items(), (PUBLISHED_LIST, self.builds)]
        instances_of_kind = next((of_kind for name, of_kind in instances if name == kind), None)
        if instances_of_kind is None:
            types = ", ".join(name for name, _ in instances)
            raise Invalid(f"{kind[:40]!r} is not a workflow type; the types are {types}")
        status = await instances_of_kind.status(workflow_id)
        values = {"status": status.state, "output": status.output, "error": status.error}
        return _build_reply({"workflowId": workflow_id, "workflowType": kind, **values})

    async def show_events(self, request: Request) -> Reply:
        workflow_id = request.params["id"]
        since = read_since(request)
        log = await self.event_log.read(workflow_id, None if since is None else parse_iso_ms(since, "since"))
        if log is None:
            message = "No events: the id is unknown, or the workflow has not started"
            log = {"workflowId": workflow_id, "progress": 0, "isComplete": False, "events": [], "message": message}
        return _build_reply(log)

    async def show_metrics(self, _request: Request) -> Reply:
        figures = await self.event_log.load_metrics()
        by_name = {name: figures.get(kind) for kind, name in _FIGURE_NAMES.items()}
        return _build_reply({"timestamp": iso(self.clock.now()), "workflows": by_name})

    async def show_latest_health(self, _request: Request) -> Reply:
        report = await self.health.load_latest()
        if report:
            report["history"] = await self.health.load_history(
                {result["url"]: result["name"] for result in report["results"]}
            )
        note = {} if report else {"message": "No health check has been completed yet"}
        return _build_reply({"data": report} | note)


def read_since(request: Request) -> str | None:
    """Return `?since=`, a time."""
    query = QueryReader(request)
    since = query.text("since")
    query.check()
    return since


def _build_accepted(message: str, kind: ApiType, workflow_id: str, **extra: object) -> Reply:
    values = {"success": True, "message": message, "workflowId": workflow_id, "workflowType": kind, **extra}
    return Reply.json(values, 202)


def _build_reply(values: Mapping[str, Any]) -> Reply:
    return Reply.json({"success": True, **values})
