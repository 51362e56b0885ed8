"""Parts of the composed compiler whose memory is that of a simulated isolate, and its log."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from simulation.simulation import SimulatedLog, Simulation
from sluice.core.errors import SluiceError
from sluice.core.remote import Message, answer_calls
from sluice.services.compiler.jobs.queue_handler import QueueHandler
from sluice.services.compiler.jobs.queue_stats import PublishThrottle
from sluice.services.compiler.jobs.sweeper import IsolateLife, Sweeper
from sluice.services.compiler.parts import CompilerObject
from sluice.services.compiler.service import CompilerService


class CompilerLog(SimulatedLog):
    """Counts what was done of each job too."""

    def __init__(self, simulation: Simulation) -> None:
        super().__init__(simulation)
        self.done: Counter[str] = Counter()

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        """Note an error; a limiter that does not answer in time is the platform's fault."""
        expected = SluiceError(str(error)) if isinstance(error, TimeoutError) and "rate_limit" in name else error
        super().error(name, expected, **fields)

    def event(self, name: str, /, **fields: object) -> None:
        super().event(name, **fields)
        if name == "job.done":
            self.done[str(fields["request_id"])] += 1


class Service(CompilerService):
    """The service, whose throttles live in its isolate and not in the module."""

    @cached_property
    def queue_handler(self) -> QueueHandler:
        handler = super().queue_handler
        return replace(handler, publisher=replace(handler.publisher, turn=PublishThrottle()))


class Object(CompilerObject):
    @cached_property
    def job_sweeper(self) -> Sweeper:
        return Sweeper(self.jobs, self._own.alarm, self.ports.clock, IsolateLife())


@dataclass
class ObjectClass:
    """An object's class, as `src/compiler_objects.py` has it."""

    calls: type[Any]
    handlers: Any
    on_alarm: Callable[[], Awaitable[None]]

    async def call(self, name: str, message: Message) -> Message:
        return await answer_calls(self.calls)(self.handlers, name, message)

    async def alarm(self) -> None:
        await self.on_alarm()


class Points:
    """Keeps no data points."""

    def write(self, event: str, *, blobs: Sequence[str] = (), doubles: Sequence[float] = ()) -> None:
        """Drop it."""
