"""Uses every part of the platform once, one route each."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import js
from workers import DurableObject, Request, Response, WorkerEntrypoint, WorkflowEntrypoint
from workers.workflows import NonRetryableError

from sluice.core.errors import Invalid, Unavailable
from sluice.core.json_log import JsonLog
from sluice.core.ports import Content
from sluice.platform.analytics import Analytics
from sluice.platform.clock import SystemClock
from sluice.platform.http.conversion import to_response
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.http.sockets import ServerSocket, open_socket
from sluice.platform.storage.kv import KV, WritePacer
from sluice.platform.worker import to_js_object
from sluice.platform.workflows import Steps, Workflows
from sluice.web.sse import SseEvent, stream_events

__all__ = ["Counter", "Default", "Flow"]

WRITES = WritePacer()  # the platform takes one write a second for each key


async def opened(kv: Any, gate: str) -> None:
    """Wait until a test has put something under this key."""
    while await kv.get(gate) is None:  # noqa: ASYNC110 - the test opens it from outside
        await asyncio.sleep(0.05)


class Counter(DurableObject):
    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.sql("CREATE TABLE IF NOT EXISTS seen (name TEXT PRIMARY KEY)")

    def sql(self, text: str, *values: Any) -> list[dict[str, Any]]:
        return self.ctx.storage.sql.exec(text, *values).toArray()  # type: ignore[no-any-return]

    async def add(self, name: str) -> dict[str, Any]:
        self.sql("INSERT OR IGNORE INTO seen VALUES (?)", name)
        return {"names": [row["name"] for row in self.sql("SELECT name FROM seen ORDER BY name")]}

    async def ring(self, key: str, at_ms: int) -> dict[str, Any]:
        await self.ctx.storage.put("key", key)
        await self.ctx.storage.setAlarm(at_ms)
        return {"at_ms": at_ms}

    async def alarm(self) -> None:
        await self.env.KV.put(await self.ctx.storage.get("key"), "rang")


class Flow(WorkflowEntrypoint):
    """Each run of a step is counted in the KV, where a test can read it."""

    async def run(self, event: Any, step: Any) -> dict[str, Any]:
        given = event["payload"]
        steps = Steps(step, NonRetryableError)

        async def count(what: str) -> int:
            key = f"steps/{given['name']}/{what}"
            kv = KV(self.env.KV, SystemClock(), WRITES)
            ran = int(await kv.get_text(key) or 0) + 1
            await kv.put_text(key, str(ran))
            return ran

        async def first() -> dict[str, int]:
            return {"ran": await count("first")}

        async def flaky() -> dict[str, int]:
            ran = await count("flaky")
            if ran <= given.get("failures", 0):
                raise Unavailable("not yet")
            return {"ran": ran}

        async def hopeless() -> None:
            await count("hopeless")
            raise Invalid("never")

        async def slow() -> dict[str, int]:
            ran = await count("slow")
            await self.held(given, ran)
            return {"ran": ran}

        async def do(name: str, work: Callable[[], Awaitable[Any]]) -> Any:
            return await steps.do(name, work, retries=3, delay_s=0.1, backoff="constant", timeout_s=600)

        done = {"first": await do("first", first), "flaky": await do("flaky", flaky), "slow": await do("slow", slow)}
        if "hopeless" in given:
            try:
                await do("hopeless", hopeless)
            except Invalid as error:
                done["hopeless"] = str(error)
        return done

    async def held(self, given: dict[str, Any], ran: int) -> None:
        """Where that is asked for, the first run of a step stands still."""
        if "held" in given and ran == 1:
            await opened(self.env.KV, f"steps/{given['name']}/gate")


class Default(WorkerEntrypoint):
    async def fetch(self, request: Request) -> Response:
        url = urlsplit(request.url)
        handler = getattr(self, "on" + url.path.replace("/", "_"), None)
        if handler is None:
            return Response("no such probe", status=404)
        result = await handler(**dict(parse_qsl(url.query)))
        return result if isinstance(result, Response) else Response.from_json(result)

    async def on_api_greet(self) -> str:
        return str(self.env.GREETING)

    async def on_api_kv(self, key: str, value: str | None = None) -> Any:
        if value is not None:
            await self.env.KV.put(key, value)
        return await self.env.KV.get(key)

    async def on_api_d1(self, name: str, size: str) -> Any:
        statement = self.env.DB.prepare("INSERT OR IGNORE INTO things VALUES (?, ?)")
        await statement.bind(name, int(size)).run()
        return (await self.env.DB.prepare("SELECT * FROM things WHERE name = ?").bind(name).all())["results"]

    async def on_api_r2(self, key: str, value: str | None = None) -> Any:
        if value is not None:
            await self.env.BUCKET.put(key, value.encode())
        found = await self.env.BUCKET.get(key)
        return found and await found.text()

    async def on_api_do(self, object: str, name: str) -> Any:  # noqa: A002
        return await self.env.COUNTER.getByName(object).add(name)

    async def on_api_alarm(self, object: str, key: str, at_ms: str) -> Any:  # noqa: A002
        return await self.env.COUNTER.getByName(object).ring(key, int(at_ms))

    async def on_api_queue(self, key: str, failures: str) -> str:
        await self.env.QUEUE.send({"key": key, "failures": int(failures)})
        return "sent"

    async def on_api_workflow(self, id: str, **params: str) -> str:  # noqa: A002
        numbers = {name: float(value) for name, value in params.items()}
        await Workflows(self.env.FLOW).create(id, {"name": id, **numbers})
        return "created"

    async def on_api_workflow_status(self, id: str) -> Any:  # noqa: A002
        status = await Workflows(self.env.FLOW).status(id)
        return {"status": status.state, "output": status.output}

    async def on_api_cache(self, key: str, value: str | None = None) -> Any:
        address = f"http://probe.localhost/cached/{key}"
        if value is not None:
            kept = (("Cache-Control", "max-age=60"),)
            await EdgeCache().put(address, status=200, headers=kept, content=Content(value.encode()))
        found = await EdgeCache().match(address)
        return found and await js.Response.new(found.content.data).text()

    async def on_api_sse(self, pieces: str, key: str) -> Any:
        """Go on after each piece when the gate KEY/NUMBER is opened."""

        async def produce() -> AsyncIterator[SseEvent]:
            for number in range(int(pieces)):
                yield SseEvent(str(number))
                await opened(self.env.KV, f"{key}/{number}")

        return to_response(stream_events(produce()), self.ctx)

    async def on_api_socket(self, key: str, gate: str = "") -> Any:
        """Repeat what was received, when the gate is open; close when asked to; note in the KV when the client has left."""

        async def echo(socket: ServerSocket) -> None:
            await socket.send_text("welcome")
            async for text in socket:
                if gate:
                    await opened(self.env.KV, gate)
                if text == "close":
                    socket.close(1008, "as you wish")
                elif text == "fail":
                    raise ValueError("a secret detail")
                else:
                    with suppress(ConnectionError):
                        await socket.send_text(text)
            await self.env.KV.put(key, "left")

        return to_response(open_socket(echo, self.ctx).with_header("X-Probe", "socket"), self.ctx)

    async def on_api_analytics(self, text: str) -> list[str]:
        lines: list[str] = []
        log = JsonLog(lambda _level, line: lines.append(line), worker="probe", clock=SystemClock())
        Analytics(self.env.DATASET, log, to_js_object).write("api_request", blobs=[text] * 25, doubles=range(25))
        return lines

    async def on_api_rpc(self, left: str, right: str) -> Any:
        return await self.env.PEER.add(int(left), int(right))

    async def on_api_wait_until(self, key: str) -> str:
        async def later() -> None:
            await opened(self.env.KV, f"{key}/gate")
            await self.env.KV.put(key, "finished")

        self.ctx.waitUntil(later())
        return "replied"

    async def on_api_log(self, text: str) -> str:
        print(text)  # noqa: T201 - what a Worker prints is its log
        return "logged"

    async def on_api_fail(self) -> None:
        raise ValueError("a secret detail")

    async def queue(self, batch: Any, _env: Any, _ctx: Any) -> None:
        for message in batch.messages:
            key = message.body["key"]
            if batch.queue == "probe-dead":
                await self.env.KV.put(f"{key}/dead", json.dumps(message.body))
            elif message.attempts <= message.body["failures"]:
                message.retry()
                continue
            else:
                await self.env.KV.put(f"{key}/done", str(message.attempts))
            message.ack()

    async def scheduled(self, controller: Any, _env: Any, _ctx: Any) -> None:
        await asyncio.sleep(0.2)
        await self.env.KV.put("cron", controller.cron)
