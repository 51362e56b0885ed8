"""edge-preload whose clock and bucket a test controls.

PUT /test?bucket_failures=…    so many writes to the bucket fail
PUT /test?advance_s=…          the clock moves forward
PUT /test?stand_for=ZONE       the clock stands still, except for the sleeps of this zone; "" lets it run again
DELETE /test?url=…             removes a page from the edge cache
GET /test/heap                 the size of Python's heap, which never shrinks
"""

import time
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyodide_js
from workers import DurableObject, Response, WorkerEntrypoint

from sluice.core.ports import Alarm
from sluice.platform.bindings import Binding
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm as ObjectAlarm
from sluice.platform.durable_objects import Sql
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.storage.r2 import R2
from sluice.services.preload.service import IsolateState, PreloadService
from sluice.workers.preload import answer_request, make_ports

__all__ = ["Default", "PreloadQueue"]

REMEMBERED = IsolateState()
BINDINGS = (Binding("PRELOAD_QUEUE", "durable-object"),)
# One isolate runs the Worker and its objects, so they all see what a test has set.
SETTINGS: dict[str, Any] = {"ahead_s": 0.0, "stands_at": None, "stands_for": "", "bucket_failures": 0}


class MovedClock:
    """`zone_id` is that of the object that uses this clock."""

    zone_id = ""

    def now(self) -> float:
        stands_at: float | None = SETTINGS["stands_at"]
        return time.time() + float(SETTINGS["ahead_s"]) if stands_at is None else stands_at

    async def sleep(self, seconds: float) -> None:
        """The time has passed for the sleeper, even if the clock stands still for all others."""
        ends_at = self.now() + seconds
        await SystemClock().sleep(seconds)
        if SETTINGS["stands_at"] is not None and self.zone_id == SETTINGS["stands_for"]:
            SETTINGS["stands_at"] = max(SETTINGS["stands_at"], ends_at)


class MovedAlarm:
    """The object's alarm in the time of the moved clock; the platform knows only its own."""

    def __init__(self, alarm: Alarm, clock: MovedClock) -> None:
        self._alarm = alarm
        self._clock = clock

    async def get(self) -> float | None:
        at_s = await self._alarm.get()
        return None if at_s is None else at_s + self._ahead_s()

    async def set(self, at_s: float) -> None:
        await self._alarm.set(at_s - self._ahead_s())

    async def delete(self) -> None:
        await self._alarm.delete()

    def _ahead_s(self) -> float:
        return self._clock.now() - time.time()


def change_settings(values: dict[str, str]) -> None:
    now = MovedClock().now()
    if "bucket_failures" in values:
        SETTINGS["bucket_failures"] = int(values["bucket_failures"])
    if "stand_for" in values:
        SETTINGS.update(stands_for=values["stand_for"], stands_at=now if values["stand_for"] else None)
        SETTINGS["ahead_s"] = now - time.time()
    if "advance_s" in values:
        name = "ahead_s" if SETTINGS["stands_at"] is None else "stands_at"
        SETTINGS[name] += float(values["advance_s"])


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


def open_test_preload(env: Any, ctx: Any, clock: MovedClock | None = None) -> PreloadService:
    bucket = R2(FailingBucket(env.CACHE_BUCKET))
    return PreloadService(replace(make_ports(env, ctx), clock=clock or MovedClock(), bucket=bucket), REMEMBERED)


class PreloadQueue(DurableObject):  # type: ignore[misc]
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.clock = MovedClock()
        alarm = MovedAlarm(ObjectAlarm(ctx.storage), self.clock)
        self.zone = open_test_preload(env, ctx, self.clock).open_zone(Sql(ctx.storage), alarm)

    async def ping(self) -> bool:
        return Sql(self.ctx.storage).value("select 1") == 1

    async def call(self, zone_id: str, name: str, message: str) -> Any:
        self.clock.zone_id = zone_id
        return await self.zone.call(zone_id, name, message)

    async def alarm(self) -> None:
        await self.zone.handle_alarm()


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        if url.path == "/test/heap":
            return Response(str(pyodide_js._module.HEAPU8.length))
        if url.path == "/test" and request.method == "DELETE":
            return Response.from_json(await EdgeCache().delete(dict(parse_qsl(url.query))["url"]))
        if url.path == "/test":
            change_settings(dict(parse_qsl(url.query, keep_blank_values=True)))
            return Response.from_json(SETTINGS)
        service = open_test_preload(self.env, self.ctx)
        return await answer_request(service, self, request, BINDINGS, open_test_preload)

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await open_test_preload(self.env, self.ctx).cron.run()
