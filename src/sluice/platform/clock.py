"""The system clock, which features receive as an argument so that tests can set the time."""

import asyncio
import time


class SystemClock:
    """The platform's clock; in a Worker it is exact only at I/O, and may step back: clamp durations (`elapsed_ms`)."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
