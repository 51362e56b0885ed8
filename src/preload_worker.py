"""edge-preload: warms a site's edge and R2 cache before visitors arrive, and serves what it warmed."""

from typing import Any

from workers import DurableObject, WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.durable_objects import Sql
from sluice.workers.preload import answer_request, enter_service, open_zone

__all__ = ["Default", "PreloadQueue"]

NAME = "edge-preload"
BINDINGS = (
    Binding("ASSETS", "service"),
    Binding("CACHE_BUCKET", "r2"),
    Binding("DB", "d1"),
    Binding("PRELOAD_KV", "kv"),
    Binding("PRELOAD_QUEUE", "durable-object"),
)


class PreloadQueue(DurableObject):
    """One zone: its queue of pages to warm, and everything that must be counted exactly."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.zone = open_zone(env, ctx)

    async def ping(self) -> bool:
        """Return whether the object's own database answers."""
        return Sql(self.ctx.storage).value("select 1") == 1

    async def call(self, zone_id: str, name: str, message: str) -> Any:
        return await self.zone.call(zone_id, name, message)

    async def alarm(self) -> None:
        await self.zone.handle_alarm()


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await answer_request(enter_service(self.env, self.ctx), self, request, BINDINGS)

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await enter_service(self.env, self.ctx).cron.run()
