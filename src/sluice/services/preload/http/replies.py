"""What edge-preload answers, written down: handlers make plain values, and a test holds these models against them."""

from typing import Annotated, Literal

from pydantic import Field

from sluice.core.preload.breaker import State
from sluice.core.preload.priority import Trigger
from sluice.core.preload.zone_config import ZoneConfig
from sluice.web.openapi.docs import Absent, ReplyModel

EpochS = Annotated[float, Field(description="Seconds since 1970.")]
Count = Annotated[int, Field(ge=0)]
Form = Annotated[str, Field(description="Which form of the page, as in device:mobile; none for the plain one.")]
Priority = Annotated[float, Field(description="The highest is warmed first.")]


class Accepted(ReplyModel):
    preload_batch_id: str
    status: Literal["accepted"]
    enqueued: Annotated[int, Field(description="Pages that wait for this batch, each of their forms counted.")]
    queue_depth: Count


class PurgeAccepted(ReplyModel):
    purge_id: str
    status: Literal["accepted"]
    tags_affected: list[str]
    estimated_completion_ms: Count


class CrawlAccepted(ReplyModel):
    preload_batch_id: str
    status: Literal["accepted"]
    sitemap: str


class Batch(ReplyModel):
    """The progress of a batch: queued and the six ends add up to the total."""

    preload_batch_id: str
    trigger: Trigger
    state: Literal["running", "crawling", "finished"]
    total: Count
    queued: Count
    done: Count
    failed: Count
    gone: Count
    skipped: Count
    dropped: Count
    cancelled: Count
    created_at: EpochS
    finished_at: EpochS | None
    eta_s: Annotated[int | None, Field(description="Until the whole queue is through; null while it stands still.")]


class BreakerTold(ReplyModel):
    """Whether the origin is asked: open means not now, half-open that one page is tried."""

    state: State
    consecutive_failures: Count
    backoff_s: float
    open_until: EpochS | None


class LimitsTold(ReplyModel):
    """How many requests the origin gets at most."""

    concurrency: int
    per_second: int
    per_minute: int


class RatesTold(ReplyModel):
    attempts: Count
    failures: Count
    failure_rate: Annotated[float, Field(ge=0, le=1)]
    mean_latency_ms: float | None
    slowest_latency_ms: float | None


class StatusTold(ReplyModel):
    zone_id: str
    enabled: bool
    paused: bool
    queue_depth: Count
    dead_letters: Count
    in_flight: Count
    breaker: BreakerTold
    limits: LimitsTold
    last_5_minutes: RatesTold
    alerts: Annotated[list[str], Field(description="The kinds of the incidents that are not over.")]
    batches: Annotated[list[Batch], Field(description="The latest first.")]
    note: str


class Registered(ReplyModel):
    version: int
    zone_id: str
    own_signing_key: Annotated[bool, Field(description="Whether the zone signs with a key of its own.")]
    config: ZoneConfig


class Unregistered(ReplyModel):
    zone_id: str
    status: Literal["unregistered"]


class Version(ReplyModel):
    version: int
    created_at: EpochS
    config: ZoneConfig


class Versions(ReplyModel):
    versions: Annotated[list[Version], Field(description="The last 100, the latest first.")]


class ZonesTold(ReplyModel):
    zones: list[str]


class Waiting(ReplyModel):
    """A page as it stands in KV too."""

    url: str
    priority: Priority
    enqueued_at: Annotated[int, Field(description="Seconds since 1970.")]
    trigger: Trigger
    post_id: int | None
    attempt: Annotated[int, Field(ge=0, description="How often it was tried again.")]
    variant: Form | Absent = None


class Band(ReplyModel):
    """Pages whose priority is at least `from` and below `to`; null where there is no such end."""

    low: Annotated[float | None, Field(serialization_alias="from")]
    high: Annotated[float | None, Field(serialization_alias="to")]
    waiting: Count


class QueueTold(ReplyModel):
    by_priority: Annotated[list[Band], Field(description="The highest first.")]
    next: Annotated[list[Waiting], Field(description="The first 20.")]


class DeadLetter(Waiting):
    id: int
    status: Annotated[int | None, Field(description="What the origin answered, if it did.")]
    reason: str
    failed_at: EpochS


class FailedTold(ReplyModel):
    count: Annotated[int, Field(ge=0, description="Of all, not only those listed.")]
    failed: list[DeadLetter]


class Replayed(ReplyModel):
    replayed: Count


class Deleted(ReplyModel):
    deleted: Count


class Learned(ReplyModel):
    learned: Count


class Incident(ReplyModel):
    incident_id: str
    zone_id: str
    kind: Literal["failure_rate", "queue_depth", "breaker_open"]
    level: Literal["warning", "critical"]
    message: str
    raised_at: EpochS
    resolved_at: Annotated[float | None, Field(description="null while it lasts.")]


class AlertsTold(ReplyModel):
    alerts: list[Incident]


class LogLine(ReplyModel):
    """What became of a page; null where it was not asked for."""

    id: int
    event_id: str | None
    zone_id: str
    url: str
    status: Annotated[
        str,
        Field(
            description="warmed, unchanged, edge_only, redirected, skipped, gone, again, retry, failed, queue_overflow, "
            "sitemap_skipped or sitemap_failed."
        ),
    ]
    http_status: int | None
    latency_ms: int | None
    trigger_name: Trigger | None
    attempt: int | None
    detail: str | None
    created_at: Annotated[str, Field(description="A moment as in 2026-01-31T12:00:00.000Z.")]


class LogTold(ReplyModel):
    log: list[LogLine]


class StoredPage(ReplyModel):
    zone_id: str
    url: str
    variant: Annotated[str, Field(description="Which form of the page; empty for the plain one.")]
    key_hash: Annotated[str, Field(description="The name of its copy in R2.")]
    stored_at: EpochS
    fresh_until: EpochS
    size_bytes: Count


class PagesTold(ReplyModel):
    pages: list[StoredPage]
