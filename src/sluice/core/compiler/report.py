"""The report of a compilation: line counts of each transformation, and on request every dropped line with its reason."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Self

from sluice.core.compiler.dropped_lines import DropCollector, DroppedSourceLine
from sluice.core.compiler.metrics import Stage


@dataclass(frozen=True, slots=True)
class CompilationReport:
    """Every transformation with its counts; `dropped` is None unless requested, `unlisted_count` more are not listed."""

    transformations: tuple[Stage, ...]
    dropped: tuple[DroppedSourceLine, ...] | None = None
    unlisted_count: int = 0

    @classmethod
    def build(cls, transformations: Iterable[Stage], drops: DropCollector | None) -> Self:
        """Build the report from what the compilation has recorded."""
        if drops is None:
            return cls(tuple(transformations))
        return cls(tuple(transformations), tuple(drops.lines), drops.unlisted_count)

    def as_json(self) -> dict[str, Any]:
        counts: dict[str, Any] = {"transformations": [_count_lines(stage) for stage in self.transformations]}
        if self.dropped is None:
            return counts
        return {**counts, "dropped": [asdict(line) for line in self.dropped], "droppedNotListed": self.unlisted_count}


def _count_lines(stage: Stage) -> dict[str, Any]:
    counts = {"linesIn": stage.lines_in, "linesOut": stage.lines_out, "removed": stage.lines_in - stage.lines_out}
    return {"transformation": stage.name, "source": stage.source, **counts}
