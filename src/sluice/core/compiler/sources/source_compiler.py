"""Compiles one source: reads it and applies its own filters and transformations."""

from typing import TYPE_CHECKING, Final

from sluice.core.compiler import events
from sluice.core.compiler.configuration import Configuration, Source
from sluice.core.compiler.context import CompilationContext
from sluice.core.compiler.credits import read_credits
from sluice.core.compiler.limits import ListTooLarge
from sluice.core.compiler.sources.line_buffer import LineBuffer
from sluice.core.compiler.sources.line_origins import LineOrigins
from sluice.core.compiler.sources.locations import format_location
from sluice.core.compiler.sources.pattern_reader import PatternReader
from sluice.core.compiler.sources.source_errors import SourceFailed
from sluice.core.compiler.sources.source_reader import SourceReader
from sluice.core.compiler.transformation_pipeline import TransformationPipeline
from sluice.core.errors import SluiceError
from sluice.core.filters.pipeline import LineFilters

if TYPE_CHECKING:
    from sluice.core.compiler.provenance import RecordedSource

DOWNLOAD: Final = "download"  # the stage that reads a source


class SourceCompiler:
    """Compiles sources, one at a time or in parallel, and emits their progress."""

    def __init__(
        self,
        context: CompilationContext,
        reader: SourceReader,
        patterns: PatternReader,
        configuration: Configuration,
    ) -> None:
        self._context = context
        self._reader = reader
        self._patterns = patterns
        self._total = len(configuration.sources)
        self._later = configuration.transformations
        self._read_count = 0

    async def compile(self, source: Source, index: int) -> LineBuffer:
        """Return the source's lines after its own filters and transformations."""
        label = format_location(source.label)
        with self._context.tracing.operation("compileSource", source=label, index=index) as operation:
            try:
                text = await self._transform(source, index, await self._read(source, index))
            except ListTooLarge:
                raise
            except SluiceError as error:
                self._context.emit(events.source_error(source, index, self._total, error))
                if isinstance(error, SourceFailed):
                    raise
                raise SourceFailed(source.label, error) from error
            operation.output["ruleCount"] = len(text.lines)
            return text

    async def _read(self, source: Source, index: int) -> LineBuffer:
        context = self._context
        context.emit(events.source_start(source, index, self._total))
        started_at = context.clock.now()
        location = format_location(source.source)
        with (
            context.tracing.operation("downloadSource", "download", source=location) as operation,
            context.stage(DOWNLOAD, source.label) as stage,
        ):
            text = await self._reader.read_list(source.source, source.label)
            operation.output["lineCount"] = stage.lines_in = stage.lines_out = len(text.lines)
        context.credits[index] = read_credits(text.lines)
        self._read_count += 1
        duration_ms = round(context.elapsed_ms(started_at))
        context.emit(
            events.source_complete(source, index, self._total, rule_count=len(text.lines), duration_ms=duration_ms)
        )
        message = f"Read {format_location(source.label)}"
        context.emit(events.progress("sources", self._read_count, self._total, message))
        return text

    async def _transform(self, source: Source, index: int, text: LineBuffer) -> LineBuffer:
        filters = await self._patterns.read_filters(source)
        if self._context.records is not None and text.origins is not None:
            self._context.records[index] = _record(source, text, filters)
        if not (source.transformations or filters):
            return text
        pipeline = TransformationPipeline(self._context, source.label, self._later)
        return await pipeline.apply_all(text, source.transformations, filters)


def _record(source: Source, text: LineBuffer, filters: LineFilters) -> "RecordedSource":
    from sluice.core.compiler.provenance import RecordedSource  # noqa: PLC0415 - few compilations record their sources

    origins, text.origins = text.origins or LineOrigins(), None
    return RecordedSource(list(text.lines), origins, source.transformations, filters)
