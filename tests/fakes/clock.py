"""A clock that advances only by `advance` and `sleep`."""

import asyncio


class ManualClock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Advance the clock and return at once."""
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        self._now += seconds
