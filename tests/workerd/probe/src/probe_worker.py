"""Uses every part of the platform once, one route each."""

import asyncio
import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from js import TransformStream, caches
from pyodide.ffi import create_proxy
from workers import DurableObject, Request, Response, WorkerEntrypoint, WorkflowEntrypoint

__all__ = ["Counter", "Default", "Steps"]


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


class Steps(WorkflowEntrypoint):
    """Each run of a step is a line in the KV, so that a test can count them."""

    async def run(self, event: Any, step: Any) -> dict[str, Any]:
        name = event["payload"]["name"]
        tries = {"retries": {"limit": 3, "delay": "100 milliseconds", "backoff": "constant"}}

        async def note(what: str) -> int:
            key = f"steps/{name}/{what}"
            count = int(await self.env.KV.get(key) or 0) + 1
            await self.env.KV.put(key, str(count))
            return count

        @step.do("first")
        async def first() -> dict[str, int]:
            return {"ran": await note("first")}

        @step.do("flaky", config=tries)
        async def flaky() -> dict[str, int]:
            ran = await note("flaky")
            if ran <= event["payload"].get("failures", 0):
                raise RuntimeError("not yet")
            return {"ran": ran}

        @step.do("slow", config=tries)
        async def slow() -> dict[str, int]:
            ran = await note("slow")
            await asyncio.sleep(event["payload"].get("slow_s", 0) if ran == 1 else 0)
            return {"ran": ran}

        return {"first": await first(), "flaky": await flaky(), "slow": await slow()}


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

    async def on_api_workflow(self, id: str, **params: str) -> Any:  # noqa: A002
        numbers = {name: float(value) for name, value in params.items()}
        return str((await self.env.STEPS.create({"id": id, "params": {"name": id, **numbers}})).id)

    async def on_api_workflow_status(self, id: str) -> Any:  # noqa: A002
        status = await (await self.env.STEPS.get(id)).status()
        return {"status": status["status"], "output": status["output"]}

    async def on_api_cache(self, key: str, value: str | None = None) -> Any:
        address = f"http://probe.localhost/cached/{key}"
        if value is not None:
            kept = Response(value, headers={"Cache-Control": "max-age=60"})
            await caches.default.put(address, kept.js_object)
        found = await caches.default.match(address)
        return await found.text() if hasattr(found, "text") else None

    async def on_api_sse(self, pieces: str, gap_ms: str) -> Response:
        stream = TransformStream.new()
        writer = stream.writable.getWriter()

        async def produce() -> None:
            for number in range(int(pieces)):
                await asyncio.sleep(int(gap_ms) / 1000)
                view = create_proxy(f"data: {number}\n\n".encode())
                buffer = view.getBuffer()
                await writer.write(buffer.data.slice())
                buffer.release()
                view.destroy()
            await writer.close()

        self.ctx.waitUntil(produce())
        return Response(stream.readable, headers={"Content-Type": "text/event-stream"})

    async def on_api_rpc(self, left: str, right: str) -> Any:
        return await self.env.PEER.add(int(left), int(right))

    async def on_api_wait_until(self, key: str) -> str:
        async def later() -> None:
            await asyncio.sleep(0.3)
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
