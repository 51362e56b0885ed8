"""What is said of workflows, and of the sources that they check."""

from typing import Any, Literal, NotRequired, TypedDict

from sluice.core.compiler.stage_metrics import Amount
from sluice.core.ports import InstanceState
from sluice.core.timestamps import Timestamp
from sluice.services.compiler.health.store import CheckReport, SourcesHistory
from sluice.services.compiler.workflows.event_log import RunEvents, WorkflowFigures
from sluice.services.compiler.workflows.starter import ApiType
from sluice.web import Reply

WorkflowKind = ApiType | Literal["published-list"]


class WorkflowStarted(TypedDict):
    """`batchSize`, `configurationsCount` or `sourcesCount` is the amount of work."""

    success: Literal[True]
    message: str
    workflowId: str
    workflowType: ApiType
    batchSize: NotRequired[Amount]
    configurationsCount: NotRequired[Amount | Literal["default"]]
    sourcesCount: NotRequired[Amount | Literal["default"]]


class StartedAmount(TypedDict, total=False):
    batchSize: int
    configurationsCount: int | Literal["default"]
    sourcesCount: int | Literal["default"]


class WorkflowStatus(TypedDict):
    """`output` is the result of a completed workflow; its members differ by type."""

    success: Literal[True]
    workflowId: str
    workflowType: WorkflowKind
    status: InstanceState
    output: dict[str, Any] | None
    error: str | None


class WorkflowEvents(RunEvents, TypedDict):
    """`message` says why there are no events."""

    success: Literal[True]


class WorkflowFiguresByType(TypedDict):
    """null for a type without a run."""

    compilation: WorkflowFigures | None
    batchCompilation: WorkflowFigures | None
    cacheWarming: WorkflowFigures | None
    healthMonitoring: WorkflowFigures | None


class WorkflowMetrics(TypedDict):
    success: Literal[True]
    timestamp: Timestamp
    workflows: WorkflowFiguresByType


class SourcesReport(CheckReport, TypedDict):
    history: SourcesHistory


class LatestHealth(TypedDict):
    """`message` says why there is no report."""

    success: Literal[True]
    data: SourcesReport | None
    message: NotRequired[str]


def build_accepted(message: str, kind: ApiType, workflow_id: str, amount: StartedAmount) -> Reply:
    started: WorkflowStarted = {
        "success": True,
        "message": message,
        "workflowId": workflow_id,
        "workflowType": kind,
        **amount,
    }
    return Reply.json(started, 202)
