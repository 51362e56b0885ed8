"""The replies about workflows and the health of the sources.

Handlers build plain values; a test holds these models against the replies.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from sluice.services.compiler.http.docs.fields import Count, Duration, Timestamp
from sluice.services.compiler.workflows.events import EventType, WorkflowType
from sluice.services.compiler.workflows.starter import ApiType
from sluice.web.openapi.docs import Absent, CamelReplyModel


class WorkflowStarted(CamelReplyModel):
    """`batchSize`, `configurationsCount` or `sourcesCount` is the amount of work."""

    success: Literal[True]
    message: str
    workflow_id: str
    workflow_type: ApiType
    batch_size: Count | Absent = None
    configurations_count: Count | Literal["default"] | Absent = None
    sources_count: Count | Literal["default"] | Absent = None


class WorkflowStatus(CamelReplyModel):
    """`output` is the result of a completed workflow; its members differ by type."""

    success: Literal[True]
    workflow_id: str
    workflow_type: ApiType | Literal["published-list"]
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
    timestamp: Timestamp
    step: str | Absent = None
    progress: Annotated[int, Field(ge=0, le=100)] | Absent = None
    message: str | Absent = None
    data: dict[str, Any] | Absent = None


class WorkflowEvents(CamelReplyModel):
    """`message` says why there are no events."""

    success: Literal[True]
    workflow_id: str
    workflow_type: WorkflowType | Absent = None
    started_at: Timestamp | Absent = None
    completed_at: Timestamp | Absent = None
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
    avg_duration_ms: Duration | None
    max_duration_ms: Duration | None
    last_run_at: Timestamp


class WorkflowFiguresByType(CamelReplyModel):
    """null for a type without a run."""

    compilation: WorkflowFigures | None
    batch_compilation: WorkflowFigures | None
    cache_warming: WorkflowFigures | None
    health_monitoring: WorkflowFigures | None


class WorkflowMetrics(CamelReplyModel):
    success: Literal[True]
    timestamp: Timestamp
    workflows: WorkflowFiguresByType


class SourceHealth(CamelReplyModel):
    """The result of one check; a status of 0 means that there was no response."""

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
    """The times of the last runs, and for each source by name whether it was healthy; null if it was not checked."""

    timestamps: list[Timestamp]
    source_results: dict[str, list[bool | None]]
    consecutive_failures: Annotated[int, Field(ge=0, description="The highest number of any source.")]


class SourcesReport(CamelReplyModel):
    timestamp: Timestamp
    run_id: str
    results: list[SourceHealth]
    summary: SourcesSummary
    history: SourcesHistory


class LatestHealth(CamelReplyModel):
    """`message` says why there is no report."""

    success: Literal[True]
    data: SourcesReport | None
    message: str | Absent = None
