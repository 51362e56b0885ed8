"""What the owner of a job sees of it."""

from typing import Literal, NotRequired, TypedDict

from sluice.core.compiler.stage_metrics import Amount, Duration
from sluice.core.timestamps import EpochMs
from sluice.services.compiler.cache.compiled_list import FilterList
from sluice.services.compiler.jobs.dead_letter_store import DeadLetter
from sluice.services.compiler.jobs.job_store import Job, JobState
from sluice.services.compiler.requests import Priority
from sluice.services.compiler.workflows.batch_items import JobItem


class JobAccepted(TypedDict):
    success: Literal[True]
    message: str
    note: str
    requestId: str
    batchSize: NotRequired[Amount]
    priority: Priority


class JobInfo(TypedDict):
    requestId: str
    configName: str
    priority: Priority
    attempts: Amount
    duration: Duration | None
    timestamp: EpochMs


class JobStatus(TypedDict):
    """The status of a job; `results` are the known results of a batch."""

    success: bool
    status: JobState | Literal["cache_miss"]
    jobInfo: JobInfo
    error: NotRequired[str]
    results: NotRequired[list[JobItem]]


class JobHead(TypedDict):
    success: Literal[True]
    status: Literal["completed"]
    jobInfo: JobInfo


class JobList(JobHead, FilterList):
    """The list of a completed job."""


class JobCancelled(TypedDict):
    success: Literal[True]
    message: str
    note: str


class DeadLetters(TypedDict):
    deadLetters: list[DeadLetter]


class BatchSize(TypedDict, total=False):
    batchSize: int


def build_status(job: Job) -> JobStatus:
    is_completed = job.state == "completed"
    status: JobStatus = {"success": is_completed, "status": job.state, "jobInfo": describe_job(job)}
    if job.error and not is_completed:
        status["error"] = job.error
    return status


def describe_job(job: Job) -> JobInfo:
    return {
        "requestId": job.request_id,
        "configName": job.config_name,
        "priority": job.priority,
        "attempts": job.attempts,
        "duration": job.duration_ms,
        "timestamp": job.finished_ms or job.created_ms,
    }
