"""The system clock, which features receive as an argument so that tests can set the time."""

import asyncio
import time

import js


class SystemClock:
    """The platform's clock; in a Worker it is exact only at I/O, and may step back: clamp durations (`elapsed_ms`)."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        """Wait. With 0 every other call that is due gets its turn; `asyncio.sleep(0)` would only let our own tasks run."""
        if seconds > 0:
            await asyncio.sleep(seconds)
        else:
            await js.scheduler.wait(0)
