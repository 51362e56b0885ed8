"""Workflows over HTTP: start, status, events, figures, and the last health report on the sources."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import Invalid
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.core.timestamps import iso, parse_iso_ms
from sluice.services.compiler.guard.guard import REFUSED, TOKEN
from sluice.services.compiler.guard.idempotency import OPERATOR, IdempotencyKeys, Ticket
from sluice.services.compiler.health.health_workflow import HealthRequest
from sluice.services.compiler.health.source_check import HealthSource
from sluice.services.compiler.health.store import HealthStore
from sluice.services.compiler.http.workflow_replies import (
    LatestHealth,
    StartedAmount,
    WorkflowEvents,
    WorkflowKind,
    WorkflowMetrics,
    WorkflowStarted,
    WorkflowStatus,
    build_accepted,
)
from sluice.services.compiler.limits.allowance import (
    count_files,
    count_sent_files,
    count_sent_sources,
    share_fetches,
)
from sluice.services.compiler.ports import CountingGuard, Instances
from sluice.services.compiler.requests import (
    BATCH_EXAMPLE,
    COMPILE_EXAMPLE,
    MAX_BODY_BYTES,
    AsyncBatchRequest,
    CompileRequest,
)
from sluice.services.compiler.workflows.event_log import WorkflowEventLog
from sluice.services.compiler.workflows.starter import PREFIXES, PUBLISHED_LIST, ApiType, WorkflowStarter
from sluice.services.compiler.workflows.warming import WarmRequest
from sluice.web import Reply, Request
from sluice.web.admin import OperatorGate
from sluice.web.operations import Operation, ReplyDoc, describe
from sluice.web.parameters import PathParameter, Query, text

KINDS: Final[Sequence[WorkflowKind]] = (*PREFIXES, PUBLISHED_LIST)


def _parse_kind(text: str) -> WorkflowKind:
    for kind in KINDS:
        if kind == text:
            return kind
    raise Invalid(f"{text[:40]!r} is not a workflow type; the types are {', '.join(KINDS)}")


KIND: Final = PathParameter(
    "type", _parse_kind, {"type": "string", "enum": list(KINDS)}, "The type of a workflow.", "compilation"
)
RUN: Final = PathParameter(
    "id",
    str,
    {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$"},
    "The `workflowId` of a run.",
    "wf-compile-1790000000000-0123456789abcdef0123456789abcdef",
)
SINCE: Final = text("since", about="Only events after this time.", example="2026-01-31T12:00:00.000Z")

# What the reply says, the name of the member that holds the id, the parameters, and how much was started.
Started = tuple[str, str, Mapping[str, Any], StartedAmount]

_STARTED: Final = {202: ReplyDoc("The workflow is started.", WorkflowStarted)}
START_COMPILATION: Final = Operation(
    "startCompilation",
    "Compile a list as a workflow",
    _STARTED,
    "After a crash it continues after its last finished step.",
    tag="Workflows",
    body=CompileRequest,
    body_extras=TOKEN,
    example=COMPILE_EXAMPLE,
    problems=(*REFUSED, 503),
    is_repeatable=True,
)
START_BATCH: Final = Operation(
    "startBatch",
    "Compile 1 to 100 lists as a workflow",
    _STARTED,
    tag="Workflows",
    body=AsyncBatchRequest,
    body_extras=TOKEN,
    example=BATCH_EXAMPLE,
    problems=(*REFUSED, 503),
    is_repeatable=True,
)
START_WARMING: Final = Operation(
    "startCacheWarming",
    "Compile popular lists ahead of requests",
    _STARTED,
    tag="Workflows",
    body=WarmRequest,
    body_required=False,
    body_extras=TOKEN,
    example={
        "configurations": [{"name": "EasyList", "sources": [{"source": "https://easylist.to/easylist/easylist.txt"}]}]
    },
    problems=(*REFUSED, 503),
    is_repeatable=True,
)
START_HEALTH_CHECK: Final = Operation(
    "startHealthCheck",
    "Check whether sources are available and complete",
    _STARTED,
    "The check of a stranger is answered and forgotten. Only a check of all sources with the operator's token is "
    "stored, replaces the last report and raises alerts.",
    tag="Workflows",
    body=HealthRequest,
    body_required=False,
    body_extras=TOKEN,
    example={
        "sources": [
            {"name": "EasyList", "url": "https://easylist.to/easylist/easylist.txt", "expectedMinRules": 50_000}
        ]
    },
    problems=(401, *REFUSED, 503),
    is_repeatable=True,
)
SHOW_STATUS: Final = Operation(
    "showWorkflowStatus",
    "The status of a workflow, and its result",
    {200: ReplyDoc("Its state and its result.", WorkflowStatus)},
    tag="Workflows",
    path=(KIND, RUN),
    problems=(404, 429),
)
LIST_EVENTS: Final = Operation(
    "listWorkflowEvents",
    "The events of a workflow",
    {200: ReplyDoc("The events, the earliest first.", WorkflowEvents)},
    "The last 100 events, kept for an hour. An unknown run has none.",
    tag="Workflows",
    path=(RUN,),
    query=Query(SINCE),
    problems=(429,),
)
SHOW_METRICS: Final = Operation(
    "showWorkflowMetrics",
    "Figures of the workflow runs",
    {200: ReplyDoc("Figures for each type.", WorkflowMetrics)},
    tag="Workflows",
    problems=(429,),
)
SHOW_LATEST_HEALTH: Final = Operation(
    "showLatestHealth",
    "The last check of the sources",
    {200: ReplyDoc("The report, updated by later rechecks.", LatestHealth)},
    tag="Workflows",
    problems=(429,),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowApi:
    """The operations on workflows. `configurations` and `sources` return what to warm and check if a request names none."""

    guard: CountingGuard
    starter: WorkflowStarter
    builds: Instances
    event_log: WorkflowEventLog
    health: HealthStore
    configurations: Callable[[], Sequence[Configuration]]
    sources: Callable[[], Sequence[HealthSource]]
    keys: IdempotencyKeys
    operators: OperatorGate
    clock: Clock

    @describe(START_COMPILATION)
    async def start_compilation(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        parse_model(CompileRequest, body)
        return await self._start(request, body, "compilation", ("Compilation workflow started", "requestId", body, {}))

    @describe(START_BATCH)
    async def start_batch(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        requests = parse_model(AsyncBatchRequest, body).requests
        share_fetches([count_sent_files(item.configuration) for item in requests])
        await self.guard.charge_sources(request, sum(count_sent_sources(item.configuration) for item in requests))
        amount: StartedAmount = {"batchSize": len(requests)}
        started = ("Batch compilation workflow started", "batchId", body, amount)
        return await self._start(request, body, "batch-compilation", started)

    @describe(START_WARMING)
    async def start_warming(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES, optional_body=True)
        requested = parse_model(WarmRequest, body).configurations
        if requested:
            share_fetches([count_files(configuration) for configuration in requested])
            await self.guard.charge_sources(request, sum(len(one.sources) for one in requested))
        chosen = [configuration.model_dump(exclude_unset=True) for configuration in requested or self.configurations()]
        amount: StartedAmount = {"configurationsCount": len(requested) if requested else "default"}
        started = ("Cache warming workflow started", "runId", {"configurations": chosen}, amount)
        return await self._start(request, body, "cache-warming", started)

    @describe(START_HEALTH_CHECK)
    async def start_health_check(self, request: Request) -> Reply:
        body = await self.guard(request, max_bytes=MAX_BODY_BYTES, optional_body=True)
        check = parse_model(HealthRequest, body)
        # A stranger's check is answered and forgotten, also one of the operator's sources: three of them could raise an alert.
        is_operator = await self.operators.recognise(request)
        is_private = check.sources is not None or not is_operator
        await self.guard.charge_sources(request, len(check.sources or ()))
        chosen = [source.model_dump() for source in check.sources or self.sources()]
        params = {"sources": chosen, "alertOnFailure": check.alertOnFailure, "private": is_private}
        amount: StartedAmount = {"sourcesCount": len(check.sources) if check.sources else "default"}
        started = ("Health check workflow started", "runId", params, amount)
        # What the operator started is not told to a stranger of the same address.
        caller = OPERATOR if is_operator else ""
        return await self._start(request, body, "health-monitoring", started, caller)

    async def _start(self, request: Request, body: Any, kind: ApiType, started: Started, caller: str = "") -> Reply:
        """Start a workflow, once for each idempotency key, and reply with its id."""
        message, id_field, params, amount = started

        async def start(ticket: Ticket) -> Reply:
            workflow_id = await self.starter.start_requested(kind, id_field, params, ticket)
            return build_accepted(message, kind, workflow_id, amount)

        return await self.keys.run_once(request, body, start, caller=caller)

    @describe(SHOW_STATUS)
    async def show_status(self, request: Request) -> Reply:
        kind, workflow_id = KIND.read(request), RUN.read(request)
        instances = self.builds if kind == PUBLISHED_LIST else self.starter.instances[kind]
        status = await instances.status(workflow_id)
        values: WorkflowStatus = {
            "success": True,
            "workflowId": workflow_id,
            "workflowType": kind,
            "status": status.state,
            "output": status.output,
            "error": status.error,
        }
        return Reply.json(values)

    @describe(LIST_EVENTS)
    async def show_events(self, request: Request) -> Reply:
        workflow_id = RUN.read(request)
        since = LIST_EVENTS.read(request)[SINCE]
        log = await self.event_log.read(workflow_id, None if since is None else parse_iso_ms(since, "since"))
        if log is None:
            message = "No events: the id is unknown, or the workflow has not started"
            log = {"workflowId": workflow_id, "progress": 0, "isComplete": False, "events": [], "message": message}
        return Reply.json(WorkflowEvents(success=True, **log))

    @describe(SHOW_METRICS)
    async def show_metrics(self, _request: Request) -> Reply:
        figures = await self.event_log.load_metrics()
        metrics: WorkflowMetrics = {
            "success": True,
            "timestamp": iso(self.clock.now()),
            "workflows": {
                "compilation": figures.get("compilation"),
                "batchCompilation": figures.get("batch"),
                "cacheWarming": figures.get("cache-warming"),
                "healthMonitoring": figures.get("health-monitoring"),
            },
        }
        return Reply.json(metrics)

    @describe(SHOW_LATEST_HEALTH)
    async def show_latest_health(self, _request: Request) -> Reply:
        report = await self.health.load_latest()
        if report is None:
            return Reply.json(LatestHealth(success=True, data=None, message="No health check has been completed yet"))
        history = await self.health.load_history({result["url"]: result["name"] for result in report["results"]})
        return Reply.json(LatestHealth(success=True, data={**report, "history": history}))
