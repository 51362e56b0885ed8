"""One seeded scheduler for everything: an event loop with a virtual clock, and the processes whose tasks it runs.

The loop runs one ready handle at a time, and chance chooses which. When nothing is ready the clock moves on to the next timer, so a day
takes no time. Every task belongs to the process that started it, by its context. A process that has been killed never runs
again: no `except` and no `finally` of its tasks, as when an isolate is gone. What ran until then counts: a Durable Object's
writes are atomic until the next await, so storage is whole between any two steps of the loop.
"""

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from contextvars import Context, ContextVar
from random import Random
from typing import Any, TypeVar

Outcome = TypeVar("Outcome")

STEPS = 400_000
STEPS_AT_ONCE = 60_000


class Stuck(Exception):
    """Nothing can ever run again, or the same instant never ends."""


class Died(Exception):
    """The process that was asked is gone."""


class Process:
    """One isolate, one Durable Object, or the world outside: what crashes together."""

    def __init__(self, name: str, kind: str, *, place: str = "") -> None:
        self.name = name
        self.kind = kind
        self.place = place
        self.alive = True
        self.skew_s = 0.0  # of its clock
        self.tasks: list[asyncio.Task[Any]] = []
        # Those who wait for its answers; a dict keeps their order.
        self._callers: dict[asyncio.Future[Any], None] = {}
        self._context = Context()
        self._context.run(_CURRENT.set, self)

    def run(self, work: Callable[[], Outcome]) -> Outcome:
        """Run a function that belongs to this process."""
        return self._context.copy().run(work)

    def spawn(self, work: Coroutine[Any, Any, Outcome]) -> "asyncio.Task[Outcome]":
        return asyncio.get_running_loop().create_task(work, context=self._context.copy())

    async def ask(self, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Return what the work returns that this process does for the caller; raise Died if it dies meanwhile."""
        if not self.alive:
            raise Died(self.name)
        answer: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._callers[answer] = None

        async def run() -> None:
            try:
                result = await work()
            except Exception as error:  # noqa: BLE001 - it is the caller's
                if not answer.done():
                    answer.set_exception(error)
            else:
                if not answer.done():
                    answer.set_result(result)
            finally:
                self._callers.pop(answer, None)

        self.spawn(run())
        return await answer

    def kill(self) -> None:
        """End the process in the middle of whatever it does; its callers hear that it is gone."""
        self.alive = False
        callers, self._callers = list(self._callers), {}
        for answer in callers:
            if not answer.done():
                answer.set_exception(Died(self.name))


OUTSIDE = "outside"
_CURRENT: ContextVar[Process] = ContextVar("process")


def current_process() -> Process:
    return _CURRENT.get()


async def forever() -> Any:
    """Wait for what never comes."""
    await asyncio.get_running_loop().create_future()


class SimulatedLoop(asyncio.BaseEventLoop):
    """A run that takes more than STEPS, or STEPS_AT_ONCE at one instant of the virtual clock, does something for ever."""

    def __init__(self, chance: Random, outside: Process) -> None:
        super().__init__()
        self._chance = chance
        self._now = 0.0
        self._steps_now = 0
        self.steps = 0
        self.outside = outside
        self._processes: dict[Process, None] = {outside: None}
        self._ready: list[asyncio.Handle] = []
        self.after_step: Callable[[], None] = lambda: None
        self.set_task_factory(self._make_task)
        # Futures of dead processes are never looked at.
        self.set_exception_handler(lambda _loop, _context: None)

    def time(self) -> float:
        return self._now

    def _make_task(self, _loop: asyncio.AbstractEventLoop, work: Any, context: Context | None = None) -> Any:
        task = asyncio.Task(work, loop=self, context=context)
        process = context.get(_CURRENT, self.outside) if context else _CURRENT.get(self.outside)
        self._processes[process] = None
        if len(process.tasks) > 200 and len(process.tasks) % 64 == 0:
            process.tasks[:] = [each for each in process.tasks if not each.done()]
        process.tasks.append(task)
        return task

    def _run_once(self) -> None:
        self._move_due_timers()
        if not self._ready:
            if not self._scheduled:  # type: ignore[attr-defined]
                raise Stuck("everything waits, and nothing will ever happen")
            self._now = max(self._now, self._scheduled[0]._when)  # type: ignore[attr-defined]
            self._steps_now = 0
            self._move_due_timers()
        handle = self._take_handle()
        if handle is None or handle._cancelled:
            return
        context: Context = handle._context  # type: ignore[attr-defined]
        if not context.get(_CURRENT, self.outside).alive:
            return
        self.steps += 1
        self._steps_now += 1
        if self._steps_now > STEPS_AT_ONCE or self.steps > STEPS:
            raise Stuck(f"{self.steps} steps, {self._steps_now} of them in one instant")
        handle._run()
        self.after_step()

    def _take_handle(self) -> asyncio.Handle | None:
        ready = self._ready
        if not ready:
            return None
        place = self._chance.randrange(len(ready)) if len(ready) > 1 else 0
        ready[place], ready[-1] = ready[-1], ready[place]
        return ready.pop()

    def _move_due_timers(self) -> None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        while timers and timers[0]._when <= self._now:  # type: ignore[attr-defined]
            handle = heapq.heappop(timers)
            handle._scheduled = False  # type: ignore[attr-defined]
            if not handle._cancelled:
                self._ready.append(handle)

    def _timer_handle_cancelled(self, _handle: asyncio.TimerHandle) -> None:
        """Leave it in the heap: it is dropped when it is due."""

    def _process_events(self, _events: Any) -> None:
        """There are no files to watch."""

    def _write_to_self(self) -> None:
        """There is no other thread."""

    def bury(self) -> None:
        """End what never ended, without letting it do anything: its ports refuse because every process is dead."""
        for process in self._processes:
            process.alive = False
        for process in self._processes:
            for task in process.tasks:
                task._log_destroy_pending = False  # type: ignore[attr-defined]
                coroutine = task.get_coro()
                # A `finally` that awaits is told that nothing comes any more.
                for _ in range(20):
                    with suppress(BaseException):
                        coroutine.close()
                        break
        self._ready.clear()
        self._scheduled.clear()  # type: ignore[attr-defined]
        self.close()
