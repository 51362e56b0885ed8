"""The state that all parts of one compilation share: clock, events, diagnostics, stages and dropped lines."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sluice.core.compiler.credits import Credits
from sluice.core.compiler.diagnostics import TracingContext
from sluice.core.compiler.dropped_lines import DropCollector
from sluice.core.compiler.events import Emit
from sluice.core.compiler.sources.line_origins import SourceFiles
from sluice.core.compiler.stage_metrics import MeasuredStage
from sluice.core.concurrency import Concurrency
from sluice.core.timestamps import elapsed_ms

if TYPE_CHECKING:
    from sluice.core.compiler.provenance import RecordedSource
    from sluice.core.ports import Clock


class StageCounts:
    """Line counts that the body of a stage fills in."""

    def __init__(self) -> None:
        self.lines_in = 0
        self.lines_out = 0


class CompilationContext:
    """Shared by all parts of one compilation; `drops` is None unless dropped lines are to be listed.

    `records` is None unless the lines of the sources are to be kept, to find the origin of rules.
    """

    def __init__(
        self,
        clock: "Clock",
        emit: Emit,
        tracing: TracingContext,
        drops: DropCollector | None = None,
        *,
        concurrency: Concurrency,
        with_records: bool = False,
    ) -> None:
        self.clock = clock
        self.emit = emit
        self.tracing = tracing
        self.drops = drops
        self.records: dict[int, RecordedSource] | None = {} if with_records and drops is None else None
        self.files = drops.files if drops else SourceFiles() if with_records else None
        self.processing = concurrency.limit(1)  # held while lines are transformed, so that the stages do not mix
        self.stages: list[MeasuredStage] = []
        self.transformations: list[MeasuredStage] = []
        self.credits: dict[int, Credits] = {}  # what each source says of itself, by its index
        self._started_at = self._stage_ended_at = clock.now()

    def elapsed_ms(self, since: float | None = None) -> float:
        """Return the milliseconds since a time, by default since the compilation started."""
        return elapsed_ms(self._started_at if since is None else since, self.clock.now())

    def end_stage_ms(self, started_at: float) -> float:
        """Return the milliseconds of a stage that ends now, without those of stages that ended while it ran."""
        duration_ms = self.elapsed_ms(max(started_at, self._stage_ended_at))
        self._stage_ended_at = self.clock.now()
        return duration_ms

    @contextmanager
    def stage(self, name: str, source: str | None = None) -> Iterator[StageCounts]:
        """Time the body and record it as a stage, unless it fails."""
        started_at = self.clock.now()
        counts = StageCounts()
        yield counts
        self.stages.append(
            MeasuredStage(
                name=name,
                source=source,
                duration_ms=self.end_stage_ms(started_at),
                lines_in=counts.lines_in,
                lines_out=counts.lines_out,
            )
        )

    def add_transformation(self, stage: MeasuredStage) -> None:
        """Record a transformation, which is a stage as well."""
        self.stages.append(stage)
        self.transformations.append(stage)
