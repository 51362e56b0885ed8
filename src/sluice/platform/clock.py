"""The system clock, which features receive as an argument so that tests can set the time.

One isolate runs one thing at a time, so long work pauses with a sleep of 0. In Pyodide `asyncio.sleep(0)` lets only
tasks of the same isolate's Python run, and a call that arrives meanwhile waits. A sleep of 0 here is a turn of
workerd's own loop. Such pauses are between the slices of a sitemap, the steps of a compilation, and every 256 KB of a
download.
"""

import asyncio
import time
from functools import partial
from types import TracebackType
from typing import Self

import js
from pyodide.ffi import create_proxy


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


class TimeLimit:
    """Raises TimeoutError in its block after some seconds, as `asyncio.timeout` does; its timer ends with the block.

    Pyodide's loop does not stop the timer of a timeout that was not needed: with the request that it belongs to it stays
    until JavaScript collects its garbage. So this is for what every request does.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timeout = asyncio.timeout(None)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        self._expire = create_proxy(partial(self._timeout.reschedule, 0))
        self._timer = js.setTimeout(self._expire, self._seconds * 1000)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        js.clearTimeout(self._timer)
        self._expire.destroy()
        await self._timeout.__aexit__(kind, error, traceback)

    def restart(self, seconds: float) -> None:
        """Put the end off, to so many seconds from now."""
        js.clearTimeout(self._timer)
        self._timer = js.setTimeout(self._expire, seconds * 1000)
