"""HealthMonitoringWorkflow: checks every source, stores the results, and raises one alert for a failing source."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Self, TypedDict

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from sluice.core.errors import SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import Clock, Kv
from sluice.core.timestamps import iso
from sluice.services.compiler.health.source_alerts import SourceAlert, SourceAlerts
from sluice.services.compiler.health.source_check import (
    CheckedSource,
    HealthSource,
    SourceCheck,
    SourceHealth,
    SourcesSummary,
    check_distinct,
    summarize,
)
from sluice.services.compiler.health.store import ALERT_AFTER, HealthStore, SourcesHistory
from sluice.services.compiler.limits.allowance import FetchAllowance, share_fetches
from sluice.services.compiler.ports import Instances, Steps
from sluice.services.compiler.workflows.run_events import (
    WorkflowRun,
    check_completed,
    check_started,
    step_completed,
    step_failed,
    workflow_completed,
    workflow_started,
)
from sluice.services.compiler.workflows.run_reporter import RunReporter
from sluice.services.compiler.workflows.step_runner import StepPolicy, StepRunner

HISTORY: Final = StepPolicy(1, 1, "linear", 30)
CHECK: Final = StepPolicy(2, 5, "linear", 120)
ANALYZE: Final = StepPolicy(1, 1, "linear", 30)
ALERT: Final = StepPolicy(2, 5, "linear", 60)
STORE: Final = StepPolicy(2, 2, "linear", 30)
MAX_SOURCES: Final = 50
SOURCE_PAUSE_S: Final = 2.0
LATEST_KEY: Final = "health:latest"
LATEST_TTL_S: Final = 24 * 3600
ALERTS_TTL_S: Final = 7 * 24 * 3600
# The parameters of the engine that are not part of the request.
ENVELOPE: Final = ("runId", "queuedAt")
_LOADED: Final = 10
_CHECKED: Final = 70
_ANALYZED: Final = 75


Check = Callable[[], Awaitable[CheckedSource]]


class HealthRequest(BaseModel):
    """What to check; without sources, the operator's. A check of your own sources is answered and forgotten."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    sources: Annotated[list[HealthSource], Field(min_length=1, max_length=MAX_SOURCES)] | None = None
    alertOnFailure: bool = True  # noqa: N815 - as it is sent

    @model_validator(mode="after")
    def _check_distinct(self) -> Self:
        try:
            check_distinct(self.sources or ())
        except ValueError as error:
            raise PydanticCustomError("twice", "{reason}", {"reason": str(error)}) from None
        return self


class LoadedSources(TypedDict):
    sources: list[dict[str, Any]]


class Analysis(TypedDict):
    """What a run has found out of its checks. `alerts` are those that this run has opened; `undelivered` counts the alerts of any run."""

    summary: SourcesSummary
    alerts: list[SourceAlert]
    undelivered: int


class DeliveryResult(TypedDict):
    delivered: list[str]


class StoredRun(TypedDict):
    runId: str
    timestamp: str
    recheck: bool
    results: list[SourceHealth]
    summary: SourcesSummary
    history: SourcesHistory
    alerts: list[str]
    totalDurationMs: int


