"""Answers "hello": what the interpreter, the SDK and the local runtime cost without any work."""

from typing import Any

from workers import Response, WorkerEntrypoint

__all__ = ["Default"]


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, _request: Any) -> Any:
        return Response("hello")
