"""Reads the exclusions and inclusions of a configuration, with those from files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sluice.core.compiler.configuration import Filters
from sluice.core.compiler.sources.source_errors import SourceFailed
from sluice.core.compiler.sources.source_reader import SourceReader
from sluice.core.errors import Invalid
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.patterns.work import WorkBudget
from sluice.core.filters.pipeline import LineFilters
from sluice.core.filters.syntax.lines import is_blank, is_comment

if TYPE_CHECKING:
    from sluice.core.filters.patterns.domain_patterns import DomainPattern, DomainPatterns

_MAX_DOMAINS: Final = 100_000  # of one set, with those from files


class PatternReader:
    """Reads pattern sets; equal sets are read and parsed once, and all sets share one budget of work."""

    def __init__(self, reader: SourceReader, reading_limit: int) -> None:
        self._reader = reader
        self._budget = WorkBudget(reading_limit=reading_limit)
        self._cache: dict[tuple[tuple[str, ...], tuple[str, ...]], Patterns | None] = {}
        self.excluded_domains: dict[DomainPattern, None] = {}  # of all sources and of the list

    async def read_filters(self, filters: Filters, never_block: Sequence[str] = ()) -> LineFilters:
        """Return what a source, or the list, leaves out and keeps; the list leaves out what it must never block too."""
        return LineFilters(
            await self._read(filters.exclusions, filters.exclusions_sources),
            await self._read(filters.inclusions, filters.inclusions_sources),
            await self._read_excluded_domains(filters, never_block),
            await self._read_domains(filters.domain_inclusions, filters.domain_inclusions_sources),
        )

    async def _read_excluded_domains(self, filters: Filters, never_block: Sequence[str]) -> "DomainPatterns | None":
        inline = [*filters.domain_exclusions, *never_block]
        domains = await self._read_domains(inline, filters.domain_exclusions_sources)
        if domains:
            self.excluded_domains |= dict.fromkeys(domains.patterns)
        return domains

    async def _read_domains(self, inline: Sequence[str], files: Sequence[str]) -> "DomainPatterns | None":
        if not (inline or files):
            return None
        from sluice.core.filters.patterns.domain_patterns import DomainPatterns  # noqa: PLC0415 - few lists have them

        texts = [*inline, *await self._read_files(files)]
        if len(texts) > _MAX_DOMAINS:
            raise Invalid(
                f"domainExclusions and domainInclusions take at most {_MAX_DOMAINS:,} domains each: use fewer"
            )
        try:
            return DomainPatterns.parse(texts)
        except Invalid as error:  # of a file: those in the configuration were checked before
            raise SourceFailed(", ".join(files), error) from error

    async def _read(self, inline: Sequence[str], files: Sequence[str]) -> Patterns | None:
        """Return None if there is nothing to filter by."""
        key = tuple(inline), tuple(files)
        if key not in self._cache:
            self._cache[key] = self._parse([*inline, *await self._read_files(files)], files)
        return self._cache[key]

    async def _read_files(self, files: Sequence[str]) -> list[str]:
        texts = await self._reader.concurrency.run_all(self._reader.read_patterns(file) for file in files)
        return [line for text in texts for line in text.lines if not is_blank(line) and not is_comment(line)]

    def _parse(self, patterns: Sequence[str], files: Sequence[str]) -> Patterns | None:
        try:
            return Patterns.parse(patterns, self._budget) or None
        except Invalid as error:  # a pattern from a file: those in the configuration were checked before
            raise SourceFailed(", ".join(files), error) from error
