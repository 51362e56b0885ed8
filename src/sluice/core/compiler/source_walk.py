"""Reads the sources of a list one after another, so that the lines of one are freed before the next is read."""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.limits import Budget, CompileLimits
from sluice.core.compiler.sources.download import Download
from sluice.core.compiler.sources.line_buffer import LineBuffer
from sluice.core.compiler.sources.line_origins import SourceFiles
from sluice.core.compiler.sources.pattern_reader import PatternReader
from sluice.core.compiler.sources.source_reader import SourceReader
from sluice.core.filters.pipeline import NO_OBSERVER, LineFilters, run_to_end, transform_stepwise


class WalkedSource(NamedTuple):
    """A source as it was read, and what is done with its lines before they join the list."""

    label: str
    text: LineBuffer
    names: Sequence[str]
    filters: LineFilters

    def transform(self, later: Sequence[str]) -> list[str]:
        """Return the lines as they join the list; take them out of the text."""
        work = transform_stepwise(self.text.take(), self.names, self.filters, observer=NO_OBSERVER, later=later)
        return run_to_end(work)


class SourceWalk:
    """One walk through all sources; `files` are those that were read so far."""

    def __init__(self, configuration: Configuration, download: Download, limits: CompileLimits) -> None:
        self.files = SourceFiles()
        self._configuration = configuration
        self._reader = SourceReader(
            download, Budget(limits), content={}, repeated=configuration.repeated_locations, files=self.files
        )
        self._patterns = PatternReader(self._reader, limits.pattern_reading)

    async def read_list_filters(self) -> LineFilters:
        """Return what the list as a whole leaves out and keeps."""
        configuration = self._configuration
        return await self._patterns.read_filters(configuration, configuration.never_blocked_names)

    async def iterate_sources(self) -> AsyncIterator[WalkedSource]:
        try:
            for source in self._configuration.sources:
                text = await self._reader.read_list(source.source, source.label)
                filters = await self._patterns.read_filters(source)
                yield WalkedSource(source.label, text, source.transformations, filters)
                del text
        finally:
            await self._reader.close()
