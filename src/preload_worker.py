"""edge-preload: warms a site's edge and R2 cache before visitors arrive."""

from typing import Any

from workers import DurableObject, WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.objects import Sql
from sluice.platform.worker import answer

__all__ = ["Default", "PreloadQueue"]

NAME = "edge-preload"
BINDINGS = (
    Binding("CACHE_BUCKET", "r2"),
    Binding("DB", "d1"),
    Binding("PRELOAD_KV", "kv"),
    Binding("PRELOAD_QUEUE", "durable-object"),
)


class PreloadQueue(DurableObject):
    """One zone's queue of pages to warm."""

    async def ping(self) -> bool:
        """Whether the object's own database answers."""
        return Sql(self.ctx.storage).value("select 1") == 1


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await answer(self, request, NAME, BINDINGS)
