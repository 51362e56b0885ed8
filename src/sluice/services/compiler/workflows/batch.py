"""BatchCompilationWorkflow: many lists in chunks of three; lists that are done before a crash are not compiled again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import Invalid, SluiceError
from sluice.core.models import parse_model
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.list_cache import WORKFLOW_TTL_S
from sluice.services.compiler.limits.allowance import count_sent_files, share_fetches
from sluice.services.compiler.ports import Steps
from sluice.services.compiler.requests import AsyncBatchRequest, BatchItem
from sluice.services.compiler.workflows.batch_items import (
    MAX_CONCURRENT,
    Item,
    ItemOutcome,
    ItemRunner,
    Outcomes,
    find_outcome,
)
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

VALIDATE: Final = StepPolicy(1, 1, "linear", 30)
CHUNKS: Final = ChunkPlan("compile-chunk", MAX_CONCURRENT, StepPolicy(2, 5, "exponential", 600), done=80)
TRIGGER: Final = "workflow"
ALL_FAILED: Final = "All failed: no configuration of the batch is valid"
# The parameters of the engine that are not part of the request.
ENVELOPE: Final = ("batchId", "queuedAt")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCompilationWorkflow:
    items: ItemRunner
    params_store: ParamsStore
    reporter: RunReporter

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """Return the outcome of each item; a bad item does not fail the others."""
        run, runner = WorkflowRun(workflow_id, "batch"), StepRunner(steps)
        batch_id = params.get("batchId", workflow_id)
        try:
            batch = await runner.do("validate-batch", VALIDATE, partial(self._validate, run, params))
        except SluiceError as error:
            return {"success": False, "batchId": batch_id} | await self._fail(run, runner, params, str(error))
        if not batch["valid"]:
            summary = _summarize(batch, {}, {})
            return {"batchId": batch_id} | summary | await self._fail(run, runner, params, ALL_FAILED)
        compile_chunk = partial(self._compile_chunk, run, params)
        known, failed_steps = await run_chunks(runner, CHUNKS, batch["valid"], compile_chunk)
        update = partial(self._update, run, params, batch, known, failed_steps)
        ended = await self.reporter.run_last_step(run, runner, "update-batch-metrics", update)
        return {"batchId": batch_id} | _summarize(batch, known, failed_steps) | ended

    async def _validate(self, run: WorkflowRun, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the ids of the valid items in order, and why the others are invalid."""
        self.reporter.report_start(run)
        request = await self._request(params)
        count = len(request.requests)
        await self.reporter.emit(run, workflow_started("Batch started", batchSize=count, requestCount=count))
        problems = [(item.id, _find_problem(item)) for item in request.requests]
        valid = [item_id for item_id, problem in problems if problem is None]
        rejected = {
            item_id: ItemOutcome.rejection(item_id, problem).as_json() for item_id, problem in problems if problem
        }
        if valid:
            counts = {"validCount": len(valid), "rejectedCount": len(rejected)}
            await self.reporter.emit(run, step_completed("validate-batch", PREPARED, **counts))
        return {"order": [item_id for item_id, _ in problems], "valid": valid, "rejected": rejected}

    async def _compile_chunk(
        self, run: WorkflowRun, params: Mapping[str, Any], step: str, ids: Sequence[str], progress: int
    ) -> Outcomes:
        await self.reporter.emit(run, step_started(step, itemCount=len(ids)))
        requests = (await self._request(params)).requests
        fetches = share_fetches([count_sent_files(item.configuration) for item in requests])
        shares = {item.id: (item, share) for item, share in zip(requests, fetches, strict=True)}
        items = [_item(*shares[item_id]) for item_id in ids]
        outcomes = await self.items.run(run.id, items)
        succeeded = sum(outcome.success for outcome in outcomes)
        counts = {"chunkSuccess": succeeded, "chunkFailed": len(outcomes) - succeeded}
        await self.reporter.emit(run, step_completed(step, progress, **counts))
        return {outcome.id: outcome.as_json() for outcome in outcomes}

    async def _update(
        self,
        run: WorkflowRun,
        params: Mapping[str, Any],
        batch: Mapping[str, Any],
        known: Outcomes,
        failed_steps: dict[str, str],
    ) -> dict[str, Any]:
        known = await complete_outcomes(self.items, run.id, known, failed_steps)
        summary = _summarize(batch, known, failed_steps)
        counts = {name: summary[name] for name in ("totalRequests", "successful", "failed")}
        duration_ms = await self.reporter.report_lists(
            run, "Batch", success=summary["success"], counts=counts, failed_steps=failed_steps
        )
        self.reporter.analytics.write("batch_compilation", blobs=(run.id,), doubles=(duration_ms, *counts.values()))
        await self.reporter.attempt("clearing", self.params_store.delete(params))
        return summary | {"totalDurationMs": duration_ms}

    async def _fail(
        self, run: WorkflowRun, runner: StepRunner, params: Mapping[str, Any], error: str
    ) -> dict[str, Any]:
        return await self.reporter.report_failure(run, runner, error, partial(self.params_store.delete, params))

    async def _request(self, params: Mapping[str, Any]) -> AsyncBatchRequest:
        values = await self.params_store.load(params)
        return parse_model(AsyncBatchRequest, {name: values[name] for name in values if name not in ENVELOPE})


def _find_problem(item: BatchItem) -> str | None:
    try:
        parse_configuration(item.configuration)
    except Invalid as error:
        return str(error)
    return None


def _item(request: BatchItem, max_fetches: int) -> Item:
    configuration = parse_configuration(request.configuration)
    order = CompileOrder.of(request, configuration, trigger=TRIGGER, ttl_s=WORKFLOW_TTL_S, max_fetches=max_fetches)
    return Item(request.id, order)


def _summarize(batch: Mapping[str, Any], known: Outcomes, failed_steps: Mapping[str, str]) -> dict[str, Any]:
    known = {**known, **batch["rejected"]}
    results = [find_outcome(item_id, known, failed_steps) for item_id in batch["order"]]
    successful = sum(result["success"] for result in results)
    counts = {"totalRequests": len(results), "successful": successful, "failed": len(results) - successful}
    return {"success": successful > 0} | counts | {"results": results}
