"""The least Worker that takes a body: the SDK, pydantic and one model. Other Workers are compared with it."""

from pydantic import BaseModel
from workers import WorkerEntrypoint

__all__ = ["Default"]


class Body(BaseModel):
    name: str


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: object) -> object:
        return Body.model_validate(request).name
