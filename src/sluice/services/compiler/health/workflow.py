"""HealthMonitoringWorkflow: asks every source how it is, remembers, and raises the alarm once."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from sluice.core.errors import SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import Clock, Kv
from sluice.core.timestamps import iso
from sluice.services.compiler.health.alerts import Alerts
from sluice.services.compiler.health.source import HealthSource, SourceCheck, check_distinct, summary
from sluice.services.compiler.health.store import ALERT_AFTER, HealthStore
from sluice.services.compiler.ports import Instances, Steps
from sluice.services.compiler.workflows.course import Course, Policy
from sluice.services.compiler.workflows.events import (
    Run,
    check_completed,
    check_started,
    completed,
    started,
    step_completed,
    step_failed,
)
from sluice.services.compiler.workflows.reporting import Reporting

HISTORY: Final = Policy(1, 1, "linear", 30)
CHECK: Final = Policy(2, 5, "linear", 120)
ANALYZE: Final = Policy(1, 1, "linear", 30)
ALERT: Final = Policy(2, 5, "linear", 60)
STORE: Final = Policy(2, 2, "linear", 30)
MAX_SOURCES: Final = 50
SOURCE_PAUSE_S: Final = 2.0
LATEST_KEY: Final = "health:latest"
LATEST_TTL_S: Final = 24 * 3600
ALERTS_TTL_S: Final = 7 * 24 * 3600
# What the engine's own parameters hold besides the request.
ENVELOPE: Final = ("runId", "queuedAt")
_LOADED: Final = 10
_CHECKED: Final = 70
_ANALYZED: Final = 75


class HealthRequest(BaseModel):
    """What to check; nothing means the default sources."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    sources: Annotated[list[HealthSource], Field(min_length=1, max_length=MAX_SOURCES)] | None = None
    alertOnFailure: bool = True  # noqa: N815 - as it is sent

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        try:
            check_distinct(self.sources or ())
        except ValueError as error:
            raise PydanticCustomError("twice", "{reason}", {"reason": str(error)}) from None
        return self


