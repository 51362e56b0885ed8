"""Running coroutines in parallel."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


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
