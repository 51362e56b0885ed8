"""Running coroutines in parallel, in the event loop."""

import asyncio
from collections.abc import Awaitable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

T = TypeVar("T")


class Parallel:
    """Implements Concurrency in an event loop, where work runs side by side."""

    async def run_all(self, work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        return await run_in_parallel(work)

    def share(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        return asyncio.ensure_future(work)

    def limit(self, count: int) -> AbstractAsyncContextManager[Any]:
        return asyncio.Semaphore(count)

    async def cancel(self, shared: Iterable[Awaitable[Any]]) -> None:
        tasks = [asyncio.ensure_future(work) for work in shared]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run_in_parallel(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all results in order; the first failure cancels the rest and is raised as it is."""
    first_failure: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(job) for job in work]
    except BaseExceptionGroup as failures:
        first_failure = failures.exceptions[0]
    if first_failure:
        raise first_failure  # outside of the except block, so that it keeps its own cause
    return [task.result() for task in tasks]
