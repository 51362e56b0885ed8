"""The system clock, which features receive as an argument so that tests can set the time.

One isolate runs one thing at a time, so long work pauses with a sleep of 0. In Pyodide `asyncio.sleep(0)` lets only
tasks of the same isolate's Python run, and a call that arrives meanwhile waits. A sleep of 0 here is a turn of
workerd's own loop. Such pauses are between the slices of a sitemap, the steps of a compilation, and every 256 KB of a
download.
"""

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
