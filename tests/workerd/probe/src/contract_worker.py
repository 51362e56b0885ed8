"""Runs the adapters' contract over the real bindings: /SUITE/CASE answers "" or the traceback."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from workers import DurableObject, Response, WorkerEntrypoint

from contract import run_case
from contract.fetch import Web
from contract.queues import Queue
from contract.sql import Storage
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql, erase_storage
from sluice.platform.http.transport import send_request
from sluice.platform.queues import Producer, read_messages
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2

__all__ = ["Default", "Store"]

RECEIVED: list[Any] = []  # the queue's consumer runs in the same isolate


class Store(DurableObject):
    """The storage that the cases of "sql" run on, from inside."""

    async def run(self, suite: str, case: str) -> str:
        storage = self.ctx.storage
        subject = Storage(Sql(storage), Alarm(storage), lambda: erase_storage(storage))
        return await run_case(suite, case, lambda: subject) or ""


async def received(mark: str, count: int) -> list[Any]:
    while len(found := [body for body in RECEIVED if body["mark"] == mark]) < count:  # noqa: ASYNC110 - of another event
        await asyncio.sleep(0.1)
    return found


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Response:
        url = urlsplit(request.url)
        _, suite, case = url.path.split("/")
        if suite == "sql":
            return Response(await DurableObjects(self.env.STORE).get(case).run(suite, case))
        origin = parse_qs(url.query).get("origin", [""])[0]
        return Response(await run_case(suite, case, self.subjects(origin)[suite]) or "")

    def subjects(self, origin: str) -> dict[str, Callable[[], Any]]:
        host = urlsplit(origin).netloc
        return {
            "d1": lambda: D1(self.env.DB),
            "fetch": lambda: Web(Fetcher(send_request, AllowedHosts.parse(host)), origin),
            "kv": lambda: KV(self.env.KV, SystemClock()),
            "queues": lambda: Queue(Producer(self.env.QUEUE), received),
            "r2": lambda: R2(self.env.BUCKET),
        }

    async def queue(self, batch: Any, _env: Any, _ctx: Any) -> None:
        for message in read_messages(batch):
            RECEIVED.append(message.body)
            message.ack()
