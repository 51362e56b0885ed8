"""One source from its address to its transformed lines."""

from collections.abc import Sequence
from typing import Final

from sluice.core.compiler import events
from sluice.core.compiler.configuration import Filters, Source
from sluice.core.compiler.context import Session
from sluice.core.compiler.sources.failures import SourceFailed, shown
from sluice.core.compiler.sources.source_reader import Library, Text, in_parallel
from sluice.core.compiler.transformation_pipeline import TransformationPipeline
from sluice.core.errors import Invalid, SluiceError
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.syntax.lines import is_blank, is_comment

DOWNLOAD: Final = "download"  # the stage that reads a source


class PatternReader:
    """The patterns of a configuration, with those from files; equal sets are read and prepared once."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._prepared: dict[tuple[tuple[str, ...], tuple[str, ...]], Patterns | None] = {}

    async def exclusions(self, filters: Filters) -> Patterns | None:
        return await self._patterns(filters.exclusions, filters.exclusions_sources)

    async def inclusions(self, filters: Filters) -> Patterns | None:
        return await self._patterns(filters.inclusions, filters.inclusions_sources)

    async def _patterns(self, written: Sequence[str], files: Sequence[str]) -> Patterns | None:
        """None where nothing is to be filtered."""
        key = tuple(written), tuple(files)
        if key not in self._prepared:
            texts = await in_parallel(self._library.read(file) for file in files)
            read = [line for text in texts for line in text.lines if not is_blank(line) and not is_comment(line)]
            self._prepared[key] = _prepared([*written, *read], files)
        return self._prepared[key]


def _prepared(patterns: Sequence[str], files: Sequence[str]) -> Patterns | None:
    try:
        return Patterns.parse(patterns) or None
    except Invalid as error:  # those in the configuration were read before
        raise SourceFailed(", ".join(files), error) from error


class SourceCompiler:
    """Compiles sources one at a time or in parallel, telling how it goes."""

    def __init__(self, session: Session, library: Library, patterns: PatternReader, total: int) -> None:
        self._session = session
        self._library = library
        self._patterns = patterns
        self._total = total
        self._read = 0

    async def compile(self, source: Source, index: int) -> Text:
        """The source's lines after its own filters and transformations."""
        with self._session.tracing.operation("compileSource", source=shown(source.label), index=index) as operation:
            try:
                text = await self._transformed(source, await self._downloaded(source, index))
            except SluiceError as error:
                self._session.emit(events.source_error(source, index, self._total, error))
                if isinstance(error, SourceFailed):
                    raise
                raise SourceFailed(source.label, error) from error
            operation.output["ruleCount"] = len(text.lines)
            return text

    async def _downloaded(self, source: Source, index: int) -> Text:
        session = self._session
        session.emit(events.source_start(source, index, self._total))
        began = session.clock.now()
        with (
            session.tracing.operation("downloadSource", "download", source=shown(source.source)) as operation,
            session.stage(DOWNLOAD, source.label) as stage,
        ):
            text = await self._library.read(source.source, source.label)
            operation.output["lineCount"] = stage.lines_in = stage.lines_out = len(text.lines)
        self._read += 1
        duration_ms = round(session.elapsed_ms(began))
        session.emit(
            events.source_complete(source, index, self._total, rule_count=len(text.lines), duration_ms=duration_ms)
        )
        session.emit(events.progress("sources", self._read, self._total, f"Read {shown(source.label)}"))
        return text

    async def _transformed(self, source: Source, text: Text) -> Text:
        exclusions = await self._patterns.exclusions(source)
        inclusions = await self._patterns.inclusions(source)
        if not (source.transformations or exclusions or inclusions):
            return text
        pipeline = TransformationPipeline(self._session, source.label)
        return await pipeline.apply_all(text, source.transformations, exclusions=exclusions, inclusions=inclusions)
