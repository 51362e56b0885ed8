"""The replies with compiled lists.

Handlers build plain values; a test holds these models against the replies.
"""

from typing import Annotated, Literal

from pydantic import Field

from sluice.services.compiler.http.docs.fields import Count, Millis, Timestamp
from sluice.web.openapi.docs import Absent, CamelReplyModel
from sluice.web.openapi.problem_replies import FieldProblem


class StageMetrics(CamelReplyModel):
    """One stage of a compilation; `source` is missing if the stage processed the whole list."""

    name: str
    duration_ms: Millis
    item_count: Count
    input_count: Count
    output_count: Count
    items_per_second: Count | Absent = None
    source: str | Absent = None


class CompileMetrics(CamelReplyModel):
    """The figures of a benchmark.

    A duration is the time between two readings of the clock. On Cloudflare the clock is exact at input and output only:
    in between it may stand still, or run on and be set back. So a duration there is mostly that of downloads, and never
    less than 0.
    """

    total_duration_ms: Millis
    stages: list[StageMetrics]
    source_count: Count
    rule_count: Annotated[int, Field(ge=0, description="Lines that were read.")]
    output_rule_count: Annotated[int, Field(ge=0, description="Lines of the list.")]


class TransformationCount(CamelReplyModel):
    transformation: str
    source: str | None
    lines_in: Count
    lines_out: Count
    removed: int


class DroppedLine(CamelReplyModel):
    """A line that was dropped; `via` are the lines that included its file, outermost first."""

    source: str
    file: str
    line: Count
    via: list[str]
    transformation: str
    text: str
    reason: str


class BlockedDomain(CamelReplyModel):
    """A domain of `domainExclusions`, of `neverBlock` or of a source's address, and the rule that blocks it."""

    domain: str
    rule: str


class RuleConflict(CamelReplyModel):
    """A rule of one source, and its exception of another."""

    rule: str
    source: str
    exception: str
    exception_source: str


class DropReport(CamelReplyModel):
    still_blocked: Annotated[list[BlockedDomain], Field(description="Domains that should be open and are not.")]
    protected: Annotated[list[BlockedDomain], Field(description="Domains that an added exception opens.")]
    transformations: list[TransformationCount]
    conflicts: Annotated[list[RuleConflict], Field(description="The first 10,000.")]
    dropped: list[DroppedLine]
    dropped_not_listed: Count


class VersionDiff(CamelReplyModel):
    """The difference between two versions, with the first 200 rules of each kind."""

    added: Count
    removed: Count
    unchanged: Count
    added_rules: list[str]
    removed_rules: list[str]


class PreviousVersion(CamelReplyModel):
    rule_count: Count
    compiled_at: Timestamp
    diff: VersionDiff


class FilterList(CamelReplyModel):
    """A compiled list; `report` is present on request, `previousVersion` if there is one."""

    rules: Annotated[list[str], Field(description="The lines of the list, including its header.")]
    rule_count: Count
    metrics: CompileMetrics | Absent = None
    report: DropReport | Absent = None
    previous_version: PreviousVersion | Absent = None
    compiled_at: Timestamp
    cache_key: str


class CompiledList(FilterList):
    """`cached` if the list was in the cache, `deduplicated` if another request compiled it at the same time."""

    success: Literal[True]
    cached: Literal[True] | Absent = None
    deduplicated: Literal[True] | Absent = None


class BatchItemList(CompiledList):
    id: str


class ValidationReply(CamelReplyModel):
    """Every invalid field; none if the configuration is valid."""

    success: Literal[True]
    valid: bool
    errors: list[FieldProblem]


class BatchItemError(CamelReplyModel):
    id: str
    success: Literal[False]
    error: str
    status: Annotated[int, Field(description="The status that the same request would have had alone.")]
    errors: list[FieldProblem] | Absent = None


class BatchReply(CamelReplyModel):
    success: Literal[True]
    results: Annotated[list[BatchItemList | BatchItemError], Field(description="In the order of the requests.")]
