"""CacheWarmingWorkflow: compiles popular lists before anyone asks, gently, and only those whose copy will not last."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import SluiceError
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.services.compiler.cache.cache import WORKFLOW_TTL_S
from sluice.services.compiler.ports import Steps
from sluice.services.compiler.workflows.course import Course, Policy
from sluice.services.compiler.workflows.events import Run, completed, started, step_completed, step_failed, step_started
from sluice.services.compiler.workflows.items import Item, ItemOutcome, Items, Outcomes, outcome_of
from sluice.services.compiler.workflows.parcels import Parcels
from sluice.services.compiler.workflows.reporting import Reporting

CHECK: Final = Policy(1, 1, "linear", 30)
CHUNK: Final = Policy(2, 30, "exponential", 900)
MAX_CONFIGURATIONS: Final = 50
MAX_CONCURRENT: Final = 2
PATH: Final = "warming"
# What the engine's own parameters hold besides the request.
ENVELOPE: Final = ("runId", "queuedAt")
NEXT_RUN_S: Final = 6 * 3600  # a copy that lives longer is still there when the next scheduled run looks
ITEM_PAUSE_S: Final = 2.0
CHUNK_PAUSE_S: Final = 10.0
_CHECKED: Final = 10
_WARMED: Final = 85

# When the kept copy of a configuration ends, in epoch seconds; None when there is none.
ExpiresAt = Callable[[Configuration], Awaitable[float | None]]


class WarmRequest(BaseModel):
    """What to warm; nothing means the default lists."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    configurations: Annotated[list[Configuration], Field(min_length=1, max_length=MAX_CONFIGURATIONS)] | None = None


class WarmParams(WarmRequest):
    """The same inside the engine."""

    scheduled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheWarmingWorkflow:
    items: Items
    expires_at: ExpiresAt
    defaults: Sequence[Configuration]
    parcels: Parcels
    reporting: Reporting
    clock: Clock

    async def run(self, workflow_id: str, params: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
        """Which lists were warmed, which were fresh, and which failed."""
        run, course = Run(workflow_id, "cache-warming"), Course(steps)
        run_id = params.get("runId", workflow_id)
        try:
            checked = await course.do("check-cache-status", CHECK, partial(self._check, run, params))
        except SluiceError as error:
            cleared = partial(self.parcels.discard, params)
            return {"success": False, "runId": run_id} | await self.reporting.fail(run, course, str(error), cleared)
        known, lost = await self._chunks(run, course, params, checked["stale"])
        update = partial(self._update, run, params, checked, known, lost)
        ended = await self.reporting.conclude(run, course, "update-warming-metrics", update)
        return {"success": True, "runId": run_id} | _summary(checked, known, lost) | ended

    async def _check(self, run: Run, params: Mapping[str, Any]) -> dict[str, Any]:
        """Which configurations need warming, each known by its place."""
        self.reporting.begun(run)
        request = await self._request(params)
        configurations = self._configurations(request)
        told = {"configurationCount": len(configurations), "scheduled": request.scheduled}
        await self.reporting.emit(run, started("Cache warming started", **told))
        ends = [await self.expires_at(configuration) for configuration in configurations]
        needed_until_s = self.clock.now() + NEXT_RUN_S
        stale = [
            {"id": str(at), "name": configurations[at].name}
            for at, end_s in enumerate(ends)
            if end_s is None or end_s <= needed_until_s
        ]
        skipped = len(configurations) - len(stale)
        await self.reporting.emit(
            run, step_completed("check-cache-status", _CHECKED, toWarm=len(stale), skipped=skipped)
        )
        return {"stale": stale, "skipped": skipped}

    async def _chunks(
        self, run: Run, course: Course, params: Mapping[str, Any], stale: Sequence[Mapping[str, str]]
    ) -> tuple[Outcomes, dict[str, str]]:
        """Warm all chunks with a pause between them; the outcomes, and the errors of steps that failed."""
        chunks = [stale[at : at + MAX_CONCURRENT] for at in range(0, len(stale), MAX_CONCURRENT)]
        known: Outcomes = {}
        lost: dict[str, str] = {}
        for number, chunk in enumerate(chunks, 1):
            if number > 1:
                await course.sleep(f"pause-before-chunk-{number}", CHUNK_PAUSE_S)
            progress = _CHECKED + round((_WARMED - _CHECKED) * number / len(chunks))
            step = f"warm-chunk-{number}"
            try:
                work = partial(self._warm, run, step, params, [item["id"] for item in chunk], progress)
                known |= await course.do(step, CHUNK, work)
            except SluiceError as error:
                lost[step] = str(error)
        return known, lost

    async def _warm(
        self, run: Run, step: str, params: Mapping[str, Any], ids: Sequence[str], progress: int
    ) -> Outcomes:
        await self.reporting.emit(run, step_started(step, configurationCount=len(ids)))
        configurations = self._configurations(await self._request(params))
        outcomes: list[ItemOutcome] = []
        for item_id in ids:
            if outcomes:
                await self.clock.sleep(ITEM_PAUSE_S)
            item = Item(item_id, configurations[int(item_id)])
            outcomes += await self.items.run(run.id, [item], ttl_s=WORKFLOW_TTL_S, path=PATH)
        done = sum(outcome.success for outcome in outcomes)
        counts = {"warmed": done, "failed": len(outcomes) - done}
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
        recorded = await self.items.outcomes(run.id) if lost else {}
        told = _summary(checked, {item_id: found.as_json() for item_id, found in recorded.items()} | known, lost)
        counts = {name: told[name] for name in ("warmed", "failed", "skipped")}
        flaws = [step_failed(step, error) for step, error in lost.items()]
        end = completed("Cache warming completed", **counts)
        took_ms = await self.reporting.ended(run, *flaws, end, counts=tuple(counts.values()))
        await self.reporting.attempt("clearing", self.parcels.discard(params))
        return told | {"totalDurationMs": took_ms}

    async def _request(self, params: Mapping[str, Any]) -> WarmParams:
        opened = await self.parcels.opened(params)
        return parse_model(WarmParams, {name: opened[name] for name in opened if name not in ENVELOPE})

    def _configurations(self, request: WarmParams) -> Sequence[Configuration]:
        return request.configurations or self.defaults


def _summary(checked: Mapping[str, Any], known: Outcomes, lost: Mapping[str, str]) -> dict[str, Any]:
    results = [{"name": item["name"], **outcome_of(item["id"], known, lost)} for item in checked["stale"]]
    warmed = sum(result["success"] for result in results)
    counts = {"warmed": warmed, "failed": len(results) - warmed, "skipped": checked["skipped"]}
    return counts | {"results": results}
