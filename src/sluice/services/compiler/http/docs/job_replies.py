"""The replies about background jobs.

Handlers build plain values; a test holds these models against the replies.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from sluice.services.compiler.http.docs.fields import Count, Duration, EpochMs, Timestamp
from sluice.services.compiler.http.docs.list_replies import FilterList
from sluice.services.compiler.jobs.job_store import JobKind, JobState
from sluice.services.compiler.requests import Priority
from sluice.web.openapi.docs import Absent, CamelReplyModel


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
    duration: Duration | None
    timestamp: EpochMs


class JobItem(CamelReplyModel):
    """One list of a batch: its cache key and count, or its error."""

    id: str
    success: bool
    duration_ms: Duration
    rule_count: Count | Absent = None
    cache_key: str | Absent = None
    cached: bool | Absent = None
    error: str | Absent = None


class JobStatus(CamelReplyModel):
    """The status of a job; `results` are the known results of a batch."""

    success: bool
    status: JobState | Literal["cache_miss"]
    job_info: JobInfo
    error: str | Absent = None
    results: list[JobItem] | Absent = None


class DeadLetter(CamelReplyModel):
    """`itemId` names the item of a batch."""

    request_id: str
    item_id: str | Absent = None
    type: JobKind
    config_name: str
    error: str
    attempts: Count
    timestamp: EpochMs


class DeadLetters(CamelReplyModel):
    dead_letters: list[DeadLetter]


class JobList(FilterList):
    """The list of a completed job."""

    success: Literal[True]
    status: Literal["completed"]
    job_info: JobInfo


class JobResult(RootModel[Any]):
    root: JobList | JobStatus


class JobCancelled(CamelReplyModel):
    success: Literal[True]
    message: str
    note: str


class Job(CamelReplyModel):
    """A job without its id, name and result, which only its owner sees."""

    type: Literal["compile", "batch-compile", "cache-warm"]
    priority: Priority
    status: JobState
    rule_count: Count | None
    duration: Duration | None
    attempts: Count
    timestamp: EpochMs


class NamedJob(Job):
    """A job; its id and name are there for the operator's token alone."""

    request_id: str | Absent = None
    config_name: str | Absent = None


class Depth(CamelReplyModel):
    """How many jobs were waiting or running from a time on."""

    timestamp: EpochMs
    depth: Count


class QueueHistory(CamelReplyModel):
    history: Annotated[list[NamedJob], Field(description="The last 50 jobs, the latest first.")]
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
    last_update: Timestamp
