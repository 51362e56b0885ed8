"""The metrics of a compilation: duration and line counts of each stage."""

from typing import Any, NamedTuple


class Stage(NamedTuple):
    """One stage; `source` names the source it belongs to, None for the whole list.

    Sources are read in parallel, so the duration of a stage leaves out the time that another one has taken.
    """

    name: str
    duration_ms: float
    lines_in: int
    lines_out: int
    source: str | None = None

    def as_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "name": self.name,
            "durationMs": round(self.duration_ms, 3),
            "itemCount": self.lines_in,
            "inputCount": self.lines_in,
            "outputCount": self.lines_out,
        }
        if self.duration_ms > 0:
            fields["itemsPerSecond"] = round(self.lines_in / self.duration_ms * 1000)
        return fields if self.source is None else {**fields, "source": self.source}


class Metrics(NamedTuple):
    """All stages in the order in which they ended; `rule_count` lines were read, `output_rule_count` written."""

    total_duration_ms: float
    stages: tuple[Stage, ...]
    source_count: int
    rule_count: int
    output_rule_count: int

    def as_json(self) -> dict[str, Any]:
        return {
            "totalDurationMs": round(self.total_duration_ms, 3),
            "stages": [stage.as_json() for stage in self.stages],
            "sourceCount": self.source_count,
            "ruleCount": self.rule_count,
            "outputRuleCount": self.output_rule_count,
        }
