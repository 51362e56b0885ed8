"""What every workflow leaves behind when it ends: an event, a data point, a log line, and figures for dashboards."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Kv, Log
from sluice.services.compiler.ports import Analytics
from sluice.services.compiler.workflows.course import Course, Policy
from sluice.services.compiler.workflows.events import Run, RunEvent, WorkflowType, failed, step_failed
from sluice.services.compiler.workflows.log import RunLog

Work = Callable[[], Awaitable[dict[str, Any]]]

CONCLUDE: Final = Policy(1, 1, "linear", 10)
_DAY_S: Final = 24 * 3600
# The key under which the figures of each type are published, and for how long.
PUBLISHED: Final[dict[WorkflowType, tuple[str, int]]] = {
    "compilation": ("workflow:compile:metrics", 7 * _DAY_S),
    "batch": ("workflow:batch:metrics", 7 * _DAY_S),
    "cache-warming": ("workflow:cache-warm:metrics", 30 * _DAY_S),
    "health-monitoring": ("workflow:health:metrics", 30 * _DAY_S),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    run_log: RunLog
    metrics: Kv
    analytics: Analytics
    log: Log
    patience_s: float = 3.0

    async def emit(self, run: Run, *events: RunEvent) -> None:
        await self.run_log.emit(run, *events)

    def begun(self, run: Run) -> None:
        self.analytics.write("workflow_started", blobs=(run.id, run.type))

    async def ended(self, run: Run, *events: RunEvent, counts: Sequence[float] = ()) -> int:
        """The last events of a run, which must be kept; the rest is told if it can be. The milliseconds it took."""
        await self.run_log.emit(run, *events)
        duration_ms = await self.run_log.duration_ms(run)
        last = events[-1]
        name = last.type.removeprefix("workflow:")
        succeeded = float(name == "completed")
        blobs = (run.id, run.type, last.message or "")
        self.analytics.write(f"workflow_{name}", blobs=blobs, doubles=(duration_ms, succeeded, *counts))
        self.log.event(f"workflow.{name}", workflow=run.id, type=run.type, duration_ms=duration_ms, said=last.message)
        await self._publish(run.type)
        return duration_ms

    async def conclude(self, run: Run, course: Course, name: str, work: Work) -> dict[str, Any]:
        """The last step: if even its retries fail, what was done is still done, and nothing is known of the step."""
        try:
            ended: dict[str, Any] = await course.do(name, CONCLUDE, work)
        except SluiceError as error:
            self.log.error("workflow.unreported", error, workflow=run.id, step=name)
            return {}
        return ended

    async def fail(
        self, run: Run, course: Course, error: str, afterwards: Callable[[], Awaitable[None]]
    ) -> dict[str, Any]:
        """The end of a run that cannot go on from where it is."""
        step = course.at

        async def update() -> dict[str, Any]:
            took_ms = await self.ended(run, step_failed(step, error), failed(error, step=step))
            await self.attempt("clearing", afterwards())
            return {"totalDurationMs": took_ms}

        ended = await self.conclude(run, course, "update-failure-metrics", update)
        return ended | {"error": error, "failedStep": step}

    async def _publish(self, kind: WorkflowType) -> None:
        key, ttl_s = PUBLISHED[kind]
        await self.attempt("metrics", self._put(key, kind, ttl_s))

    async def _put(self, key: str, kind: WorkflowType, ttl_s: int) -> None:
        figures = await self.run_log.metrics()
        await self.metrics.put_json(key, figures.get(kind), ttl_s=ttl_s)

    async def attempt(self, what: str, work: Awaitable[None]) -> None:
        """Do what is of use but not of need; a failure is logged, and so is a wait that a step has no time for.

        Many runs that end at once wait for each other here: a key takes one write a second.
        """
        try:
            async with asyncio.timeout(self.patience_s):
                await work
        except TimeoutError:
            self.log.event("workflow.side_effect_skipped", what=what, waited_s=self.patience_s)
        except SluiceError as error:
            self.log.error("workflow.side_effect_failed", error, what=what)
