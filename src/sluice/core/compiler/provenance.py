"""Where the rules of a compiled list come from: for each line its source, file and line number.

Lines are recorded while a list is compiled, and a rule is looked for when somebody asks. To record is cheap; a detailed
report traces every line through every step, which takes two to four times as long.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sluice.core.compiler.dropped_lines import DroppedSourceLine
from sluice.core.compiler.sources.line_origins import GENERATED, LineOrigins, SourceFiles
from sluice.core.filters.pipeline import NO_OBSERVER, LineFilters, run_to_end, transform_stepwise

_NAME: Final = re.compile(r"[a-z0-9._-]+")
MERGING: Final = frozenset({"Compress", "Deduplicate"})  # transformations that drop a rule for an equal one


class SourcePlace(NamedTuple):
    """One place of a rule: the source's name, the file as the configuration writes it, and the line from 1."""

    source: str
    file: str
    line: int


class Provenance:
    """The origins of all lines of a list behind its header, and of the equal rules that were dropped."""

    def __init__(
        self, files: SourceFiles, origins: LineOrigins, header_lines: int, dropped: Iterable[DroppedSourceLine]
    ) -> None:
        self._files = files
        self._origins = origins
        self._header_lines = header_lines
        self._dropped = dropped

    def find_places(self, index: int, text: str) -> list[SourcePlace]:
        """Return every place of the rule at an index of the list, in the order of the sources."""
        places = [
            SourcePlace(line.source, line.file, line.line)
            for line in self._dropped
            if line.text == text and line.transformation in MERGING
        ]
        if (found := self.find_origin(index)) is not None:
            file, number = found
            places.append(SourcePlace(self._files[file].source, self._files[file].file, number))
        return places

    def find_origin(self, index: int) -> tuple[int, int] | None:
        """Return the number of the file, and the line, of the rule at an index; None if no source has it."""
        file, number = self._origins[index - self._header_lines] if index >= self._header_lines else (GENERATED, 0)
        return None if file == GENERATED else (file, number)


class RecordedSource(NamedTuple):
    """The lines of a source as they were read, where each stood, and what was done with them."""

    lines: list[str]
    origins: LineOrigins
    names: Sequence[str]
    filters: LineFilters


class RecordedLines:
    """The lines of all sources, to be searched for a rule when somebody asks; the compilation itself stays as fast as it is."""

    def __init__(
        self, files: SourceFiles, sources: Sequence[RecordedSource], names: Sequence[str], filters: LineFilters
    ) -> None:
        self._files = files
        self._sources = sources
        self._names = names
        self._filters = filters

    def find_places(self, text: str) -> list[SourcePlace]:
        """Return every place of a rule, in the order of the sources: transform each line that may have become the rule, and compare."""
        literal = max(_NAME.findall(text.lower()), key=len, default="")
        places: list[SourcePlace] = []
        for source in self._sources:
            for at, line in enumerate(source.lines):
                if (literal in line.lower() or not line.isascii()) and self._becomes(source, line, text):
                    file, number = source.origins[at]
                    origin = self._files[file]
                    places.append(SourcePlace(origin.source, origin.file, number))
        return places

    def _becomes(self, source: RecordedSource, line: str, text: str) -> bool:
        lines = _transform([line], source.names, source.filters)
        return text in _transform(lines, self._names, self._filters)


def _transform(lines: list[str], names: Sequence[str], filters: LineFilters) -> list[str]:
    return run_to_end(transform_stepwise(lines, names, filters, observer=NO_OBSERVER)) if lines else lines
