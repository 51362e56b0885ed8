"""Where the rules of a compiled list come from: for each line its source, file and line number."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sluice.core.compiler.dropped_lines import DroppedSourceLine
from sluice.core.compiler.sources.line_origins import GENERATED, LineOrigins, SourceFiles

MERGING: Final = frozenset({"Compress", "Deduplicate"})  # transformations that drop a rule for an equal one


@dataclass(frozen=True, slots=True)
class Place:
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

    def find_places(self, index: int, text: str) -> list[Place]:
        """Return every place of the rule at an index of the list, in the order of the sources."""
        places = [
            Place(line.source, line.file, line.line)
            for line in self._dropped
            if line.text == text and line.transformation in MERGING
        ]
        if (found := self.find_origin(index)) is not None:
            file, number = found
            places.append(Place(self._files[file].source, self._files[file].file, number))
        return places

    def find_origin(self, index: int) -> tuple[int, int] | None:
        """Return the number of the file, and the line, of the rule at an index; None if no source has it."""
        file, number = self._origins[index - self._header_lines] if index >= self._header_lines else (GENERATED, 0)
        return None if file == GENERATED else (file, number)
