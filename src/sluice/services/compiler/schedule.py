"""What the crons of the Worker start."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sluice.core.compiler.configuration import Configuration
from sluice.services.compiler.health.source import HealthSource
from sluice.services.compiler.jobs.job_store import JobStore
from sluice.services.compiler.workflows.starter import WorkflowStarter

WARMING_CRON: Final = "0 */6 * * *"


class ExpiringStore(Protocol):
    """A store whose entries expire."""

    async def delete_expired(self) -> object: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    starter: WorkflowStarter
    jobs: JobStore
    configurations: Callable[[], Sequence[Configuration]]
    sources: Callable[[], Sequence[HealthSource]]
    stores: Sequence[ExpiringStore]

    async def run(self, cron: str, scheduled_ms: int) -> None:
        """Starts the cache warming every six hours; the health check, the sweep and the clean-up every hour."""
        if cron == WARMING_CRON:
            await self.starter.start_scheduled_warming(scheduled_ms, self.configurations())
            return
        await self.starter.start_scheduled_check(scheduled_ms, self.sources())
        await self.jobs.resend_lost()
        for store in self.stores:
            await store.delete_expired()
