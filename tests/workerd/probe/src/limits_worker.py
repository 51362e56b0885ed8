"""Goes as far as it is told to: makes one call many times, from every place where a Worker's code runs.

`/call/NAME?times=N&place=PLACE` returns how many calls succeeded and the text of the first error. But for one call, nothing here
goes through the adapters, which avoid the limits.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import js
from workers import DurableObject, Response, WorkerEntrypoint, WorkflowEntrypoint, fetch

from sluice.core.errors import SluiceError
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.http.conversion import to_response
from sluice.platform.http.sockets import ServerSocket, open_socket
from sluice.platform.http.transport import send_request
from sluice.web.sse import SseEvent, stream_events

__all__ = ["Default", "Flow", "Object", "Peer"]

Outcome = dict[str, Any]
Call = Callable[[Any, Outcome], Awaitable[Any]]

OUTCOMES: dict[str, Outcome] = {}  # of events that have no reply


async def call_fetch(_env: Any, options: Outcome) -> None:
    await js.fetch(options["url"])


async def call_sdk_fetch(_env: Any, options: Outcome) -> None:
    await fetch(options["url"])


async def call_guarded_fetch(_env: Any, options: Outcome) -> None:
    try:
        await Fetcher(send_request, AllowedHosts.parse("*")).fetch(options["url"], max_bytes=1000, timeout_s=60)
    except SluiceError as error:
        raise RuntimeError(f"{type(error).__name__}, retryable: {error.retryable}") from error


async def call_cache(_env: Any, _options: Outcome) -> None:
    await js.caches.default.match("http://limits.localhost/nothing")


async def call_kv(env: Any, _options: Outcome) -> None:
    await env.KV.get("nothing")


async def call_kv_bulk(env: Any, _options: Outcome) -> None:
    await env.KV.get([f"nothing/{number}" for number in range(100)])


async def call_r2(env: Any, _options: Outcome) -> None:
    await env.BUCKET.head("nothing")


async def call_object(env: Any, _options: Outcome) -> None:
    await env.OBJECT.getByName("peer").greet()


async def call_service(env: Any, _options: Outcome) -> None:
    await env.PEER.greet()


async def call_d1(env: Any, _options: Outcome) -> None:
    await env.DB.prepare("SELECT 1").all()


async def call_d1_batch(env: Any, options: Outcome) -> None:
    await env.DB.batch([env.DB.prepare("SELECT 1") for _ in range(int(options["size"]))])


async def call_d1_parameters(env: Any, options: Outcome) -> None:
    size = int(options["size"])
    await env.DB.prepare(f"SELECT {','.join('?' * size)}").bind(*[1] * size).all()


async def call_d1_statement(env: Any, options: Outcome) -> None:
    await env.DB.prepare("SELECT 1".ljust(int(options["size"]))).all()


async def call_kv_put(env: Any, options: Outcome) -> None:
    await env.KV.put(options["key"], "value")


async def call_kv_put_in_turns(env: Any, options: Outcome) -> None:
    await env.KV.put(options["key"], "value")
    await env.SAME_KV.put(options["key"], "value")


async def call_kv_delete(env: Any, options: Outcome) -> None:
    await env.KV.delete(options["key"])


async def call_kv_put_slowly(env: Any, options: Outcome) -> None:
    await env.KV.put(options["key"], "value")
    await asyncio.sleep(1.01)


async def call_kv_key(env: Any, options: Outcome) -> None:
    await env.KV.put(options["key"].ljust(int(options["size"]), "k"), "value")


async def call_kv_value(env: Any, options: Outcome) -> None:
    await env.KV.put(options["key"], bytes(int(options["size"])))


async def call_kv_metadata(env: Any, options: Outcome) -> None:
    await env.KV.put(options["key"], "value", {"metadata": "m" * (int(options["size"]) - len('""'))})


async def call_queue(env: Any, options: Outcome) -> None:
    await env.QUEUE.send("m" * (int(options["size"]) - len('""')))


async def call_queue_batch(env: Any, options: Outcome) -> None:
    text = "m" * (int(options["size"]) - len('""'))
    await env.QUEUE.sendBatch([{"body": text} for _ in range(int(options["messages"]))])


async def call_sql_parameters(env: Any, options: Outcome) -> None:
    await env.OBJECT.getByName("peer").add_parameters(int(options["size"]))


async def call_sql_statement(env: Any, options: Outcome) -> None:
    await env.OBJECT.getByName("peer").run_statement(int(options["size"]))


async def call_sql_row(env: Any, options: Outcome) -> None:
    await env.OBJECT.getByName("peer").insert_row(int(options["size"]))


async def call_object_value(env: Any, options: Outcome) -> None:
    await env.OBJECT.getByName("peer").put_value(int(options["size"]))


async def call_nothing(_env: Any, _options: Outcome) -> None:
    """Cost nothing."""


async def call_loop(_env: Any, options: Outcome) -> None:
    """Use the processor for at least so many milliseconds."""
    end = time.perf_counter() + int(options["ms"]) / 1000
    while time.perf_counter() < end:
        pass


CALLS: dict[str, Call] = {
    name.removeprefix("call_"): value for name, value in globals().items() if name.startswith("call_")
}


async def repeat(env: Any, options: Outcome) -> Outcome:
    """Make the call so many times, until the first error."""
    for done in range(int(options["times"])):
        try:
            await CALLS[options["name"]](env, options)
        except Exception as error:  # noqa: BLE001 - its text is the result
            return {"done": done, "error": getattr(error, "message", None) or str(error)}
    return {"done": int(options["times"]), "error": None}


class Peer(WorkerEntrypoint):
    async def greet(self) -> str:
        return "hello"


class Object(DurableObject):
    async def greet(self) -> str:
        return "hello"

    async def repeat(self, options: Outcome) -> Outcome:
        return await repeat(self.env, options)

    async def ring(self, options: Outcome) -> None:
        await self.ctx.storage.put("options", json.dumps(options))
        await self.ctx.storage.setAlarm(1)

    async def alarm(self) -> None:
        options = json.loads(await self.ctx.storage.get("options"))
        OUTCOMES[options["key"]] = await repeat(self.env, options)

    async def add_parameters(self, size: int) -> None:
        self.ctx.storage.sql.exec(f"SELECT {','.join('?' * size)}", *[1] * size).toArray()

    async def run_statement(self, size: int) -> None:
        self.ctx.storage.sql.exec("SELECT 1".ljust(size)).toArray()

    async def insert_row(self, size: int) -> None:
        self.ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS rows (content BLOB)").toArray()
        self.ctx.storage.sql.exec("INSERT INTO rows VALUES (zeroblob(?))", size).toArray()

    async def put_value(self, size: int) -> None:
        await self.ctx.storage.put("value", "v" * size)


class Flow(WorkflowEntrypoint):
    async def run(self, event: Any, step: Any) -> list[Any]:
        options = event["payload"]
        once = {"retries": {"limit": 0, "delay": 0}}
        if "size" in options:
            return [await self.make_result(int(options["size"]), step, once)]

        async def half() -> Outcome:
            return await repeat(self.env, options)

        return [await step.do("first half", config=once)(half)(), await step.do("second half", config=once)(half)()]

    async def make_result(self, size: int, step: Any, config: Outcome) -> Any:
        async def result() -> str:
            return "r" * size

        try:
            return len(await step.do("result", config=config)(result)())
        except Exception as error:  # noqa: BLE001 - its text is the result
            return getattr(error, "message", None) or str(error)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        options = dict(parse_qsl(url.query))
        match url.path.split("/")[1:]:
            case ["call", name] if options.get("place") == "stream":
                return to_response(stream_events(self.stream_outcome({**options, "name": name})), self.ctx)
            case ["call", name] if options.get("place") == "socket":
                return to_response(
                    open_socket(partial(self.send_outcome, {**options, "name": name}), self.ctx), self.ctx
                )
            case ["call", name]:
                reply = await self.call_at({**options, "name": name})
            case ["at-once"]:
                await asyncio.gather(*(js.fetch(options["url"]) for _ in range(int(options["times"]))))
                reply = "all answered"
            case ["outcome"]:
                reply = OUTCOMES.get(options["key"])
            case ["logged"]:
                reply = json.loads(await self.env.LOGS.get(options["key"]) or "null")
            case ["workflow"]:
                reply = await (await self.env.FLOW.get(options["key"])).status()
            case _:
                return Response("no such probe", status=404)
        return Response.from_json(reply)

    async def call_at(self, options: Outcome) -> Any:
        """Make the calls at the place that is asked for; those without a reply leave their outcome in `OUTCOMES`."""
        match options.get("place", "request"):
            case "request":
                return await repeat(self.env, options)
            case "object":
                return await self.env.OBJECT.getByName(options["key"]).repeat(options)
            case "alarm":
                await self.env.OBJECT.getByName(options["key"]).ring(options)
            case "queue":
                await self.env.QUEUE.send(options)
            case "cron":
                OUTCOMES["cron"] = options
            case "background":
                self.ctx.waitUntil(self.leave_outcome(options))
            case "workflow":
                await self.env.FLOW.create({"id": options["key"], "params": options})
        return "begun"

    async def leave_outcome(self, options: Outcome) -> None:
        await asyncio.sleep(0)
        print(options["key"])  # noqa: T201 - what a Worker prints is its log
        OUTCOMES[options["key"]] = await repeat(self.env, options)

    async def stream_outcome(self, options: Outcome) -> AsyncIterator[SseEvent]:
        for _half in range(2):
            yield SseEvent(json.dumps(await repeat(self.env, options)))

    async def send_outcome(self, options: Outcome, socket: ServerSocket) -> None:
        async for _text in socket:
            await socket.send_text(json.dumps(await repeat(self.env, options)))

    async def queue(self, batch: Any, _env: Any, _ctx: Any) -> None:
        for message in batch.messages:
            if isinstance(message.body, dict):
                OUTCOMES[message.body["key"]] = await repeat(self.env, dict(message.body))
            message.ack()

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        options = OUTCOMES["cron"]
        OUTCOMES[options["key"]] = await repeat(self.env, options)
