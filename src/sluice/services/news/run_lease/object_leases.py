"""Run leases granted by a Durable Object."""

from dataclasses import dataclass, replace

from sluice.core.ports import Clock, NewId
from sluice.services.news.run_lease.lease import Announcement, LastAnnouncement, RunLease
from sluice.services.news.run_lease.run_lock import RunLock


@dataclass(frozen=True, slots=True)
class ObjectRunLeases:
    """Run leases granted by a Durable Object. `lock` is that of the object."""

    lock: RunLock
    new_token: NewId
    clock: Clock
    lease_s: int

    async def acquire(self) -> RunLease | None:
        """Wait once until the lease of another run expires: a run that crashed no longer renews it."""
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
        await self.lock.announce(lease.token, self._until_ms(), now_ms, announcements)
        for each in announcements:
            last = lease.announced.get(each.key) or LastAnnouncement(0, now_ms, each.was_present)
            lease.announced[each.key] = replace(last, version=each.version)

    async def load_announced(self, key: str) -> str | None:
        return await self.lock.load_announced(key)

    async def release(self, lease: RunLease) -> None:
        await self.lock.release(lease.token)

    async def _try_acquire(self) -> RunLease | int:
        """Return the lease, or the milliseconds until another run's lease expires."""
        token = self.new_token()
        grant = await self.lock.acquire(token, self._now_ms(), self.lease_s * 1000)
        return RunLease(token, grant.announced) if grant.is_granted else grant.wait_ms

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)

    def _until_ms(self) -> int:
        return self._now_ms() + self.lease_s * 1000
