"""What adblock-compiler answers, written down: handlers make plain values, and a test holds these models against them."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, RootModel

from sluice.services.compiler.requests import Priority
from sluice.services.compiler.workflows.events import EventType, WorkflowType
from sluice.services.compiler.workflows.starts import ApiType
from sluice.web import Absent, CamelReplyModel
from sluice.web.openapi.problem_replies import FieldProblem

Moment = Annotated[str, Field(description="A moment as in 2026-01-31T12:00:00.000Z.")]
EpochMs = Annotated[int, Field(description="Milliseconds since 1970.")]
Count = Annotated[int, Field(ge=0)]
Millis = Annotated[float, Field(ge=0, description="Milliseconds.")]
JobState = Literal["queued", "running", "completed", "failed", "cancelled"]


class Catalog(CamelReplyModel):
    name: str
    version: str
    endpoints: dict[str, str]
    transformations: list[str]
    example: dict[str, Any]


class StageMetrics(CamelReplyModel):
    """One stage of a compilation; `source` is missing where it worked on the whole list."""

    name: str
    duration_ms: Millis
    item_count: Count
    input_count: Count
    output_count: Count
    items_per_second: Count | Absent = None
    source: str | Absent = None


class CompileMetrics(CamelReplyModel):
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


class Dropped(CamelReplyModel):
    """A line that is not in the list; `via` are the lines that included its file, outermost first."""

    source: str
    file: str
    line: Count
    via: list[str]
    transformation: str
    text: str
    reason: str


class DropReport(CamelReplyModel):
    transformations: list[TransformationCount]
    dropped: list[Dropped]
    dropped_not_listed: Count


class Diff(CamelReplyModel):
    """How two versions differ; of the rules the first 200 each."""

    added: Count
    removed: Count
    unchanged: Count
    added_rules: list[str]
    removed_rules: list[str]


class PreviousVersion(CamelReplyModel):
    rule_count: Count
    compiled_at: Moment
    diff: Diff


class FilterList(CamelReplyModel):
    """A compiled list; `report` is there when it was asked for, `previousVersion` when one was known."""

    rules: Annotated[list[str], Field(description="The lines of the list, its header included.")]
    rule_count: Count
    metrics: CompileMetrics | Absent = None
    report: DropReport | Absent = None
    previous_version: PreviousVersion | Absent = None
    compiled_at: Moment
    cache_key: str


class Compiled(FilterList):
    """`cached` where the list was there already, `deduplicated` where somebody else's compilation gave it."""

    success: Literal[True]
    cached: Literal[True] | Absent = None
    deduplicated: Literal[True] | Absent = None


class BatchCompiled(Compiled):
    id: str


class Validated(CamelReplyModel):
    """Every field that does not fit, and none when all do."""

    success: Literal[True]
    valid: bool
    errors: list[FieldProblem]


class BatchFailed(CamelReplyModel):
    id: str
    success: Literal[False]
    error: str
    status: Annotated[int, Field(description="The status that the same request would have had on its own.")]
    errors: list[FieldProblem] | Absent = None


class BatchReply(CamelReplyModel):
    success: Literal[True]
    results: Annotated[list[BatchCompiled | BatchFailed], Field(description="In the order of the requests.")]


class JobAccepted(CamelReplyModel):
    success: Literal[True]
    message: str
    note: str
    request_id: str
    batch_size: Count | Absent = None
    priority: Priority


class JobInfo(CamelReplyModel):
    request_id: str
    config_name: str
    priority: Priority
    attempts: Count
    duration: Count | None
    timestamp: EpochMs


class JobItem(CamelReplyModel):
    """One list of a batch: its cache key and count, or its error."""

    id: str
    success: bool
    duration_ms: Count
    rule_count: Count | Absent = None
    cache_key: str | Absent = None
    cached: bool | Absent = None
    error: str | Absent = None


class JobStands(CamelReplyModel):
    """How a job stands; `results` are those of a batch, as far as they are known."""

    success: bool
    status: JobState | Literal["cache_miss"]
    job_info: JobInfo
    error: str | Absent = None
    results: list[JobItem] | Absent = None


class JobList(FilterList):
    """The list of a job that is completed."""

    success: Literal[True]
    status: Literal["completed"]
    job_info: JobInfo


class JobResult(RootModel[Any]):
    model_config = ConfigDict(defer_build=True)

    root: JobList | JobStands


class JobCancelled(CamelReplyModel):
    success: Literal[True]
    message: str
    note: str


class Job(CamelReplyModel):
    request_id: str
    type: Literal["compile", "batch-compile", "cache-warm"]
    priority: Priority
    status: JobState
    config_name: str
    rule_count: Count | None
    duration: Count | None
    cache_key: str | None
    error: str | None
    attempts: Count
    timestamp: EpochMs