class HealthParams(HealthRequest):
    """The same inside the engine; a recheck follows an alert, waits first, and raises no alarm of its own."""

    scheduled: bool = False
    recheck: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthMonitoringWorkflow:
    """`instances` are those of this same workflow, among which a recheck is started."""

    check: SourceCheck
    store: HealthStore
    alerts: Alerts
    instances: Instances
    defaults: Sequence[HealthSource]
    recheck_delay_s: int
    published: Kv
    reporting: Reporting
    clock: Clock

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """The report on all sources; a source that is not well is a finding, not a failure."""
        run, course = Run(workflow_id, "health-monitoring"), Course(steps)
        try:
            request = self._request(params)
            if request.recheck:
                await course.sleep("wait-before-recheck", self.recheck_delay_s)
            return {"success": True} | await self._checked(run, course, request)
        except SluiceError as error:
            course.at = course.at or "load-health-history"
            return {"success": False, "runId": workflow_id} | await self.reporting.fail(
                run, course, str(error), _nothing
            )

    async def _checked(self, run: Run, course: Course, request: HealthParams) -> dict[str, Any]:
        loaded = await course.do("load-health-history", HISTORY, partial(self._load, run, request))
        sources = [HealthSource.model_validate(source) for source in loaded["sources"]]
        results = []
        for number, source in enumerate(sources, 1):
            if number > 1:
                await course.sleep(f"pause-before-source-{number}", SOURCE_PAUSE_S)
            progress = _LOADED + round((_CHECKED - _LOADED) * number / len(sources))
            work = partial(self._check, run, number, source, progress, recheck=request.recheck)
            results.append(await course.do(f"check-source-{number}", CHECK, work))
        analysis = await course.do("analyze-results", ANALYZE, partial(self._analyze, run, request, results))
        flaw = await self._alerted(run, course, sources, analysis)
        store = partial(self._store, run, request, results, analysis, flaw)
        stored: dict[str, Any] = await course.do("store-results", STORE, store)
        return stored

    async def _load(self, run: Run, request: HealthParams) -> dict[str, Any]:
        """The sources as they are from now on, whatever becomes of the variables, and how they fared until now."""
        self.reporting.begun(run)
        sources = request.sources or self.defaults
        about = {"sourceCount": len(sources), "recheck": request.recheck, "scheduled": request.scheduled}
        await self.reporting.emit(run, started("Health check started", **about))
        failing = await self.store.failing([source.url for source in sources])
        ailing = {source.name: failing[source.url] for source in sources if failing.get(source.url)}
        await self.reporting.emit(run, step_completed("load-health-history", _LOADED, consecutiveFailures=ailing))
        return {"sources": [source.model_dump() for source in sources]}

    async def _check(
        self, run: Run, number: int, source: HealthSource, progress: int, *, recheck: bool
    ) -> dict[str, Any]:
        step = f"check-source-{number}"
        await self.reporting.emit(run, check_started(step, name=source.name, url=source.url))
        found = await self.store.found(run.id, source.url)
        if found is None:
            found = await self.check(source, await self.store.known(source.url))
            await self.store.record(run.id, number, found, recheck=recheck)
        await self.reporting.emit(run, check_completed(step, progress, **found.as_json()))
        return found.as_json()

    async def _analyze(self, run: Run, request: HealthParams, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Close what is over, open what has gone on too long; which alerts this run has raised."""
        counts = summary(results)
        resolved = await self.alerts.resolve([result["url"] for result in results if result["healthy"]])
        failing = await self.store.failing([result["url"] for result in results if not result["healthy"]])
        flagged = {url: times for url, times in failing.items() if times >= ALERT_AFTER}
        raised, untold = [], 0
        if request.alertOnFailure and not request.recheck:
            raised = await self.alerts.opened(run.id, flagged, results)
            untold = await self.alerts.untold()
        told = {"flagged": len(flagged), "alerts": len(raised), "resolved": resolved}
        await self.reporting.emit(run, step_completed("analyze-results", _ANALYZED, **counts, **told))
        return {"summary": counts, "alerts": raised, "untold": untold}

    async def _alerted(
        self, run: Run, course: Course, sources: Sequence[HealthSource], analysis: Mapping[str, Any]
    ) -> str | None:
        """Tell of the alerts; why that failed, since the rest of the run must not depend on somebody's webhook."""
        if not analysis["alerts"] and not analysis["untold"]:
            return None
        try:
            await course.do("send-alerts", ALERT, partial(self._send, run, sources, analysis["alerts"]))
        except SluiceError as error:
            return str(error)
        return None

    async def _send(
        self, run: Run, sources: Sequence[HealthSource], raised: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        if raised:
            kept = self.published.put_json(f"health:alerts:{run.id}", list(raised), ttl_s=ALERTS_TTL_S)
            await self.reporting.attempt("alerts", kept)
            failed = {alert["source"]["url"] for alert in raised}
            await self._start_recheck(run, [source for source in sources if source.url in failed])
        delivered = await self.alerts.deliver()
        await self.reporting.emit(run, step_completed("send-alerts", raised=len(raised), delivered=len(delivered)))
        return {"delivered": delivered}

    async def _start_recheck(self, run: Run, sources: Sequence[HealthSource]) -> None:
        """By an id made from this run's, so that a repeated step starts it once."""
        name = f"wf-health-recheck-{hashlib.sha256(run.id.encode()).hexdigest()[:16]}"
        again = [source.model_dump() for source in sources]
        params = {"runId": name, "sources": again, "alertOnFailure": False, "recheck": True}
        await self.instances.create(name, params)

    async def _store(
        self,
        run: Run,
        request: HealthParams,
        results: Sequence[Mapping[str, Any]],
        analysis: Mapping[str, Any],
        flaw: str | None,
    ) -> dict[str, Any]:
        """The checks themselves are kept already; this publishes them and ends the run."""
        counts = analysis["summary"]
        flaws = [step_failed("send-alerts", flaw)] if flaw else []
        await self.reporting.emit(run, *flaws, step_completed("store-results"))
        end = completed("Health check completed", **counts, alerts=len(analysis["alerts"]))
        numbers = (counts["total"], counts["healthy"], counts["avgResponseTimeMs"])
        took_ms = await self.reporting.ended(run, end, counts=numbers)
        self.reporting.analytics.write("health_check", blobs=(run.id,), doubles=numbers)
        await self.reporting.attempt("latest", self._publish())
        history = await self.store.history({result["url"]: result["name"] for result in results})
        return {
            "runId": run.id,
            "timestamp": iso(self.clock.now()),
            "recheck": request.recheck,
            "results": list(results),
            "summary": counts,
            "history": history,
            "alerts": [alert["alertId"] for alert in analysis["alerts"]],
            "totalDurationMs": took_ms,
        }

    async def _publish(self) -> None:
        """Not this run's own report: after a recheck the other sources are still of interest."""
        await self.published.put_json(LATEST_KEY, await self.store.latest(), ttl_s=LATEST_TTL_S)

    def _request(self, params: Mapping[str, Any]) -> HealthParams:
        return parse_model(HealthParams, {name: params[name] for name in params if name not in ENVELOPE})


async def _nothing() -> None:
    """A run of checks has nothing to clear away."""
