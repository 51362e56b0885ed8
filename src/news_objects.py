"""The Durable Object of the two news Workers that write: whose turn it is."""

from workers import DurableObject

from sluice.services.news.run_lease.run_lock import RunLock as Lock

__all__ = ["RunLock"]


class RunLock(DurableObject):  # type: ignore[misc]
    """One for each Worker."""

    async def take(self, token: str, now_ms: int, lease_ms: int) -> dict[str, int] | None:
        return Lock(self.ctx.storage).take(token, now_ms, lease_ms)

    async def announce(self, token: str, version: int, now_ms: int, lease_ms: int) -> None:
        Lock(self.ctx.storage).announce(token, version, now_ms, lease_ms)

    async def release(self, token: str) -> None:
        Lock(self.ctx.storage).release(token)

    async def ping(self) -> bool:
        """Whether the object's own database answers."""
        return Lock(self.ctx.storage).answers()
