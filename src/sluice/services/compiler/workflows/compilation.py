"""CompilationWorkflow: validates, compiles, caches and reports one list, each in a step of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol

from sluice.core.compiler.events import Emit
from sluice.core.errors import SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import CompressedList, ListSummary
from sluice.services.compiler.cache.list_cache import WORKFLOW_TTL_S
from sluice.services.compiler.limits.allowance import MAX_FETCHES, FetchAllowance
from sluice.services.compiler.limits.spent_fetches import SpentFetches
from sluice.services.compiler.ports import Steps
from sluice.services.compiler.requests import CompileRequest
from sluice.services.compiler.workflows.compile_events import CompileEventWriter
from sluice.services.compiler.workflows.params_store import ParamsStore
from sluice.services.compiler.workflows.run_events import (
    WorkflowRun,
    cache_stored,
    step_completed,
    step_started,
    workflow_completed,
    workflow_started,
)
from sluice.services.compiler.workflows.run_reporter import RunReporter
from sluice.services.compiler.workflows.step_runner import StepPolicy, StepRunner

VALIDATE: Final = StepPolicy(1, 1, "linear", 30)
COMPILE: Final = StepPolicy(3, 30, "exponential", 300)
CACHE: Final = StepPolicy(2, 2, "linear", 30)
TRIGGER: Final = "workflow"
# The parameters of the engine that are not part of the request.
ENVELOPE: Final = ("requestId", "queuedAt")


class Compiler(Protocol):
    """Compiles without reading the cache, and stores lists on request."""

    async def compile(self, order: CompileOrder, *, emit: Emit) -> CompressedList: ...

    async def store(self, compiled: CompressedList, ttl_s: int) -> None: ...


class Handover(Protocol):
    """Carries a list from one step to the next: a step result may not be that large."""

    async def put(self, name: str, compiled: CompressedList) -> None: ...
    async def get(self, name: str) -> CompressedList: ...
    async def delete(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilationWorkflow:
    compiler: Compiler
    handover: Handover
    spent: SpentFetches
    params_store: ParamsStore
    reporter: RunReporter
    clock: Clock

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """Return the outcome, also of a failure; the rules are in the cache under the key of the outcome."""
        run, runner = WorkflowRun(workflow_id, "compilation"), StepRunner(steps)
        outcome: dict[str, Any] = {"requestId": params.get("requestId", workflow_id), "steps": {}}
        try:
            request = await runner.do("validate", VALIDATE, partial(self._validate, run, params))
            outcome |= {"configName": request["configName"], "steps": {"validation": request["validation"]}}
            compiled = await runner.do("compile-sources", COMPILE, partial(self._compile, run, params))
            outcome |= compiled["outcome"] | {"steps": outcome["steps"] | compiled["steps"]}
            if not request["preFetched"]:
                outcome["steps"]["caching"] = await runner.do("cache-result", CACHE, partial(self._cache, run))
        except SluiceError as error:
            clean_up = partial(self._clean_up, run, params)
            failure = await self.reporter.report_failure(run, runner, str(error), clean_up)
            return {"success": False} | outcome | failure
        return await self._complete(run, runner, params, outcome)

    async def _validate(self, run: WorkflowRun, params: Mapping[str, Any]) -> dict[str, Any]:
        began_ms = self._now_ms()
        self.reporter.report_start(run)
        await self.reporter.emit(
            run, workflow_started("Compilation started", requestId=params.get("requestId", run.id))
        )
        request = await self._request(params)
        configuration = request.configuration
        counts = {"sourceCount": len(configuration.sources), "transformationCount": len(configuration.transformations)}
        await self.reporter.emit(run, step_completed("validate", 10, configName=configuration.name, **counts))
        return {
            "configName": configuration.name,
            "preFetched": bool(request.pre_fetched_content),
            "validation": {"durationMs": max(0, self._now_ms() - began_ms), **counts},
        }

    async def _compile(self, run: WorkflowRun, params: Mapping[str, Any]) -> dict[str, Any]:
        request = await self._request(params)
        content = request.pre_fetched_content
        await self.reporter.emit(run, step_started("compile-sources", configName=request.configuration.name))
        writer = CompileEventWriter(self.reporter.event_log, run, self.clock, self.reporter.log)
        async with writer.open():
            compiled = await self._compile_once(run, request, writer.emit)
        if content:
            # A private list has a key of its own, and no step of its own.
            await self.compiler.store(compiled, WORKFLOW_TTL_S)
        else:
            await self.handover.put(run.id, compiled)
        summary = compiled.summary
        await self.reporter.emit(
            run, step_completed("compile-sources", 70, ruleCount=summary.rule_count, durationMs=summary.duration_ms)
        )
        return {
            "outcome": {
                "ruleCount": summary.rule_count,
                "cacheKey": summary.cache_key,
                "compiledAt": summary.compiled_at,
            },
            "steps": _describe_steps(writer, summary),
        }

    async def _compile_once(self, run: WorkflowRun, request: CompileRequest, emit: Emit) -> CompressedList:
        """Make one attempt of the step; all attempts share the fetches of one request."""
        spent = (await self.spent.load(run.id)).get("", 0)
        allowance = FetchAllowance(MAX_FETCHES, spent)
        try:
            order = CompileOrder.of(request, request.configuration, trigger=TRIGGER, ttl_s=WORKFLOW_TTL_S)
            return await self.compiler.compile(replace(order, allowance=allowance), emit=emit)
        except SluiceError:
            await self.spent.add(run.id, "", allowance.used - spent)
            raise

    async def _cache(self, run: WorkflowRun) -> dict[str, Any]:
        began_ms = self._now_ms()
        compiled = await self.handover.get(run.id)
        await self.compiler.store(compiled, WORKFLOW_TTL_S)
        key = compiled.summary.cache_key
        await self.reporter.emit(run, cache_stored(90, cacheKey=key, ttlSeconds=WORKFLOW_TTL_S))
        return {"durationMs": max(0, self._now_ms() - began_ms), "cacheKey": key, "ttlSeconds": WORKFLOW_TTL_S}

    async def _complete(
        self, run: WorkflowRun, runner: StepRunner, params: Mapping[str, Any], outcome: dict[str, Any]
    ) -> dict[str, Any]:
        async def update() -> dict[str, Any]:
            event = workflow_completed(
                "Compilation completed", ruleCount=outcome["ruleCount"], cacheKey=outcome["cacheKey"]
            )
            duration_ms = await self.reporter.report_end(run, event, counts=(outcome["ruleCount"],))
            await self.reporter.attempt("clearing", self._clean_up(run, params))
            return {"totalDurationMs": duration_ms}

        return {"success": True} | outcome | await self.reporter.run_last_step(run, runner, "update-metrics", update)

    async def _clean_up(self, run: WorkflowRun, params: Mapping[str, Any]) -> None:
        """Delete the handed-over list only here, when no step can need it again."""
        await self.handover.delete(run.id)
        await self.params_store.delete(params)

    async def _request(self, params: Mapping[str, Any]) -> CompileRequest:
        values = await self.params_store.load(params)
        return parse_model(CompileRequest, {name: values[name] for name in values if name not in ENVELOPE})

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _describe_steps(writer: CompileEventWriter, summary: ListSummary) -> dict[str, Any]:
    return {
        "sourceFetch": {"durationMs": writer.fetch_ms, "sourceCount": writer.source_count},
        "transformation": {"durationMs": writer.transformation_ms, "transformationCount": writer.transformation_count},
        "compilation": {"durationMs": summary.duration_ms},
    }
