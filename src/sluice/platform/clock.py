"""Time as an argument, so that every feature can be tested at any hour."""

import asyncio
import time


class SystemClock:
    """The platform's own time; in a Worker it stands still between two awaits of I/O."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
