"""BatchCompilationWorkflow: many lists in chunks of three; what is done before a crash is not done again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import Invalid, SluiceError
from sluice.core.models import parse_model
from sluice.services.compiler.cache.cache import WORKFLOW_TTL_S
from sluice.services.compiler.ports import Steps
from sluice.services.compiler.requests import AsyncBatchRequest, BatchItem
from sluice.services.compiler.workflows.course import Course, Policy
from sluice.services.compiler.workflows.events import Run, completed, started, step_completed, step_failed, step_started
from sluice.services.compiler.workflows.items import MAX_CONCURRENT, Item, ItemOutcome, Items, Outcomes, outcome_of
from sluice.services.compiler.workflows.parcels import Parcels
from sluice.services.compiler.workflows.reporting import Reporting

VALIDATE: Final = Policy(1, 1, "linear", 30)
CHUNK: Final = Policy(2, 5, "exponential", 600)
PATH: Final = "workflow"
ALL_FAILED: Final = "All failed: no configuration of the batch is valid"
# What the engine's own parameters hold besides the request.
ENVELOPE: Final = ("batchId", "queuedAt")
_VALIDATED: Final = 10
_COMPILED: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCompilationWorkflow:
    items: Items
    parcels: Parcels
    reporting: Reporting

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """The outcome of each item; a bad item costs none of the others."""
        run, course = Run(workflow_id, "batch"), Course(steps)
        batch_id = params.get("batchId", workflow_id)
        try:
            checked = await course.do("validate-batch", VALIDATE, partial(self._validate, run, params))
        except SluiceError as error:
            return {"success": False, "batchId": batch_id} | await self._failed(run, course, params, str(error))
        if not checked["valid"]:
            return (
                {"batchId": batch_id} | _summary(checked, {}, {}) | await self._failed(run, course, params, ALL_FAILED)
            )
        known, lost = await self._chunks(run, course, params, checked["valid"])
        update = partial(self._update, run, params, checked, known, lost)
        ended = await self.reporting.conclude(run, course, "update-batch-metrics", update)
        return {"batchId": batch_id} | _summary(checked, known, lost) | ended

    async def _validate(self, run: Run, params: Mapping[str, Any]) -> dict[str, Any]:
        """Which items are valid, by their ids in order, and why the others are not."""
        self.reporting.begun(run)
        request = await self._request(params)
        count = len(request.requests)
        await self.reporting.emit(run, started("Batch started", batchSize=count, requestCount=count))
        checked = [(item.id, _flaw(item)) for item in request.requests]
        valid = [item_id for item_id, flaw in checked if flaw is None]
        rejected = {item_id: ItemOutcome.refused(item_id, flaw).as_json() for item_id, flaw in checked if flaw}
        if valid:
            counts = {"validCount": len(valid), "rejectedCount": len(rejected)}
            await self.reporting.emit(run, step_completed("validate-batch", _VALIDATED, **counts))
        return {"order": [item_id for item_id, _ in checked], "valid": valid, "rejected": rejected}

    async def _chunks(
        self, run: Run, course: Course, params: Mapping[str, Any], ids: Sequence[str]
    ) -> tuple[Outcomes, dict[str, str]]:
        """Compile all chunks, one after the other; the outcomes, and the errors of steps that failed."""
        chunks = [ids[at : at + MAX_CONCURRENT] for at in range(0, len(ids), MAX_CONCURRENT)]
        known: Outcomes = {}
        lost: dict[str, str] = {}
        for number, chunk in enumerate(chunks, 1):
            progress = _VALIDATED + round((_COMPILED - _VALIDATED) * number / len(chunks))
            step = f"compile-chunk-{number}"
            try:
                known |= await course.do(step, CHUNK, partial(self._compile, run, step, params, chunk, progress))
            except SluiceError as error:
                lost[step] = str(error)
        return known, lost

    async def _compile(
        self, run: Run, step: str, params: Mapping[str, Any], ids: Sequence[str], progress: int
    ) -> Outcomes:
        await self.reporting.emit(run, step_started(step, itemCount=len(ids)))
        requests = {item.id: item for item in (await self._request(params)).requests}
        items = [_item(requests[item_id]) for item_id in ids]
        outcomes = await self.items.run(run.id, items, ttl_s=WORKFLOW_TTL_S, path=PATH)
        done = sum(outcome.success for outcome in outcomes)
        counts = {"chunkSuccess": done, "chunkFailed": len(outcomes) - done}
        await self.reporting.emit(run, step_completed(step, progress, **counts))
        return {outcome.id: outcome.as_json() for outcome in outcomes}

    async def _update(
        self,
        run: Run,
        params: Mapping[str, Any],
        checked: Mapping[str, Any],
        known: Outcomes,
        lost: Mapping[str, str],
    ) -> dict[str, Any]:
        """Of a chunk that was lost, some items may be done all the same: their rows tell."""
        recorded = await self.items.outcomes(run.id) if lost else {}
        known = {item_id: found.as_json() for item_id, found in recorded.items()} | known
        told = _summary(checked, known, lost)
        counts = {name: told[name] for name in ("totalRequests", "successful", "failed")}
        flaws = [step_failed(step, error) for step, error in lost.items()]
        end = completed("Batch completed", **counts)
        took_ms = await self.reporting.ended(run, *flaws, end, counts=tuple(counts.values()))
        self.reporting.analytics.write("batch_compilation", blobs=(run.id,), doubles=(took_ms, *counts.values()))
        await self.reporting.attempt("clearing", self.parcels.discard(params))
        return told | {"totalDurationMs": took_ms}

    async def _failed(self, run: Run, course: Course, params: Mapping[str, Any], error: str) -> dict[str, Any]:
        return await self.reporting.fail(run, course, error, partial(self.parcels.discard, params))

    async def _request(self, params: Mapping[str, Any]) -> AsyncBatchRequest:
        opened = await self.parcels.opened(params)
        return parse_model(AsyncBatchRequest, {name: opened[name] for name in opened if name not in ENVELOPE})


def _flaw(item: BatchItem) -> str | None:
    try:
        parse_configuration(item.configuration)
    except Invalid as error:
        return str(error)
    return None


def _item(request: BatchItem) -> Item:
    return Item(request.id, parse_configuration(request.configuration), request.pre_fetched_content)


def _summary(checked: Mapping[str, Any], known: Outcomes, lost: Mapping[str, str]) -> dict[str, Any]:
    known = {**known, **checked["rejected"]}
    results = [outcome_of(item_id, known, lost) for item_id in checked["order"]]
    successful = sum(result["success"] for result in results)
    counts = {"totalRequests": len(results), "successful": successful, "failed": len(results) - successful}
    return {"success": successful > 0} | counts | {"results": results}
