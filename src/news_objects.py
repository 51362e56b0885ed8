"""The Durable Object of the two news Workers that write: it grants the run lease."""

from typing import Any

from workers import DurableObject

from sluice.workers.news_leases import open_run_lock

__all__ = ["RunLock"]


class RunLock(DurableObject):  # type: ignore[misc]  # the SDK has no types
    """Each of the two Workers has its own."""

    def __init__(self, ctx: Any, env: Any) -> None:
        super().__init__(ctx, env)
        self.lock = open_run_lock(ctx)

    async def acquire(self, token: str, now_ms: int, lease_ms: int) -> dict[str, Any]:
        return self.lock.acquire(token, now_ms, lease_ms)

    async def renew(self, token: str, until_ms: int) -> None:
        self.lock.renew(token, until_ms)

    async def announce(self, token: str, until_ms: int, announcements: list[dict[str, Any]]) -> None:
        self.lock.announce(token, until_ms, announcements)

    async def recall(self, key: str) -> str | None:
        return self.lock.recall(key)

    async def release(self, token: str) -> None:
        self.lock.release(token)

    async def ping(self) -> bool:
        """Whether the object's database answers."""
        return self.lock.is_healthy()
