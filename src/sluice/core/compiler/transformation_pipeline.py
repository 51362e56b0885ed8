"""Applies the transformations of one source, or of the whole list, and records each as a stage."""

from collections.abc import Sequence
from typing import TypeVar

from sluice.core.compiler import events
from sluice.core.compiler.context import CompilationContext
from sluice.core.compiler.sources.line_buffer import LineBuffer
from sluice.core.compiler.stage_metrics import MeasuredStage
from sluice.core.filters import pipeline
from sluice.core.filters.pipeline import LineFilters

T = TypeVar("T")


class TransformationPipeline:
    """Applies filters and transformations; `source` names the source they belong to, None for the whole list.

    `later` are the transformations that follow for the whole list.
    """

    def __init__(self, context: CompilationContext, source: str | None = None, later: Sequence[str] = ()) -> None:
        self._context = context
        self._source = source
        self._later = later

    async def apply_all(self, text: LineBuffer, names: Sequence[str], filters: LineFilters) -> LineBuffer:
        """Return the lines after all steps; take the lines out of the buffer."""
        async with self._context.processing:
            return await self._apply_all(text, names, filters)

    async def _apply_all(self, text: LineBuffer, names: Sequence[str], filters: LineFilters) -> LineBuffer:
        observer = _StageRecorder(self._context, self._source)
        drops = self._context.drops
        if drops is None or text.origins is None:
            steps = pipeline.transform_stepwise(text.take(), names, filters, observer=observer, later=self._later)
            return LineBuffer(await self._run_with_pauses(steps))
        trace = await self._run_with_pauses(
            pipeline.trace_stepwise(text.take(), names, filters, observer=observer, later=self._later)
        )
        drops.collect(trace.dropped, text.origins)
        return LineBuffer(trace.lines, text.origins.select(trace.origins))

    async def _run_with_pauses(self, steps: pipeline.Stepwise[T]) -> T:
        """Run the steps with a pause between them, in which events are sent, other requests get their turn, and a Worker's clock advances."""
        while True:
            try:
                next(steps)
            except StopIteration as end:
                outcome: T = end.value
                return outcome
            await self._context.clock.sleep(0)


class _StageRecorder:
    def __init__(self, context: CompilationContext, source: str | None) -> None:
        self._context = context
        self._source = source
        self._started_at = context.clock.now()

    def on_step_start(self, name: str, count: int) -> None:
        self._started_at = self._context.clock.now()
        self._context.emit(events.transformation_start(name, count))

    def on_step_complete(self, name: str, count_in: int, count_out: int) -> None:
        duration_ms = self._context.end_stage_ms(self._started_at)
        self._context.add_transformation(
            MeasuredStage(
                name=name, source=self._source, duration_ms=duration_ms, lines_in=count_in, lines_out=count_out
            )
        )
        self._context.emit(events.transformation_complete(name, count_in, count_out, round(duration_ms)))