class Depth(CamelReplyModel):
    """How many jobs were waiting or running from a moment on."""

    timestamp: EpochMs
    depth: Count


class QueueHistory(CamelReplyModel):
    history: Annotated[list[Job], Field(description="The last 50 jobs, the latest first.")]
    depth_history: Annotated[list[Depth], Field(description="The last 100 changes, the earliest first.")]


class QueueCounts(QueueHistory):
    """The jobs of the last 24 hours; times in milliseconds, the rate for each minute."""

    pending: Count
    processing: Count
    completed: Count
    failed: Count
    cancelled: Count
    enqueued: Count
    processing_rate: Count
    total_processing_time: Count
    average_processing_time: Count
    queue_lag: Count
    unknown_messages: Count
    malformed_messages: Count
    retried_messages: Count
    last_update: Moment


class WorkflowStarted(CamelReplyModel):
    """`batchSize`, `configurationsCount` or `sourcesCount` tells how much there is to do."""

    success: Literal[True]
    message: str
    workflow_id: str
    workflow_type: ApiType
    batch_size: Count | Absent = None
    configurations_count: Count | Literal["default"] | Absent = None
    sources_count: Count | Literal["default"] | Absent = None


class WorkflowStatus(CamelReplyModel):
    """`output` is what the workflow came to, once it is complete; its members differ by type."""

    success: Literal[True]
    workflow_id: str
    workflow_type: ApiType
    status: Literal[
        "queued",
        "running",
        "paused",
        "waiting",
        "waitingForPause",
        "complete",
        "errored",
        "terminated",
        "unknown",
    ]
    output: dict[str, Any] | None
    error: str | None


class WorkflowEvent(CamelReplyModel):
    type: EventType
    workflow_id: str
    workflow_type: WorkflowType
    timestamp: Moment
    step: str | Absent = None
    progress: Annotated[int, Field(ge=0, le=100)] | Absent = None
    message: str | Absent = None
    data: dict[str, Any] | Absent = None


class WorkflowEvents(CamelReplyModel):
    """`message` says why there are none."""

    success: Literal[True]
    workflow_id: str
    workflow_type: WorkflowType | Absent = None
    started_at: Moment | Absent = None
    completed_at: Moment | Absent = None
    progress: Annotated[int, Field(ge=0, le=100)]
    is_complete: bool
    events: list[WorkflowEvent]
    message: str | Absent = None


class WorkflowFigures(CamelReplyModel):
    """The runs of the last 30 days."""

    total_runs: Count
    completed: Count
    failed: Count
    unfinished: Count
    avg_duration_ms: Count | None
    max_duration_ms: Count | None
    last_run_at: Moment


class WorkflowFiguresByType(CamelReplyModel):
    """null where there was no run."""

    compilation: WorkflowFigures | None
    batch_compilation: WorkflowFigures | None
    cache_warming: WorkflowFigures | None
    health_monitoring: WorkflowFigures | None


class WorkflowMetrics(CamelReplyModel):
    success: Literal[True]
    timestamp: Moment
    workflows: WorkflowFiguresByType


class SourceHealth(CamelReplyModel):
    """What one check found; a status of 0 means that there was no answer."""

    name: str
    url: str
    healthy: bool
    status_code: Count
    response_time_ms: Count
    rule_count: Count
    error: str | Absent = None


class SourcesSummary(CamelReplyModel):
    total: Count
    healthy: Count
    unhealthy: Count
    avg_response_time_ms: Count


class SourcesHistory(CamelReplyModel):
    """The last runs of the sources: when they were, and for each source by name whether it was well, null if not asked."""

    timestamps: list[Moment]
    source_results: dict[str, list[bool | None]]
    consecutive_failures: Annotated[int, Field(ge=0, description="The most of any of the sources.")]


class SourcesReport(CamelReplyModel):
    timestamp: Moment
    run_id: str
    results: list[SourceHealth]
    summary: SourcesSummary
    history: SourcesHistory


class LatestHealth(CamelReplyModel):
    """`message` says why there is no report."""

    success: Literal[True]
    data: SourcesReport | None
    message: str | Absent = None


class EndpointMetrics(CamelReplyModel):
    count: Count
    success: Count
    failed: Count
    avg_duration: Annotated[int, Field(ge=0, description="Milliseconds.")]
    errors: Annotated[dict[str, int], Field(description="How often each was told.")]


class RequestFigures(CamelReplyModel):
    window: str
    timestamp: Moment
    endpoints: dict[str, EndpointMetrics]


class TurnstileConfig(CamelReplyModel):
    site_key: str | None
    enabled: bool
