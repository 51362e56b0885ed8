"""How the parts of a compilation run: side by side in an event loop, or one after another, which needs none.

To import asyncio takes longer than to compile a short list. So files are compiled without an event loop
(`Sequential`), and whatever is downloaded side by side; `cli/compiling.py: run_compiler` chooses.
"""

from collections.abc import Awaitable, Coroutine, Generator, Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Concurrency(Protocol):
    async def run_all(self, work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        """Return all results in order; the first failure ends the rest and is raised as it is."""
        ...

    def share(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        """Return the work in a form that any number of callers may wait for; it is done once."""
        ...

    def limit(self, count: int) -> AbstractAsyncContextManager[Any]:
        """Return a block that so many callers may be in at a time."""
        ...

    async def cancel(self, shared: Iterable[Awaitable[Any]]) -> None:
        """End shared work that nobody waits for any more."""
        ...


class Sequential:
    """Implements Concurrency for work that never waits, such as reading files."""

    async def run_all(self, work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        return [await job for job in work]

    def share(self, work: Coroutine[Any, Any, T]) -> Awaitable[T]:
        return _SharedResult(work)

    def limit(self, _count: int) -> AbstractAsyncContextManager[Any]:
        return nullcontext()

    async def cancel(self, shared: Iterable[Awaitable[Any]]) -> None:
        """Do nothing: what was begun has ended."""


class _SharedResult(Generic[T]):
    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._is_begun = False
        self._results: list[T] = []
        self._failure: Exception | None = None

    def __await__(self) -> Generator[Any, None, T]:
        if not self._is_begun:
            self._is_begun = True
            try:
                self._results.append((yield from self._work.__await__()))
            except Exception as error:
                self._failure = error
                raise
        if self._failure:
            raise self._failure
        return self._results[0]


def run_without_loop(work: Coroutine[Any, Any, T]) -> T:
    """Run work that never waits, and return its result. To import asyncio takes a tenth of a short run."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError("the work waits for an event loop: run it with asyncio")


def event_loop_concurrency() -> Concurrency:
    """Return the concurrency of an event loop."""
    from sluice.core.parallel import Parallel  # noqa: PLC0415 - delays the start of the command line

    return Parallel()
