"""edge-preload with its time and its luck in a test's hands: PUT /test?ahead_s=…&bucket_failures=…, DELETE /test?url=…"""

import asyncio
import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workers import DurableObject, Response, WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.durable_objects import Sql
from sluice.platform.http.edge_cache import EdgeCache
from sluice.workers.preload import Cloud, called, fetched, ticked, zone_object

__all__ = ["Default", "PreloadQueue"]

BINDINGS = (Binding("PRELOAD_QUEUE", "durable-object"),)
# One isolate runs the Worker and its objects, so they all see what a test has set.
SET = {"ahead_s": 0.0, "bucket_failures": 0.0}


class MovedClock:
    def now(self) -> float:
        return time.time() + SET["ahead_s"]

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class FailingBucket:
    """The real bucket, whose next so many writes fail."""

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bucket, name)

    async def put(self, key: str, body: Any, options: Any) -> Any:
        if SET["bucket_failures"] > 0:
            SET["bucket_failures"] -= 1
            return await self._bucket.put("too long" * 200, body, options)  # refused by the bucket itself
        return await self._bucket.put(key, body, options)


def cloud(env: Any) -> Cloud:
    return Cloud(env, MovedClock(), FailingBucket(env.CACHE_BUCKET))


class PreloadQueue(DurableObject):  # type: ignore[misc]
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.zone = zone_object(ctx, cloud(env))

    async def ping(self) -> bool:
        return Sql(self.ctx.storage).value("select 1") == 1

    async def call(self, zone_id: str, method: str, given: str) -> str:
        return await called(self.zone, zone_id, method, given)

    async def alarm(self) -> None:
        await self.zone.ring()


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        if url.path == "/test" and request.method == "DELETE":
            return Response.from_json(await EdgeCache().delete(dict(parse_qsl(url.query))["url"]))
        if url.path == "/test":
            SET.update({name: float(value) for name, value in parse_qsl(url.query)})
            return Response.from_json(SET)
        return await fetched(self, request, BINDINGS, cloud(self.env))

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await ticked(cloud(self.env))
