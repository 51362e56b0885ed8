"""edge-preload for ./scripts/bench preload, with a queue that does many pushes or pops in one request."""

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pyodide_js
from workers import DurableObject, Response, WorkerEntrypoint

from sluice.core.ports import Row
from sluice.core.preload.queue_entries import WantedPage
from sluice.platform.durable_objects import Alarm, Sql
from sluice.platform.http.edge_cache import EdgeCache
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.zone.schema import create_tables
from sluice.workers.preload import answer_request, open_preload

__all__ = ["Default", "MeasuredQueue", "PreloadQueue"]

UNLIMITED = 10_000_000


class CountedSql(Sql):
    statements = 0

    def rows(self, sql: str, *params: object) -> list[Row]:
        self.statements += 1
        return super().rows(sql, *params)


class PreloadQueue(DurableObject):  # type: ignore[misc]
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.sql = CountedSql(ctx.storage)
        self.zone = open_preload(env, ctx).open_zone(self.sql, Alarm(ctx.storage))

    async def count(self) -> int:
        return self.sql.statements

    async def call(self, zone_id: str, name: str, message: str) -> Any:
        return await self.zone.call(zone_id, name, message)

    async def alarm(self) -> None:
        await self.zone.handle_alarm()


class MeasuredQueue(DurableObject):  # type: ignore[misc]
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.sql = Sql(ctx.storage)
        create_tables(self.sql)
        Batches(self.sql).open("bench", "manual", 0)

    async def push(self, start: int, count: int, at_once: int) -> int:
        """Add pages of scattered priorities, `at_once` by one call."""
        queue = Queue(self.sql, Batches(self.sql))
        for first in range(start, start + count, at_once):
            pages = range(first, min(first + at_once, start + count))
            queue.enqueue([build_page(number) for number in pages], f"b{first}", now=first, max_depth=UNLIMITED)
        return queue.depth

    async def pop(self, count: int) -> int:
        """Lease and finish so many pages."""
        queue = Queue(self.sql, Batches(self.sql))
        for _ in range(count):
            entry = queue.lease(0, 60)
            if entry is not None:
                queue.finish(entry, "done", 0)
        return Queue(self.sql, Batches(self.sql)).depth


def build_page(number: int) -> WantedPage:
    return WantedPage(url=f"https://example.com/{number}", priority=number * 7919 % 1500 / 10, trigger="manual")


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        query = dict(parse_qsl(url.query))
        match url.path:
            case "/bench/edge":
                return Response.from_json(await EdgeCache().delete(query["url"]))
            case "/bench/statements":
                return Response.from_json(await self.env.PRELOAD_QUEUE.getByName(query["zone"]).count())
            case "/bench/heap":
                return Response(str(pyodide_js._module.HEAPU8.length))  # noqa: SLF001 - it never shrinks
            case "/bench/push":
                numbers = (int(query[name]) for name in ("start", "count", "at_once"))
                return Response.from_json(await self.env.MEASURED.getByName(query["name"]).push(*numbers))
            case "/bench/pop":
                return Response.from_json(await self.env.MEASURED.getByName(query["name"]).pop(int(query["count"])))
        return await answer_request(open_preload(self.env, self.ctx), self, request, ())

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await open_preload(self.env, self.ctx).cron.run()
