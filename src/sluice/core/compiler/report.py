"""The report of a compilation: line counts of each transformation, and on request every dropped line with its reason."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from sluice.core.compiler.dropped_lines import DropCollector, DroppedSourceLine
from sluice.core.compiler.metrics import Stage

if TYPE_CHECKING:
    from sluice.core.compiler.protection import Protection
    from sluice.core.filters.conflicts import Conflict


class CompilationReport(NamedTuple):
    """Every transformation with its counts; `dropped` is None unless requested, `unlisted_count` more are not listed."""

    transformations: tuple[Stage, ...]
    dropped: tuple[DroppedSourceLine, ...] | None = None
    unlisted_count: int = 0
    protection: "Protection | None" = None  # if domains are excluded or never blocked, or if requested
    conflicts: "tuple[Conflict, ...]" = ()

    @classmethod
    def build(cls, transformations: Iterable[Stage], drops: DropCollector | None) -> Self:
        """Build the report from what the compilation has recorded."""
        if drops is None:
            return cls(tuple(transformations))
        return cls(tuple(transformations), tuple(drops.lines), drops.unlisted_count, conflicts=tuple(drops.conflicts))

    def as_json(self) -> dict[str, Any]:
        counts: dict[str, Any] = {
            **self._describe_protection(),
            "transformations": [_count_lines(stage) for stage in self.transformations],
        }
        if self.dropped is None:
            return counts
        counts["conflicts"] = [conflict.as_json() for conflict in self.conflicts]
        return {**counts, "dropped": [line._asdict() for line in self.dropped], "droppedNotListed": self.unlisted_count}

    def _describe_protection(self) -> dict[str, Any]:
        if self.protection is None:
            return {}
        return {
            "stillBlocked": [blocked.as_json() for blocked in self.protection.still_blocked],
            "protected": [blocked.as_json() for blocked in self.protection.protected],
        }


def _count_lines(stage: Stage) -> dict[str, Any]:
    counts = {"linesIn": stage.lines_in, "linesOut": stage.lines_out, "removed": stage.lines_in - stage.lines_out}
    return {"transformation": stage.name, "source": stage.source, **counts}
