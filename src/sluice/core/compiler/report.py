"""What became of the lines: counts for each transformation, and on request each dropped line and why it went."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Final

from sluice.core.compiler.metrics import Stage
from sluice.core.compiler.sources.line_origins import OURS, Origins, Places
from sluice.core.filters.pipeline import DroppedLine as Entry

MAX_DROPPED: Final = 100_000  # told one by one; of the rest only how many they are


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedLine:
    """A line of a source that is not in the list: where it stood, what it had become, and why it went.

    `via` are the lines that included its file, outermost first.
    """

    source: str
    file: str
    line: int
    via: tuple[str, ...]
    transformation: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """Every transformation with its counts; `dropped` is None unless asked for, `more` were not kept."""

    steps: tuple[Stage, ...]
    dropped: tuple[DroppedLine, ...] | None = None
    more: int = 0

    def as_json(self) -> dict[str, Any]:
        counts: dict[str, Any] = {"transformations": [_count(step) for step in self.steps]}
        if self.dropped is None:
            return counts
        return {**counts, "dropped": [asdict(line) for line in self.dropped], "droppedNotListed": self.more}


class Detective:
    """Collects dropped lines; those that the compiler itself wrote are nobody's loss."""

    def __init__(self, limit: int = MAX_DROPPED) -> None:
        self.places = Places()
        self.more = 0
        self._limit = limit
        self._lines: list[DroppedLine] = []

    def note(self, entries: Iterable[Entry], origins: Origins) -> None:
        for entry in entries:
            file, number = origins[entry.index]
            if file != OURS:
                self._add(entry, file, number)

    def report(self, steps: Iterable[Stage]) -> Report:
        return Report(tuple(steps), tuple(self._lines), self.more)

    def _add(self, entry: Entry, file: int, number: int) -> None:
        if len(self._lines) >= self._limit:
            self.more += 1
            return
        place = self.places[file]
        self._lines.append(
            DroppedLine(
                source=place.source,
                file=place.file,
                line=number,
                via=place.via,
                transformation=entry.transformation,
                text=entry.text,
                reason=entry.reason,
            )
        )


def _count(step: Stage) -> dict[str, Any]:
    counts = {"linesIn": step.lines_in, "linesOut": step.lines_out, "removed": step.lines_in - step.lines_out}
    return {"transformation": step.name, "source": step.source, **counts}
