"""CacheWarmingWorkflow: compiles popular lists ahead of requests, slowly, and only those whose entry expires soon."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import ConfigError, SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.list_cache import WORKFLOW_TTL_S
from sluice.services.compiler.limits.allowance import OPERATOR_FETCHES, FetchAllowance, count_files, share_fetches
from sluice.services.compiler.ports import Steps
from sluice.services.compiler.workflows.batch_items import Item, ItemOutcome, ItemRunner, Outcomes, find_outcome
from sluice.services.compiler.workflows.chunks import PREPARED, ChunkPlan, complete_outcomes, run_chunks
from sluice.services.compiler.workflows.params_store import ParamsStore
from sluice.services.compiler.workflows.run_events import (
    WorkflowRun,
    step_completed,
    step_started,
    workflow_started,
)
from sluice.services.compiler.workflows.run_reporter import RunReporter
from sluice.services.compiler.workflows.step_runner import StepPolicy, StepRunner

CHECK: Final = StepPolicy(1, 1, "linear", 30)
MAX_CONFIGURATIONS: Final = 50
TRIGGER: Final = "warming"
# The parameters of the engine that are not part of the request.
ENVELOPE: Final = ("runId", "queuedAt")
NEXT_RUN_S: Final = 6 * 3600  # an entry that lives longer is still there at the next scheduled run
ITEM_PAUSE_S: Final = 2.0
CHUNKS: Final = ChunkPlan("warm-chunk", 2, StepPolicy(2, 30, "exponential", 900), done=85, pause_s=10.0)

# Returns when the cache entry of a configuration expires, in epoch seconds; None if there is none.
FindExpiry = Callable[[Configuration], Awaitable[float | None]]


class WarmRequest(BaseModel):
    """What to warm; without configurations, the default lists."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    configurations: Annotated[list[Configuration], Field(min_length=1, max_length=MAX_CONFIGURATIONS)] | None = None


class WarmParams(WarmRequest):
    """The parameters of a cache warming inside the engine."""

    scheduled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheWarmingWorkflow:
    items: ItemRunner
    find_expiry: FindExpiry
    load_defaults: Callable[[], Sequence[Configuration]]
    params_store: ParamsStore
    reporter: RunReporter
    clock: Clock

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """Return how many lists were compiled, were still fresh, or failed."""
        run, runner = WorkflowRun(workflow_id, "cache-warming"), StepRunner(steps)
        run_id = params.get("runId", workflow_id)
        try:
            status = await runner.do("check-cache-status", CHECK, partial(self._check, run, params))
        except SluiceError as error:
            clean_up = partial(self.params_store.delete, params)
            failure = await self.reporter.report_failure(run, runner, str(error), clean_up)
            return {"success": False, "runId": run_id} | failure
        stale = [item["id"] for item in status["stale"]]
        known, failed_steps = await run_chunks(runner, CHUNKS, stale, partial(self._warm_chunk, run, params))
        update = partial(self._update, run, params, status, known, failed_steps)
        ended = await self.reporter.run_last_step(run, runner, "update-warming-metrics", update)
        return {"runId": run_id} | _summarize(status, known, failed_steps) | ended

    async def _check(self, run: WorkflowRun, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return which configurations need warming; the position of each is its id."""
        self.reporter.report_start(run)
        request = await self._request(params)
        configurations = self._configurations(request)
        counts = {"configurationCount": len(configurations), "scheduled": request.scheduled}
        await self.reporter.emit(run, workflow_started("Cache warming started", **counts))
        ends = [await self.find_expiry(configuration) for configuration in configurations]
        needed_until_s = self.clock.now() + NEXT_RUN_S
        stale = [
            {"id": str(at), "name": configurations[at].name}
            for at, end_s in enumerate(ends)
            if end_s is None or end_s <= needed_until_s
        ]
        skipped = len(configurations) - len(stale)
        await self.reporter.emit(
            run, step_completed("check-cache-status", PREPARED, toWarm=len(stale), skipped=skipped)
        )
        return {"stale": stale, "skipped": skipped}

    async def _warm_chunk(
        self, run: WorkflowRun, params: Mapping[str, Any], step: str, ids: Sequence[str], progress: int
    ) -> Outcomes:
        await self.reporter.emit(run, step_started(step, configurationCount=len(ids)))
        configurations = self._configurations(await self._request(params))
        fetches = self._share_fetches(configurations)
        outcomes: list[ItemOutcome] = []
        for item_id in ids:
            if outcomes:
                await self.clock.sleep(ITEM_PAUSE_S)
            order = CompileOrder(
                configuration=configurations[int(item_id)],
                trigger=TRIGGER,
                ttl_s=WORKFLOW_TTL_S,
                allowance=FetchAllowance(fetches[int(item_id)]),
            )
            outcomes += await self.items.run(run.id, [Item(item_id, order)])
        warmed = sum(outcome.success for outcome in outcomes)
        counts = {"warmed": warmed, "failed": len(outcomes) - warmed}
        await self.reporter.emit(run, step_completed(step, progress, **counts))
        return {outcome.id: outcome.as_json() for outcome in outcomes}

    async def _update(
        self,
        run: WorkflowRun,
        params: Mapping[str, Any],
        status: Mapping[str, Any],
        known: Outcomes,
        failed_steps: dict[str, str],
    ) -> dict[str, Any]:
        known = await complete_outcomes(self.items, run.id, known, failed_steps)
        summary = _summarize(status, known, failed_steps)
        counts = {name: summary[name] for name in ("warmed", "failed", "skipped")}
        duration_ms = await self.reporter.report_lists(
            run, "Cache warming", success=summary["success"], counts=counts, failed_steps=failed_steps
        )
        await self.reporter.attempt("clearing", self.params_store.delete(params))
        return summary | {"totalDurationMs": duration_ms}

    async def _request(self, params: Mapping[str, Any]) -> WarmParams:
        values = await self.params_store.load(params)
        return parse_model(WarmParams, {name: values[name] for name in values if name not in ENVELOPE})

    def _share_fetches(self, configurations: Sequence[Configuration]) -> list[int]:
        """Return how many fetches each list may cause; the operator's own lists are exempt from the limit of a request."""
        own_lists = self._load_own_lists()
        is_own = [configuration in own_lists for configuration in configurations]
        shares = iter(
            share_fetches([count_files(one) for one, own in zip(configurations, is_own, strict=True) if not own])
        )
        return [OPERATOR_FETCHES if own else next(shares) for own in is_own]

    def _configurations(self, request: WarmParams) -> Sequence[Configuration]:
        return request.configurations or self.load_defaults()

    def _load_own_lists(self) -> Sequence[Configuration]:
        """Return the operator's lists; none if the variable is malformed, which /health reports: lists that a request names are warmed anyway."""
        try:
            return self.load_defaults()
        except ConfigError:
            return ()


def _summarize(status: Mapping[str, Any], known: Outcomes, failed_steps: Mapping[str, str]) -> dict[str, Any]:
    results = [{"name": item["name"], **find_outcome(item["id"], known, failed_steps)} for item in status["stale"]]
    warmed = sum(result["success"] for result in results)
    counts = {"warmed": warmed, "failed": len(results) - warmed, "skipped": status["skipped"]}
    return {"success": warmed > 0 or not results} | counts | {"results": results}
