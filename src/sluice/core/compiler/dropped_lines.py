"""The source lines that are not in the compiled list: where each stood, and the reason it was dropped."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from sluice.core.compiler.sources.line_origins import GENERATED, LineOrigins, SourceFiles
from sluice.core.filters.pipeline import PipelineDrop

if TYPE_CHECKING:
    from sluice.core.filters.conflicts import ConflictingRules

MAX_DROPPED: Final = 100_000  # listed one by one; the rest is only counted
MAX_CONFLICTS: Final = 10_000


class DroppedSourceLine(NamedTuple):
    """A dropped line: its place in the source, its text when it was dropped, the transformation and the reason.

    `via` are the lines that included its file, outermost first.
    """

    source: str
    file: str
    line: int
    via: tuple[str, ...]
    transformation: str
    text: str
    reason: str


class DropCollector:
    """Collects dropped lines, up to a limit if there is one; lines that the compiler generated itself are left out."""

    def __init__(self, limit: int | None = MAX_DROPPED) -> None:
        self.files = SourceFiles()
        self.lines: list[DroppedSourceLine] = []
        self.unlisted_count = 0
        self.conflicts: list[ConflictingRules] = []
        self._limit = limit

    def collect(self, dropped: Iterable[PipelineDrop], origins: LineOrigins) -> None:
        """Add dropped lines, whose indexes refer to the origins."""
        for at, transformation, text, reason in dropped:
            if origins.files[at] == GENERATED:
                continue
            if self._limit is not None and len(self.lines) >= self._limit:
                self.unlisted_count += 1
                continue
            file = self.files[origins.files[at]]
            place = (file.source, file.file, origins.lines[at], file.via)
            self.lines.append(DroppedSourceLine(*place, transformation, text, reason))

    def collect_conflicts(self, lines: Sequence[str], origins: LineOrigins) -> None:
        """Add the rules whose exceptions come from another source."""
        from sluice.core.filters.conflicts import find_conflicts  # noqa: PLC0415 - only reports list them

        def name_source(at: int) -> str | None:
            file, _ = origins[at]
            return None if file == GENERATED else self.files[file].source

        found = find_conflicts(lines, name_source)
        self.conflicts += found if self._limit is None else islice(found, MAX_CONFLICTS)
