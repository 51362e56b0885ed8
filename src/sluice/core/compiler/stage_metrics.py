"""The metrics of a compilation: duration and line counts of each stage."""

from typing import Annotated, Final, NamedTuple, NotRequired, TypedDict

from sluice.core.doc import Doc

# Of every duration in a reply.
_DURATION: Final = (
    "Milliseconds by the Worker's clock. On Cloudflare that clock is exact at input and output only: in between it may stand still, "
    "or run on and be set back. So a duration there is mostly the time of waiting for sources and storage; it is never less than 0."
)
# Members of replies.
Amount = Annotated[int, Doc(minimum=0)]
Duration = Annotated[int, Doc(_DURATION, minimum=0)]
Millis = Annotated[float, Doc(_DURATION, minimum=0)]


class StageMetrics(TypedDict):
    """One stage of a compilation; `source` is missing if the stage processed the whole list."""

    name: str
    durationMs: Millis
    itemCount: Amount
    inputCount: Amount
    outputCount: Amount
    itemsPerSecond: NotRequired[Amount]
    source: NotRequired[str]


class CompileMetrics(TypedDict):
    """The figures of a benchmark.

    A duration is the time between two readings of the clock. On Cloudflare the clock is exact at input and output only:
    in between it may stand still, or run on and be set back. So a duration there is mostly that of downloads, and never
    less than 0.
    """

    totalDurationMs: Millis
    stages: list[StageMetrics]
    sourceCount: Amount
    ruleCount: Annotated[int, Doc("Lines that were read.", minimum=0)]
    outputRuleCount: Annotated[int, Doc("Lines of the list.", minimum=0)]


class MeasuredStage(NamedTuple):
    """One stage; `source` names the source it belongs to, None for the whole list.

    Sources are read in parallel, so the duration of a stage leaves out the time that another one has taken.
    """

    name: str
    duration_ms: float
    lines_in: int
    lines_out: int
    source: str | None = None

    def as_json(self) -> StageMetrics:
        fields: StageMetrics = {
            "name": self.name,
            "durationMs": round(self.duration_ms, 3),
            "itemCount": self.lines_in,
            "inputCount": self.lines_in,
            "outputCount": self.lines_out,
        }
        if self.duration_ms > 0:
            fields["itemsPerSecond"] = round(self.lines_in / self.duration_ms * 1000)
        if self.source is not None:
            fields["source"] = self.source
        return fields


class Metrics(NamedTuple):
    """All stages in the order in which they ended; `rule_count` lines were read, `output_rule_count` written."""

    total_duration_ms: float
    stages: tuple[MeasuredStage, ...]
    source_count: int
    rule_count: int
    output_rule_count: int

    def as_json(self) -> CompileMetrics:
        return {
            "totalDurationMs": round(self.total_duration_ms, 3),
            "stages": [stage.as_json() for stage in self.stages],
            "sourceCount": self.source_count,
            "ruleCount": self.rule_count,
            "outputRuleCount": self.output_rule_count,
        }
