"""edge-preload with its time and its luck in a test's hands.

PUT /test?bucket_failures=…    so many writes to the bucket fail
PUT /test?advance_s=…          the clock moves on
PUT /test?stand_for=ZONE       the clock stands still, but for the pauses of this zone; "" lets it run again
DELETE /test?url=…             the edge forgets a page
"""

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
SET: dict[str, Any] = {"ahead_s": 0.0, "stands_at": None, "stands_for": "", "bucket_failures": 0}


class MovedClock:
    """`zone` is the one whose object goes by it."""

    zone = ""

    def now(self) -> float:
        stands_at: float | None = SET["stands_at"]
        return time.time() + float(SET["ahead_s"]) if stands_at is None else stands_at

    async def sleep(self, seconds: float) -> None:
        """Whoever pauses finds that the time has passed, also by a clock that stands still for all others."""
        ends_at = self.now() + seconds
        await asyncio.sleep(seconds)
        if SET["stands_at"] is not None and self.zone == SET["stands_for"]:
            SET["stands_at"] = max(SET["stands_at"], ends_at)


def given(values: dict[str, str]) -> None:
    """Do as a test says."""
    now = MovedClock().now()
    if "bucket_failures" in values:
        SET["bucket_failures"] = int(values["bucket_failures"])
    if "stand_for" in values:
        SET.update(stands_for=values["stand_for"], stands_at=now if values["stand_for"] else None)
        SET["ahead_s"] = now - time.time()
    if "advance_s" in values:
        name = "ahead_s" if SET["stands_at"] is None else "stands_at"
        SET[name] += float(values["advance_s"])


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


def cloud(env: Any, clock: MovedClock | None = None) -> Cloud:
    return Cloud(env, clock or MovedClock(), FailingBucket(env.CACHE_BUCKET))


class PreloadQueue(DurableObject):  # type: ignore[misc]
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.clock = MovedClock()
        self.zone = zone_object(ctx, cloud(env, self.clock))

    async def ping(self) -> bool:
        return Sql(self.ctx.storage).value("select 1") == 1

    async def call(self, zone_id: str, method: str, request: str) -> str:
        self.clock.zone = zone_id
        return await called(self.zone, zone_id, method, request)

    async def alarm(self) -> None:
        await self.zone.ring()


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        if url.path == "/test" and request.method == "DELETE":
            return Response.from_json(await EdgeCache().delete(dict(parse_qsl(url.query))["url"]))
        if url.path == "/test":
            given(dict(parse_qsl(url.query, keep_blank_values=True)))
            return Response.from_json(SET)
        return await fetched(self, request, BINDINGS, cloud(self.env))

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await ticked(cloud(self.env))
