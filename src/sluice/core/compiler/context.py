"""One compilation under way: what it tells, times and counts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sluice.core.compiler.diagnostics import TracingContext
from sluice.core.compiler.events import Emit
from sluice.core.compiler.metrics import Stage
from sluice.core.compiler.report import Detective, Report
from sluice.core.ports import Clock


@dataclass(slots=True)
class StageCounts:
    """To be filled in by the stage itself."""

    lines_in: int = 0
    lines_out: int = 0


class Session:
    """Shared by everything that takes part in one compilation."""

    def __init__(self, clock: Clock, emit: Emit, tracing: TracingContext, detective: Detective | None = None) -> None:
        self.clock = clock
        self.emit = emit
        self.tracing = tracing
        self.detective = detective
        self.stages: list[Stage] = []
        self.steps: list[Stage] = []
        self._began = clock.now()

    def elapsed_ms(self, since: float | None = None) -> float:
        return (self.clock.now() - (self._began if since is None else since)) * 1000

    @contextmanager
    def stage(self, name: str, source: str | None = None) -> Iterator[StageCounts]:
        """Time the body, unless it fails."""
        began = self.clock.now()
        counts = StageCounts()
        yield counts
        self.stages.append(
            Stage(
                name=name,
                source=source,
                duration_ms=self.elapsed_ms(began),
                lines_in=counts.lines_in,
                lines_out=counts.lines_out,
            )
        )

    def add_step(self, step: Stage) -> None:
        """Count a transformation, which is a stage as well."""
        self.stages.append(step)
        self.steps.append(step)

    def report(self) -> Report:
        return self.detective.report(self.steps) if self.detective else Report(tuple(self.steps))
