"""edge-preload for two instances side by side: a request for twin.test is one for purged.test."""

from typing import Any

import js
from workers import DurableObject, WorkerEntrypoint

from sluice.workers.preload import answer_request, open_preload, open_zone

__all__ = ["Default", "PreloadQueue"]


class PreloadQueue(DurableObject):  # type: ignore[misc]
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.zone = open_zone(env, ctx)

    async def call(self, zone_id: str, name: str, message: str) -> Any:
        return await self.zone.call(zone_id, name, message)

    async def alarm(self) -> None:
        await self.zone.handle_alarm()


class Renamed:
    """A request to another host."""

    def __init__(self, request: Any) -> None:
        self.js_object = js.Request.new(request.url.replace("//twin.test", "//purged.test"), request.js_object)


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        asked = Renamed(request) if "//twin.test" in request.url else request
        return await answer_request(open_preload(self.env, self.ctx), self, asked, ())

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await open_preload(self.env, self.ctx).cron.run()
