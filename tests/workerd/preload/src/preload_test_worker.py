"""edge-preload whose clock and bucket a test controls: PUT /test?ahead_s=…&bucket_failures=…, DELETE /test?url=…"""

import asyncio
import time
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workers import DurableObject, Response, WorkerEntrypoint

from sluice.core.ports import Alarm, Bucket, Clock
from sluice.platform.bindings import Binding
from sluice.platform.durable_objects import Alarm as ObjectAlarm
from sluice.platform.durable_objects import Sql
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.storage.r2 import R2
from sluice.workers.preload import PreloadWorker

__all__ = ["Default", "PreloadQueue"]

BINDINGS = (Binding("PRELOAD_QUEUE", "durable-object"),)
# One isolate runs the Worker and its objects, so they all see what a test has set.
SETTINGS = {"ahead_s": 0.0, "bucket_failures": 0.0}


class MovedClock:
    def now(self) -> float:
        return time.time() + SETTINGS["ahead_s"]

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class MovedAlarm:
    """The object's alarm in the time of the moved clock; the platform knows only its own."""

    def __init__(self, alarm: Alarm) -> None:
        self._alarm = alarm

    async def get(self) -> float | None:
        at_s = await self._alarm.get()
        return None if at_s is None else at_s + SETTINGS["ahead_s"]

    async def set(self, at_s: float) -> None:
        await self._alarm.set(at_s - SETTINGS["ahead_s"])

    async def delete(self) -> None:
        await self._alarm.delete()


class FailingBucket:
    """The real bucket, whose next `bucket_failures` writes fail."""

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)

    async def put(self, key: str, body: Any, options: Any) -> Any:
        if SETTINGS["bucket_failures"] > 0:
            SETTINGS["bucket_failures"] -= 1
            return await self._bucket.put("too long" * 200, body, options)  # refused by the bucket itself
        return await self._bucket.put(key, body, options)


class PreloadTestWorker(PreloadWorker):
    @cached_property
    def clock(self) -> Clock:
        return MovedClock()

    @cached_property
    def alarm(self) -> Alarm:
        return MovedAlarm(ObjectAlarm(self.ctx.storage))

    @cached_property
    def bucket(self) -> Bucket:
        return R2(FailingBucket(self.env.CACHE_BUCKET))


class PreloadQueue(DurableObject):  # type: ignore[misc]
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.zone = PreloadTestWorker(env, ctx).zone_object

    async def ping(self) -> bool:
        return Sql(self.ctx.storage).value("select 1") == 1

    async def call(self, zone_id: str, name: str, arguments: str) -> str:
        return await self.zone.call(zone_id, name, arguments)

    async def alarm(self) -> None:
        await self.zone.handle_alarm()


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        if url.path == "/test" and request.method == "DELETE":
            return Response.from_json(await EdgeCache().delete(dict(parse_qsl(url.query))["url"]))
        if url.path == "/test":
            SETTINGS.update({name: float(value) for name, value in parse_qsl(url.query)})
            return Response.from_json(SETTINGS)
        return await PreloadTestWorker(self.env, self.ctx).handle_request(self, request, BINDINGS)

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await PreloadTestWorker(self.env, self.ctx).cron.run()
