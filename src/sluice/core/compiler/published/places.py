"""Where each rule of a list stands in its sources, in little memory: only rules that were dropped for an equal one count."""

from array import array
from collections.abc import Iterable, Iterator, Sequence

from sluice.core.compiler.dropped_lines import DropCollector
from sluice.core.compiler.provenance import MERGING, Provenance
from sluice.core.compiler.sources.line_origins import GENERATED, LineOrigins
from sluice.core.filters.pipeline import DroppedLine


class MergedLines(DropCollector):
    """Collects the places of equal rules, and nothing about other dropped lines."""

    def __init__(self, _limit: int | None = None) -> None:
        super().__init__(0)
        self._places: dict[str, array[int]] = {}

    def collect(self, dropped: Iterable[DroppedLine], origins: LineOrigins) -> None:
        for line in dropped:
            file, number = origins[line.index]
            if file != GENERATED and line.transformation in MERGING:
                self._places.setdefault(line.text, array("i")).extend((file, number))

    def collect_conflicts(self, lines: Sequence[str], origins: LineOrigins) -> None:
        """Nobody asks for them here."""

    def find_places(self, text: str) -> Iterator[tuple[int, int]]:
        packed = self._places.get(text, ())
        return zip(packed[::2], packed[1::2], strict=True)


def find_packed_places(merged: MergedLines, provenance: Provenance, index: int, text: str) -> list[tuple[int, int]]:
    """Return the files, by number, and the lines of a rule: of the equal rules that were dropped, and its own."""
    own = provenance.find_origin(index)
    return [*merged.find_places(text), *([own] if own else ())]
