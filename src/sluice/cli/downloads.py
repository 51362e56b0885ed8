"""Reads sources for the command line: a URL from the web, anything else from a file."""

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from sluice.cli.files import read_file
from sluice.core.compiler.limits import Limits
from sluice.core.compiler.sources.charsets import to_utf8
from sluice.core.compiler.sources.locations import is_url
from sluice.core.errors import TimedOut

# Only a protection against accidents, because the machine belongs to the user.
LIMITS: Final = Limits(source_bytes=256_000_000, total_bytes=1_000_000_000, total_lines=20_000_000, includes=10_000)
TIMEOUT_S: Final = 300.0

T = TypeVar("T")


def _read_file(path: str, max_bytes: int) -> bytes:
    return to_utf8(read_file(path, max_bytes=max_bytes), None, max_bytes=max_bytes)


def _read_url(url: str, max_bytes: int) -> bytes:
    from sluice.cli.web_client import read_url  # noqa: PLC0415 - files need no web client, which delays the start

    return read_url(url, max_bytes=max_bytes, timeout_s=TIMEOUT_S)


async def download(location: str) -> bytes:
    """Return the content of a URL or file in UTF-8."""
    max_bytes = LIMITS.source_bytes
    if not is_url(location):
        return await run_in_thread(lambda: _read_file(location, max_bytes))
    try:
        async with asyncio.timeout(TIMEOUT_S + 1):
            return await run_in_thread(lambda: _read_url(location, max_bytes))
    except TimeoutError:
        raise TimedOut(f"the host did not finish within {TIMEOUT_S:g} s") from None


async def run_in_thread(work: Callable[[], T]) -> T:
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


class SystemClock:
    """Implements the Clock port with the system's own time."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
