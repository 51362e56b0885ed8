"""Run leases granted by a Durable Object."""

from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sluice.core.ports import Clock, NewId
from sluice.services.news.run_lease.lease import Announced, Announcement, RunLease


class RemoteRunLock(Protocol):
    """The Durable Object as its callers see it; it answers with a `RunLock`."""

    def acquire(self, token: str, now_ms: int, lease_ms: int) -> Awaitable[dict[str, Any]]: ...
    def renew(self, token: str, until_ms: int) -> Awaitable[None]: ...
    def announce(self, token: str, until_ms: int, announcements: list[dict[str, Any]]) -> Awaitable[None]: ...
    def recall(self, key: str) -> Awaitable[str | None]: ...
    def release(self, token: str) -> Awaitable[None]: ...


@dataclass(frozen=True, slots=True)
class ObjectRunLeases:
    lock: RemoteRunLock
    new_token: NewId
    clock: Clock
    lease_s: int

    async def acquire(self) -> RunLease | None:
        """Waits once until the lease of another run expires: a run that crashed no longer renews it."""
        granted = await self._try_acquire()
        if isinstance(granted, RunLease):
            return granted
        await self.clock.sleep(granted / 1000)
        granted = await self._try_acquire()
        return granted if isinstance(granted, RunLease) else None

    async def renew(self, lease: RunLease) -> None:
        await self.lock.renew(lease.token, self._until_ms())

    async def announce(self, lease: RunLease, *announcements: Announcement) -> None:
        now_ms = self._now_ms()
        await self.lock.announce(lease.token, self._until_ms(), [each.as_json(now_ms) for each in announcements])
        for each in announcements:
            last = lease.announced.get(each.key) or Announced(0, now_ms, each.was_present)
            lease.announced[each.key] = replace(last, version=each.version)

    async def recall(self, key: str) -> str | None:
        return await self.lock.recall(key)

    async def release(self, lease: RunLease) -> None:
        await self.lock.release(lease.token)

    async def _try_acquire(self) -> RunLease | int:
        """Returns the lease, or the milliseconds until another run's lease expires."""
        token = self.new_token()
        reply = await self.lock.acquire(token, self._now_ms(), self.lease_s * 1000)
        if not reply["isGranted"]:
            return int(reply["waitMs"])
        announced = {
            key: Announced(row["version"], row["firstAtMs"], bool(row["wasPresent"]))
            for key, row in reply["announced"].items()
        }
        return RunLease(token, announced)

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)

    def _until_ms(self) -> int:
        return self._now_ms() + self.lease_s * 1000