class HealthParams(HealthRequest):
    """The parameters inside the engine. A recheck follows an alert, waits first, and raises no alert itself.

    A private run checks what its caller has named. It is answered and forgotten: it changes no history, raises no alert and
    replaces no report.
    """

    scheduled: bool = False
    recheck: bool = False
    private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthMonitoringWorkflow:
    """The workflow that checks sources. `instances` are those of this same workflow; a recheck is started among them.

    `open_check` returns a check that may cause so many fetches, for what a caller has named.
    """

    check: SourceCheck
    open_check: Callable[[FetchAllowance], SourceCheck]
    store: HealthStore
    alerts: SourceAlerts
    instances: Instances
    load_defaults: Callable[[], Sequence[HealthSource]]
    recheck_delay_s: int
    published: Kv
    reporter: RunReporter
    clock: Clock

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """Return the report on all sources; an unhealthy source is a result, not a failure of the run."""
        run, runner = WorkflowRun(workflow_id, "health-monitoring"), StepRunner(steps)
        try:
            request = self._request(params)
            if request.recheck:
                await runner.sleep("wait-before-recheck", self.recheck_delay_s)
            return {"success": True, **await self._check_sources(run, runner, request)}
        except SluiceError as error:
            runner.current_step = runner.current_step or "load-health-history"
            return {"success": False, "runId": workflow_id} | await self.reporter.report_failure(
                run, runner, str(error), _clean_up
            )

    async def _check_sources(self, run: WorkflowRun, runner: StepRunner, request: HealthParams) -> StoredRun:
        loaded = await runner.do("load-health-history", HISTORY, partial(self._load, run, request))
        sources = [HealthSource.model_validate(source) for source in loaded["sources"]]
        results = []
        shares = share_fetches([1] * len(sources)) if request.private else []
        for number, source in enumerate(sources, 1):
            if number > 1:
                await runner.sleep(f"pause-before-source-{number}", SOURCE_PAUSE_S)
            progress = _LOADED + round((_CHECKED - _LOADED) * number / len(sources))
            check: Check = partial(self._check_once, run, number, source, recheck=request.recheck)
            if request.private:
                check = partial(self._check_privately, source, shares[number - 1])
            work = partial(self._check, run, number, source, progress, check)
            results.append(await runner.do(f"check-source-{number}", CHECK, work))
        analysis = await runner.do("analyze-results", ANALYZE, partial(self._analyze, run, request, results))
        alert_failure = await self._send_alerts(run, runner, sources, analysis)
        store = partial(self._store, run, request, results, analysis, alert_failure)
        return await runner.do("store-results", STORE, store)

    async def _load(self, run: WorkflowRun, request: HealthParams) -> LoadedSources:
        """Fix the sources for this run, even if the variables change later, and return their failures so far."""
        self.reporter.report_start(run)
        sources = request.sources or self.load_defaults()
        facts = {"sourceCount": len(sources), "recheck": request.recheck, "scheduled": request.scheduled}
        await self.reporter.emit(run, workflow_started("Health check started", **facts))
        failures = {} if request.private else await self.store.count_failures([source.url for source in sources])
        by_name = {source.name: failures[source.url] for source in sources if failures.get(source.url)}
        await self.reporter.emit(run, step_completed("load-health-history", _LOADED, consecutiveFailures=by_name))
        return {"sources": [source.model_dump() for source in sources]}

    async def _check(
        self,
        run: WorkflowRun,
        number: int,
        source: HealthSource,
        progress: int,
        check: Check,
    ) -> SourceHealth:
        step = f"check-source-{number}"
        await self.reporter.emit(run, check_started(step, name=source.name, url=source.url))
        health = await check()
        await self.reporter.emit(run, check_completed(step, progress, **health.as_json()))
        return health.as_json()

    async def _check_once(self, run: WorkflowRun, number: int, source: HealthSource, *, recheck: bool) -> CheckedSource:
        """Return the stored check of this run, or check the source and store the result."""
        health = await self.store.find_attempt(run.id, source.url)
        if health is None:
            health = await self.check(source, await self.store.find_validators(source.url))
            await self.store.record_attempt(run.id, number, health, recheck=recheck)
        return health

    async def _check_privately(self, source: HealthSource, max_fetches: int) -> CheckedSource:
        return await self.open_check(FetchAllowance(max_fetches))(source)

    async def _analyze(self, run: WorkflowRun, request: HealthParams, results: Sequence[SourceHealth]) -> Analysis:
        """Resolve alerts of healthy sources, open new ones, and return those that this run has opened."""
        counts = summarize(results)
        if request.private:
            await self.reporter.emit(run, step_completed("analyze-results", _ANALYZED, **counts))
            return {"summary": counts, "alerts": [], "undelivered": 0}
        resolved = await self.alerts.resolve([result["url"] for result in results if result["healthy"]])
        failures = await self.store.count_failures([result["url"] for result in results if not result["healthy"]])
        flagged = {url: times for url, times in failures.items() if times >= ALERT_AFTER}
        raised: list[SourceAlert] = []
        undelivered = 0
        if request.alertOnFailure and not request.recheck:
            raised = await self.alerts.open_alerts(run.id, flagged, results)
        if request.alertOnFailure or request.recheck:
            undelivered = await self.alerts.count_undelivered()
        alert_counts = {"flagged": len(flagged), "alerts": len(raised), "resolved": resolved}
        await self.reporter.emit(run, step_completed("analyze-results", _ANALYZED, **counts, **alert_counts))
        return {"summary": counts, "alerts": raised, "undelivered": undelivered}

    async def _send_alerts(
        self, run: WorkflowRun, runner: StepRunner, sources: Sequence[HealthSource], analysis: Analysis
    ) -> str | None:
        """Deliver the alerts. Return the error of a failed webhook, which must not fail the run."""
        if not analysis["alerts"] and not analysis["undelivered"]:
            return None
        try:
            await runner.do("send-alerts", ALERT, partial(self._deliver_alerts, run, sources, analysis["alerts"]))
        except SluiceError as error:
            return str(error)
        return None

    async def _deliver_alerts(
        self, run: WorkflowRun, sources: Sequence[HealthSource], raised: Sequence[SourceAlert]
    ) -> DeliveryResult:
        if raised:
            publication = self.published.put_json(f"health:alerts:{run.id}", list(raised), ttl_s=ALERTS_TTL_S)
            await self.reporter.attempt("alerts", publication)
            failed = {alert["source"]["url"] for alert in raised}
            await self._start_recheck(run, [source for source in sources if source.url in failed])
        delivered = await self.alerts.deliver()
        await self.reporter.emit(run, step_completed("send-alerts", raised=len(raised), delivered=len(delivered)))
        return {"delivered": delivered}

    async def _start_recheck(self, run: WorkflowRun, sources: Sequence[HealthSource]) -> None:
        """Derive the id from that of this run, so that a repeated step starts one recheck."""
        name = f"wf-health-recheck-{hashlib.sha256(run.id.encode()).hexdigest()[:16]}"
        values = [source.model_dump() for source in sources]
        params = {"runId": name, "sources": values, "alertOnFailure": False, "recheck": True}
        await self.instances.create(name, params)

    async def _store(
        self,
        run: WorkflowRun,
        request: HealthParams,
        results: Sequence[SourceHealth],
        analysis: Analysis,
        alert_failure: str | None,
    ) -> StoredRun:
        """Publish the checks, which are stored already, and end the run."""
        counts = analysis["summary"]
        failures = [step_failed("send-alerts", alert_failure)] if alert_failure else []
        await self.reporter.emit(run, *failures, step_completed("store-results"))
        end = workflow_completed("Health check completed", **counts, alerts=len(analysis["alerts"]))
        numbers = (counts["total"], counts["healthy"], counts["avgResponseTimeMs"])
        duration_ms = await self.reporter.report_end(run, end, counts=numbers)
        self.reporter.analytics.write("health_check", blobs=(run.id,), doubles=numbers)
        sources = {} if request.private else {result["url"]: result["name"] for result in results}
        if not request.private:
            await self.reporter.attempt("latest", self._publish())
        history = await self.store.load_history(sources)
        return {
            "runId": run.id,
            "timestamp": iso(self.clock.now()),
            "recheck": request.recheck,
            "results": list(results),
            "summary": counts,
            "history": history,
            "alerts": [alert["alertId"] for alert in analysis["alerts"]],
            "totalDurationMs": duration_ms,
        }

    async def _publish(self) -> None:
        """Publish the report on all sources: a recheck covers only some of them."""
        await self.published.put_json(LATEST_KEY, await self.store.load_latest(), ttl_s=LATEST_TTL_S)

    def _request(self, params: Mapping[str, Any]) -> HealthParams:
        return parse_model(HealthParams, {name: params[name] for name in params if name not in ENVELOPE})


async def _clean_up() -> None:
    """Do nothing: a health check stores nothing that must be deleted."""
