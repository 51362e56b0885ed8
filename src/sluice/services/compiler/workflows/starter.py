"""Starts workflows: by request under a new id, and by cron once for each scheduled time."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import NotAccepted, SluiceError
from sluice.core.ports import Clock
from sluice.services.compiler.guard.idempotency import Ticket
from sluice.services.compiler.health.source_check import HealthSource
from sluice.services.compiler.ports import Instances
from sluice.services.compiler.workflows.params_store import ParamsStore

ApiType = Literal["compilation", "batch-compilation", "cache-warming", "health-monitoring"]
PUBLISHED_LIST: Final = "published-list"  # the builds of published lists, which have requests of their own
# The prefixes of the ids of requested instances.
PREFIXES: Final[Mapping[ApiType, str]] = {
    "compilation": "wf-compile",
    "batch-compilation": "wf-batch",
    "cache-warming": "wf-cache-warm",
    "health-monitoring": "wf-health",
}
# A cron does not come back for what it could not start.
_CRON_PAUSES_S: Final = (5.0, 25.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowStarter:
    instances: Mapping[ApiType, Instances]
    params_store: ParamsStore
    clock: Clock

    async def start_requested(self, kind: ApiType, id_field: str, params: Mapping[str, Any], ticket: Ticket) -> str:
        """Start an instance, and return its id, which the ticket completes, and which the parameters hold as `id_field`.

        A failure leaves alone what other requests with the same ticket have stored.
        """
        workflow_id = f"{PREFIXES[kind]}-{ticket.unique}"
        queued_ms = round(self.clock.now() * 1000)
        start_params = {id_field: workflow_id, **params, "queuedAt": queued_ms}
        await self._create(kind, workflow_id, start_params, is_repeatable=ticket.is_repeatable)
        return workflow_id

    async def start_scheduled_warming(self, scheduled_ms: int, configurations: Sequence[Configuration]) -> str:
        """Start the cache warming of a scheduled time; a second start for the same time does nothing."""
        workflow_id = f"cache-warm-scheduled-{scheduled_ms}"
        values = [configuration.model_dump(exclude_unset=True) for configuration in configurations]
        params = {"runId": workflow_id, "configurations": values, "scheduled": True}
        await create_patiently(partial(self._create, "cache-warming", workflow_id, params), self.clock)
        return workflow_id

    async def start_scheduled_check(self, scheduled_ms: int, sources: Sequence[HealthSource]) -> str:
        """Start the health check of a scheduled time; a second start for the same time does nothing."""
        workflow_id = f"health-check-scheduled-{scheduled_ms}"
        values = [source.model_dump() for source in sources]
        params = {"runId": workflow_id, "sources": values, "scheduled": True}
        await create_patiently(partial(self._create, "health-monitoring", workflow_id, params), self.clock)
        return workflow_id

    async def _create(
        self, kind: ApiType, workflow_id: str, params: Mapping[str, Any], *, is_repeatable: bool = False
    ) -> None:
        """Start an instance, which exists once this returns; raise NotAccepted if it could not be stored."""
        start_params: Mapping[str, Any] = {}
        try:
            start_params = await self.params_store.store(workflow_id, params)
            await self.instances[kind].create(workflow_id, start_params)
        except SluiceError as error:
            if not is_repeatable:
                with suppress(SluiceError):  # it expires anyway
                    await self.params_store.delete(start_params)
            if error.retryable:
                raise NotAccepted("the workflow could not be stored, so it was not started: try again later") from error
            raise


async def create_patiently(create: Callable[[], Awaitable[None]], clock: Clock) -> None:
    """Create what nobody would ask for again: try again while that may help, and raise the last error."""
    for pause_s in _CRON_PAUSES_S:
        try:
            await create()
        except SluiceError as error:
            if not error.retryable:
                raise
            await clock.sleep(pause_s)
        else:
            return
    await create()
