"""Turns given out by a Durable Object."""

from collections.abc import Callable
from dataclasses import dataclass

from sluice.platform.durable_objects import Stub
from sluice.services.news.run_lease.lease import Turn


@dataclass(frozen=True, slots=True)
class ObjectTurns:
    """`stub` is the object whose class answers with a RunLock."""

    stub: Stub
    new_token: Callable[[], str]
    lease_s: int

    async def take(self, now_ms: int) -> Turn | None:
        token = self.new_token()
        found = await self.stub.take(token, now_ms, self.lease_s * 1000)
        return None if found is None else Turn(token, found["version"], found["announced_at_ms"])

    async def announce(self, turn: Turn, version: int, now_ms: int) -> None:
        await self.stub.announce(turn.token, version, now_ms, self.lease_s * 1000)

    async def release(self, turn: Turn) -> None:
        await self.stub.release(turn.token)
