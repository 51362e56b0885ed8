"""What the crons of the Worker start."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import SluiceError
from sluice.core.ports import Log
from sluice.services.compiler.health.source_check import HealthSource
from sluice.services.compiler.jobs.job_store import JobStore
from sluice.services.compiler.workflows.starter import WorkflowStarter

WARMING_CRON: Final = "0 */6 * * *"


class ExpiringStore(Protocol):
    """A store whose entries expire."""

    async def delete_expired(self) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerCron:
    starter: WorkflowStarter
    jobs: JobStore
    configurations: Callable[[], Sequence[Configuration]]
    sources: Callable[[], Sequence[HealthSource]]
    stores: Sequence[ExpiringStore]
    run_due_lists: Callable[[int], Awaitable[None]]
    log: Log

    async def run(self, cron: str, scheduled_ms: int) -> None:
        """Start the cache warming every six hours; the health check, due lists, the sweep and the clean-up every hour.

        What fails is logged and does not stop the rest: a malformed variable must not keep old entries for ever.
        """
        if cron == WARMING_CRON:
            await self._attempt("warming", self._start_warming(scheduled_ms))
            return
        await self._attempt("health check", self._start_check(scheduled_ms))
        await self._attempt("sweep", self.jobs.resend_lost())
        await self._attempt("published lists", self.run_due_lists(scheduled_ms))
        for store in self.stores:
            await self._attempt(type(store).__name__, store.delete_expired())

    async def _start_warming(self, scheduled_ms: int) -> None:
        await self.starter.start_scheduled_warming(scheduled_ms, self.configurations())

    async def _start_check(self, scheduled_ms: int) -> None:
        await self.starter.start_scheduled_check(scheduled_ms, self.sources())

    async def _attempt(self, what: str, work: Awaitable[object]) -> None:
        try:
            await work
        except SluiceError as error:
            self.log.error("schedule.failed", error, what=what)
