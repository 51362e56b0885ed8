"""Run leases granted by a Durable Object."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Protocol

from sluice.core.ports import NewId
from sluice.services.news.run_lease.lease import RunLease


class RemoteRunLock(Protocol):
    """The Durable Object as its callers see it; it answers with a `RunLock`."""

    def acquire(self, token: str, now_ms: int, lease_ms: int) -> Awaitable[dict[str, int] | None]: ...
    def announce(self, token: str, version: int, now_ms: int, lease_ms: int) -> Awaitable[None]: ...
    def release(self, token: str) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class ObjectRunLeases:
    lock: RemoteRunLock
    new_token: NewId
    lease_s: int

    async def acquire(self, now_ms: int) -> RunLease | None:
        token = self.new_token()
        announced = await self.lock.acquire(token, now_ms, self.lease_s * 1000)
        return None if announced is None else RunLease(token, announced["version"], announced["announced_at_ms"])

    async def announce(self, lease: RunLease, version: int, now_ms: int) -> None:
        await self.lock.announce(lease.token, version, now_ms, self.lease_s * 1000)

    async def release(self, lease: RunLease) -> None:
        await self.lock.release(lease.token)
