"""Reports the start and end of workflow runs: as events, data points, log lines and published figures."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Kv, Log
from sluice.services.compiler.ports import Analytics
from sluice.services.compiler.workflows.event_log import EVENTS_TTL_S, WorkflowEventLog
from sluice.services.compiler.workflows.run_events import (
    RunEvent,
    WorkflowRun,
    WorkflowType,
    step_failed,
    workflow_completed,
    workflow_failed,
)
from sluice.services.compiler.workflows.step_runner import StepPolicy, StepRunner

Work = Callable[[], Awaitable[dict[str, Any]]]

EVENTS_PREFIX: Final = "workflow:events:"
METRICS_KEY: Final = "workflow:metrics"
LAST_STEP: Final = StepPolicy(1, 1, "linear", 10)
_DAY_S: Final = 24 * 3600
# The key under which the figures of each type are published, and for how long.
PUBLISHED: Final[dict[WorkflowType, tuple[str, int]]] = {
    "compilation": ("workflow:compile:metrics", 7 * _DAY_S),
    "batch": ("workflow:batch:metrics", 7 * _DAY_S),
    "cache-warming": ("workflow:cache-warm:metrics", 30 * _DAY_S),
    "health-monitoring": ("workflow:health:metrics", 30 * _DAY_S),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReporter:
    event_log: WorkflowEventLog
    published: Kv
    analytics: Analytics
    log: Log
    patience_s: float = 3.0

    async def emit(self, run: WorkflowRun, *events: RunEvent) -> None:
        await self.event_log.emit(run, *events)

    def report_start(self, run: WorkflowRun) -> None:
        self.analytics.write("workflow_started", blobs=(run.id, run.type))

    async def report_end(self, run: WorkflowRun, *events: RunEvent, counts: Sequence[float] = ()) -> int:
        """Store the last events of a run, report the last one, and return the duration in milliseconds."""
        await self.event_log.emit(run, *events)
        duration_ms = await self.event_log.load_duration_ms(run)
        last = events[-1]
        outcome = last.outcome
        doubles = (duration_ms, float(outcome == "completed"), *counts)
        self.analytics.write(f"workflow_{outcome}", blobs=(run.id, run.type, last.message or ""), doubles=doubles)
        fields = {"workflow": run.id, "type": run.type, "duration_ms": duration_ms}
        if outcome == "failed":
            self.log.error("workflow.failed", SluiceError(last.message or "it failed"), **fields)
        else:
            self.log.event("workflow.completed", **fields, said=last.message)
        await self.attempt("events", self._publish_events(run))
        await self.attempt("metrics", self._publish_metrics(run.type))
        return duration_ms

    async def report_lists(
        self,
        run: WorkflowRun,
        name: str,
        *,
        success: bool,
        counts: Mapping[str, float],
        failed_steps: Mapping[str, str],
    ) -> int:
        """Report the end of a run of many lists, which has failed if none could be compiled; return its duration in milliseconds."""
        failures = [step_failed(step, error) for step, error in failed_steps.items()]
        end = workflow_completed(f"{name} completed", **counts)
        if not success:
            end = workflow_failed(f"{name} failed: no list could be compiled", **counts)
        return await self.report_end(run, *failures, end, counts=tuple(counts.values()))

    async def run_last_step(self, run: WorkflowRun, steps: StepRunner, name: str, work: Work) -> dict[str, Any]:
        """Run the last step. If it fails, the results of the run still stand, so the failure is only logged."""
        try:
            ended: dict[str, Any] = await steps.do(name, LAST_STEP, work)
        except SluiceError as error:
            self.log.error("workflow.unreported", error, workflow=run.id, step=name)
            return {}
        return ended

    async def report_failure(
        self, run: WorkflowRun, steps: StepRunner, error: str, clean_up: Callable[[], Awaitable[None]]
    ) -> dict[str, Any]:
        """End a run that cannot go on after its current step."""
        step = steps.current_step

        async def update() -> dict[str, Any]:
            duration_ms = await self.report_end(run, step_failed(step, error), workflow_failed(error, step=step))
            await self.attempt("clearing", clean_up())
            return {"totalDurationMs": duration_ms}

        ended = await self.run_last_step(run, steps, "update-failure-metrics", update)
        return ended | {"error": error, "failedStep": step}

    async def _publish_metrics(self, kind: WorkflowType) -> None:
        key, ttl_s = PUBLISHED[kind]
        figures = await self.event_log.load_metrics()
        await self.published.put_json(key, figures.get(kind), ttl_s=ttl_s)
        await self.published.put_json(METRICS_KEY, figures, ttl_s=30 * _DAY_S)

    async def _publish_events(self, run: WorkflowRun) -> None:
        """Copy the events to KV when the run ends; while it runs they come faster than KV takes them."""
        await self.published.put_json(EVENTS_PREFIX + run.id, await self.event_log.read(run.id), ttl_s=EVENTS_TTL_S)

    async def attempt(self, what: str, work: Awaitable[None]) -> None:
        """Do best-effort work: a failure is logged, and so is work that takes longer than a step can wait.

        Many runs that end at the same time wait here for each other: KV takes one write per second and key.
        """
        try:
            async with asyncio.timeout(self.patience_s):
                await work
        except TimeoutError:
            self.log.event("workflow.side_effect_skipped", what=what, waited_s=self.patience_s)
        except SluiceError as error:
            self.log.error("workflow.side_effect_failed", error, what=what)
