"""The clock of this machine."""

import asyncio
import time


class SystemClock:
    """Implements the Clock port with the system's own time."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
