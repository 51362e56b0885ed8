"""Reads the exclusions and inclusions of a configuration, with those from files."""

from collections.abc import Sequence

from sluice.core.compiler.configuration import Filters
from sluice.core.compiler.parallel import run_in_parallel
from sluice.core.compiler.sources.failures import SourceFailed
from sluice.core.compiler.sources.source_reader import SourceReader
from sluice.core.errors import Invalid
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.patterns.work import WorkBudget
from sluice.core.filters.syntax.lines import is_blank, is_comment


class PatternReader:
    """Reads pattern sets; equal sets are read and parsed once, and all sets share one budget of work."""

    def __init__(self, reader: SourceReader, reading_limit: int) -> None:
        self._reader = reader
        self._budget = WorkBudget(reading_limit=reading_limit)
        self._cache: dict[tuple[tuple[str, ...], tuple[str, ...]], Patterns | None] = {}

    async def read_exclusions(self, filters: Filters) -> Patterns | None:
        return await self._read(filters.exclusions, filters.exclusions_sources)

    async def read_inclusions(self, filters: Filters) -> Patterns | None:
        return await self._read(filters.inclusions, filters.inclusions_sources)

    async def _read(self, inline: Sequence[str], files: Sequence[str]) -> Patterns | None:
        """Return None if there is nothing to filter by."""
        key = tuple(inline), tuple(files)
        if key not in self._cache:
            texts = await run_in_parallel(self._reader.read_patterns(file) for file in files)
            from_files = [line for text in texts for line in text.lines if not is_blank(line) and not is_comment(line)]
            self._cache[key] = self._parse([*inline, *from_files], files)
        return self._cache[key]

    def _parse(self, patterns: Sequence[str], files: Sequence[str]) -> Patterns | None:
        try:
            return Patterns.parse(patterns, self._budget) or None
        except Invalid as error:  # a pattern from a file: those in the configuration were checked before
            raise SourceFailed(", ".join(files), error) from error
