"""The report of a compilation: line counts of each transformation, and on request every dropped line with its reason."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple, Self, TypedDict

from sluice.core.compiler.dropped_lines import DropCollector, DroppedSourceLine
from sluice.core.compiler.stage_metrics import Amount, MeasuredStage
from sluice.core.doc import Doc

if TYPE_CHECKING:
    from sluice.core.compiler.protection import Protection
    from sluice.core.filters.conflicts import ConflictingRules


class TransformationCount(TypedDict):
    transformation: str
    source: str | None
    linesIn: Amount
    linesOut: Amount
    removed: int


class DroppedLine(TypedDict):
    """A line that was dropped; `via` are the lines that included its file, outermost first."""

    source: str
    file: str
    line: Amount
    via: Sequence[str]
    transformation: str
    text: str
    reason: str


class BlockedDomain(TypedDict):
    """A domain of `domainExclusions`, of `neverBlock` or of a source's address, and the rule that blocks it."""

    domain: str
    rule: str


class RuleConflict(TypedDict):
    """A rule of one source, and its exception of another."""

    rule: str
    source: str
    exception: str
    exceptionSource: str


class DropReport(TypedDict):
    stillBlocked: Annotated[list[BlockedDomain], Doc("Domains that should be open and are not.")]
    protected: Annotated[list[BlockedDomain], Doc("Domains that an added exception opens.")]
    transformations: list[TransformationCount]
    conflicts: Annotated[list[RuleConflict], Doc("The first 10,000.")]
    dropped: list[DroppedLine]
    droppedNotListed: Amount


class CompilationReport(NamedTuple):
    """Every transformation with its counts; `dropped` is None unless requested, `unlisted_count` more are not listed."""

    transformations: tuple[MeasuredStage, ...]
    dropped: tuple[DroppedSourceLine, ...] | None = None
    unlisted_count: int = 0
    protection: "Protection | None" = None  # if domains are excluded or never blocked, or if requested
    conflicts: "tuple[ConflictingRules, ...]" = ()

    @classmethod
    def build(cls, transformations: Iterable[MeasuredStage], drops: DropCollector | None) -> Self:
        """Build the report from what the compilation has recorded."""
        if drops is None:
            return cls(tuple(transformations))
        return cls(tuple(transformations), tuple(drops.lines), drops.unlisted_count, conflicts=tuple(drops.conflicts))

    def as_json(self) -> DropReport:
        """Return a report that was requested."""
        protection = self.protection
        return {
            "stillBlocked": list(protection.still_blocked) if protection else [],
            "protected": list(protection.protected) if protection else [],
            "transformations": [_count_lines(stage) for stage in self.transformations],
            "conflicts": [_describe_conflict(conflict) for conflict in self.conflicts],
            "dropped": [_describe_line(line) for line in self.dropped or ()],
            "droppedNotListed": self.unlisted_count,
        }


def _count_lines(stage: MeasuredStage) -> TransformationCount:
    return {
        "transformation": stage.name,
        "source": stage.source,
        "linesIn": stage.lines_in,
        "linesOut": stage.lines_out,
        "removed": stage.lines_in - stage.lines_out,
    }


def _describe_conflict(conflict: "ConflictingRules") -> RuleConflict:
    return {
        "rule": conflict.rule,
        "source": conflict.source,
        "exception": conflict.exception,
        "exceptionSource": conflict.exception_source,
    }


def _describe_line(line: DroppedSourceLine) -> DroppedLine:
    return {
        "source": line.source,
        "file": line.file,
        "line": line.line,
        "via": line.via,
        "transformation": line.transformation,
        "text": line.text,
        "reason": line.reason,
    }
