"""Time that passes only when told to, or when somebody sleeps."""

import asyncio


class ManualClock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now
        self.slept: list[float] = []

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Over at once, with the clock moved on."""
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        self._now += seconds
