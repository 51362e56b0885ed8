"""Stands for a version that was deployed before: leaves in each Durable Object the tables and rows that it would have left.

POST /BINDING/NAME runs the statements of the body, one on each line, in that object; POST /d1 runs them in the database, and
POST /kv stores the lines of the body, each a key, a space and a value.
"""

from typing import Any
from urllib.parse import unquote, urlsplit

from workers import DurableObject, Response, WorkerEntrypoint

__all__ = ["CompilationObject", "Default", "JobSweeper", "NewsState", "PreloadQueue", "RateLimiter", "RunLock"]


class Past(DurableObject):  # type: ignore[misc]
    async def load(self, statements: str) -> None:
        for statement in statements.splitlines():
            self.ctx.storage.sql.exec(statement).toArray()


class CompilationObject(Past):
    """Keeps nothing."""


class JobSweeper(Past):
    """Keeps nothing but its alarm."""


class NewsState(Past):
    """Of worker-api."""


class PreloadQueue(Past):
    """Of edge-preload, one for each zone."""


class RateLimiter(Past):
    """Of adblock-compiler, one for each client."""


class RunLock(Past):
    """Of the two news Workers with a cron."""


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        binding, _, name = urlsplit(request.url).path[1:].partition("/")
        statements = await request.text()
        if binding == "d1":
            for statement in statements.splitlines():
                await self.env.DB.prepare(statement).run()
        elif binding == "kv":
            for line in statements.splitlines():
                key, _, value = line.partition(" ")
                await self.env.KV.put(key, value)
        else:
            await getattr(self.env, binding).getByName(unquote(name)).load(statements)
        return Response("loaded")
