"""Runs the adapters' contract over the real bindings: /SUITE/CASE answers "" or the traceback."""

import asyncio
import gzip
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from workers import DurableObject, Response, WorkerEntrypoint, fetch

from contract import run_case
from contract.fetch import Web
from contract.public_cache import Front
from contract.queues import Queue
from contract.sql import Storage
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql, erase_storage
from sluice.platform.http.conversion import to_response
from sluice.platform.http.transport import send_request
from sluice.platform.public_cache import open_public_cache
from sluice.platform.queues import Producer, read_messages
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2
from sluice.web import CachePolicy, Reply, share_reply

__all__ = ["Default", "Store"]

PAGES = "/page/"
RUNS: list[None] = []
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


async def visit(here: str, path: str, *tags: str) -> bool:
    """Ask for a page of this Worker from outside; returns whether the cache in front answered."""
    reply = await fetch(f"{here}{PAGES}{path}?{','.join(tags)}")
    await reply.text()
    return bool(reply.headers["Cf-Cache-Status"] == "HIT")


def count_run() -> Any:
    """Return a shared reply, compressed, that tells how often it was made."""
    RUNS.append(None)
    body = gzip.compress(str(len(RUNS)).encode())
    reply = Reply(200, (("Content-Encoding", "gzip"), ("Content-Type", "text/plain")), body)
    return to_response(share_reply(reply, CachePolicy(60, tags=("counted",))), None)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Response:
        url = urlsplit(request.url)
        if url.path.startswith(PAGES):
            return Response("a page", headers={"Cache-Control": "public, max-age=60", "Cache-Tag": url.query})
        if url.path == "/counted":
            return count_run()
        _, suite, case = url.path.split("/")
        if suite == "sql":
            return Response(await DurableObjects(self.env.STORE).get(case).run(suite, case))
        origin = parse_qs(url.query).get("origin", [""])[0]
        here = f"{url.scheme}://{url.netloc}"
        return Response(await run_case(suite, case, self.subjects(origin, here)[suite]) or "")

    def subjects(self, origin: str, here: str) -> dict[str, Callable[[], Any]]:
        host = urlsplit(origin).netloc
        return {
            "d1": lambda: D1(self.env.DB),
            "fetch": lambda: Web(Fetcher(send_request, AllowedHosts.parse(host)), origin),
            "public_cache": lambda: Front(open_public_cache(self.ctx), partial(visit, here)),
            "kv": lambda: KV(self.env.KV, SystemClock()),
            "queues": lambda: Queue(Producer(self.env.QUEUE), received),
            "r2": lambda: R2(self.env.BUCKET),
        }

    async def queue(self, batch: Any, _env: Any, _ctx: Any) -> None:
        for message in read_messages(batch):
            RECEIVED.append(message.body)
            message.ack()
