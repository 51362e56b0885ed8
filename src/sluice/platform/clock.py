"""Time as an argument, so that every feature can be tested at any hour."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What tells the time and lets it pass."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def now_iso(self) -> str:
        """The same moment as RFC 3339 text in UTC."""

    async def sleep(self, seconds: float) -> None:
        """Let the time pass."""


class SystemClock:
    """The platform's own time; in a Worker it stands still between two awaits of I/O."""

    def now(self) -> float:
        return time.time()

    def now_iso(self) -> str:
        return iso(self.now())

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def iso(epoch_s: float) -> str:
    """RFC 3339 in UTC with milliseconds: `2026-11-16T01:34:26.598Z`."""
    return datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
