"""Compiles in an event loop, with each download in a thread of its own."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from sluice.cli.compiling import Work, draw
from sluice.cli.downloads import LIMITS, TIMEOUT_S, read_location
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.events import Emit
from sluice.core.errors import TimedOut

T = TypeVar("T")


def run_in_loop(configuration: Configuration, work: Work[T], emit: Emit) -> T:
    """Run the work with a compiler that reads its sources side by side."""
    compiler = FilterCompiler(
        download=_download, clock=_LoopClock(), draw=draw, limits=LIMITS, emit=emit, max_dropped=None
    )
    return asyncio.run(work(compiler, configuration))


async def _download(location: str) -> bytes:
    try:
        async with asyncio.timeout(TIMEOUT_S + 1):
            return await _run_in_thread(lambda: read_location(location))
    except TimeoutError:
        raise TimedOut(f"the host did not finish within {TIMEOUT_S:g} s") from None


async def _run_in_thread(work: Callable[[], T]) -> T:
    """Return the result of the work; unlike the threads of a pool, this one does not delay the exit of the process."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 (raised again in the caller)
            _post(loop, _fail, future, error)
        else:
            _post(loop, _finish, future, result)

    threading.Thread(target=run, daemon=True).start()
    return await future


def _post(loop: asyncio.AbstractEventLoop, settle: Callable[..., None], *values: object) -> None:
    with suppress(RuntimeError):  # the loop is closed, so no caller waits
        loop.call_soon_threadsafe(settle, *values)


def _finish(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: "asyncio.Future[T]", error: Exception) -> None:
    if not future.done():
        future.set_exception(error)


class _LoopClock:
    """Implements the Clock port with the time of an event loop."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
