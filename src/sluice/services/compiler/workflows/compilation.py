"""CompilationWorkflow: one list, checked, compiled, cached and counted, each in a step of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol

from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.events import Emit
from sluice.core.errors import SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.services.compiler.cache.cache import WORKFLOW_TTL_S
from sluice.services.compiler.cache.results import Result
from sluice.services.compiler.ports import Steps
from sluice.services.compiler.requests import CompileRequest
from sluice.services.compiler.workflows.course import Course, Policy
from sluice.services.compiler.workflows.events import (
    Run,
    cache_stored,
    completed,
    started,
    step_completed,
    step_started,
)
from sluice.services.compiler.workflows.parcels import Parcels
from sluice.services.compiler.workflows.reporting import Reporting
from sluice.services.compiler.workflows.watch import CompileWatch

VALIDATE: Final = Policy(1, 1, "linear", 30)
COMPILE: Final = Policy(3, 30, "exponential", 300)
CACHE: Final = Policy(2, 2, "linear", 30)
PATH: Final = "workflow"
# What the engine's own parameters hold besides the request.
ENVELOPE: Final = ("requestId", "queuedAt")


class Compiler(Protocol):
    """Compiles without looking into the cache, and keeps results when told to."""

    async def produce(
        self, configuration: Configuration, *, path: str, content: Mapping[str, str], emit: Emit
    ) -> Result: ...

    async def keep(self, result: Result, ttl_s: int) -> None: ...


class Handover(Protocol):
    """Carries a result from one step to the next, since no step result may be that large."""

    async def put(self, name: str, result: Result) -> None: ...
    async def get(self, name: str) -> Result: ...
    async def delete(self, name: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilationWorkflow:
    compiler: Compiler
    handover: Handover
    parcels: Parcels
    reporting: Reporting
    clock: Clock

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """The outcome, a failure included; the rules are in the cache under its key."""
        run, course = Run(workflow_id, "compilation"), Course(steps)
        told: dict[str, Any] = {"requestId": params.get("requestId", workflow_id), "steps": {}}
        try:
            checked = await course.do("validate", VALIDATE, partial(self._validate, run, params))
            told |= {"configName": checked["configName"], "steps": {"validation": checked["validation"]}}
            compiled = await course.do("compile-sources", COMPILE, partial(self._compile, run, params))
            told |= compiled["told"] | {"steps": told["steps"] | compiled["steps"]}
            if not checked["preFetched"]:
                told["steps"]["caching"] = await course.do("cache-result", CACHE, partial(self._cache, run))
        except SluiceError as error:
            cleared = partial(self._cleared, run, params)
            return {"success": False} | told | await self.reporting.fail(run, course, str(error), cleared)
        return await self._completed(run, course, params, told)

    async def _validate(self, run: Run, params: Mapping[str, Any]) -> dict[str, Any]:
        began_ms = self._now_ms()
        self.reporting.begun(run)
        await self.reporting.emit(run, started("Compilation started", requestId=params.get("requestId", run.id)))
        request = await self._request(params)
        configuration = request.configuration
        counts = {"sourceCount": len(configuration.sources), "transformationCount": len(configuration.transformations)}
        await self.reporting.emit(run, step_completed("validate", 10, configName=configuration.name, **counts))
        return {
            "configName": configuration.name,
            "preFetched": bool(request.pre_fetched_content),
            "validation": {"durationMs": self._now_ms() - began_ms, **counts},
        }

    async def _compile(self, run: Run, params: Mapping[str, Any]) -> dict[str, Any]:
        request = await self._request(params)
        content = request.pre_fetched_content
        await self.reporting.emit(run, step_started("compile-sources", configName=request.configuration.name))
        watch = CompileWatch(self.reporting.run_log, run, self.clock, self.reporting.log)
        async with watch.listening():
            result = await self.compiler.produce(request.configuration, path=PATH, content=content, emit=watch.emit)
        if content:
            # Private, so under a key of its own and not a step of its own.
            await self.compiler.keep(result, WORKFLOW_TTL_S)
        else:
            await self.handover.put(run.id, result)
        made = result.compiled
        await self.reporting.emit(
            run, step_completed("compile-sources", 70, ruleCount=made.rule_count, durationMs=made.duration_ms)
        )
        return {
            "told": {"ruleCount": made.rule_count, "cacheKey": made.cache_key, "compiledAt": made.compiled_at},
            "steps": _steps(watch, result),
        }

    async def _cache(self, run: Run) -> dict[str, Any]:
        began_ms = self._now_ms()
        result = await self.handover.get(run.id)
        await self.compiler.keep(result, WORKFLOW_TTL_S)
        key = result.compiled.cache_key
        await self.reporting.emit(run, cache_stored(90, cacheKey=key, ttlSeconds=WORKFLOW_TTL_S))
        return {"durationMs": self._now_ms() - began_ms, "cacheKey": key, "ttlSeconds": WORKFLOW_TTL_S}

    async def _completed(
        self, run: Run, course: Course, params: Mapping[str, Any], told: dict[str, Any]
    ) -> dict[str, Any]:
        async def update() -> dict[str, Any]:
            event = completed("Compilation completed", ruleCount=told["ruleCount"], cacheKey=told["cacheKey"])
            took_ms = await self.reporting.ended(run, event, counts=(told["ruleCount"],))
            await self.reporting.attempt("clearing", self._cleared(run, params))
            return {"totalDurationMs": took_ms}

        return {"success": True} | told | await self.reporting.conclude(run, course, "update-metrics", update)

    async def _cleared(self, run: Run, params: Mapping[str, Any]) -> None:
        """What was handed over goes only here, after the step that needed it has ended for good."""
        await self.handover.delete(run.id)
        await self.parcels.discard(params)

    async def _request(self, params: Mapping[str, Any]) -> CompileRequest:
        opened = await self.parcels.opened(params)
        return parse_model(CompileRequest, {name: opened[name] for name in opened if name not in ENVELOPE})

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _steps(watch: CompileWatch, result: Result) -> dict[str, Any]:
    return {
        "sourceFetch": {"durationMs": watch.fetch_ms, "sourceCount": watch.source_count},
        "transformation": {"durationMs": watch.transformation_ms, "transformationCount": watch.transformation_count},
        "compilation": {"durationMs": result.compiled.duration_ms},
    }
