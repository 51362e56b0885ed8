"""Answers the probe's RPC calls and keeps its tail events where a test can read them."""

import json
from typing import Any

from workers import Response, WorkerEntrypoint

__all__ = ["Calculator", "Default"]


class Calculator(WorkerEntrypoint):
    async def add(self, left: int, right: int) -> dict[str, int]:
        return {"sum": left + right}


class Default(WorkerEntrypoint):
    async def fetch(self, _request: Any) -> Response:
        return Response("peer")

    async def tail(self, events: list[Any], _env: Any = None, _ctx: Any = None) -> None:
        for event in events:
            for log in event.logs:
                text = " ".join(map(str, log.message))
                if text.startswith("tail me "):
                    kept = {"script": event.scriptName, "level": log.level, "text": text}
                    await self.env.KV.put(text, json.dumps(kept))
