"""The Durable Object of the two news Workers that write: it grants the run lease."""

from typing import Any

from workers import DurableObject

from sluice.core.remote import Message, answer_calls
from sluice.platform.durable_objects import Sql
from sluice.services.news.run_lease import run_lock

__all__ = ["RunLock"]


class RunLock(DurableObject):  # type: ignore[misc]  # the SDK has no types
    """Grants the run lease. Each of the two Workers has its own."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.lock = run_lock.RunLock(Sql(ctx.storage))

    async def call(self, name: str, message: Message) -> Message:
        return await answer_calls(run_lock.RunLock)(self.lock, name, message)

    async def ping(self) -> bool:
        """Return whether the object's database answers."""
        return await self.lock.is_healthy()
