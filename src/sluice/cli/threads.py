"""Runs blocking work in a thread beside the event loop."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


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
