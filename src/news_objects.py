"""The Durable Object of the two news Workers that write: it grants the run lease."""

from workers import DurableObject

from sluice.workers.news_leases import open_run_lock

__all__ = ["RunLock"]


class RunLock(DurableObject):  # type: ignore[misc]
    """Each of the two Workers has its own."""

    async def acquire(self, token: str, now_ms: int, lease_ms: int) -> dict[str, int] | None:
        return open_run_lock(self.ctx).acquire(token, now_ms, lease_ms)

    async def announce(self, token: str, version: int, now_ms: int, lease_ms: int) -> None:
        open_run_lock(self.ctx).announce(token, version, now_ms, lease_ms)

    async def release(self, token: str) -> None:
        open_run_lock(self.ctx).release(token)

    async def ping(self) -> bool:
        """Whether the object's database answers."""
        return open_run_lock(self.ctx).is_healthy()
