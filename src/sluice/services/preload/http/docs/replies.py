"""The replies of edge-preload as models, for the API document; a test compares them with real replies."""

from typing import Annotated, Literal

from pydantic import Field

from sluice.core.preload.priority import Trigger
from sluice.core.preload.zone_config import ZoneConfig
from sluice.web.openapi.docs import Absent, ReplyModel

EpochS = Annotated[float, Field(description="Seconds since 1970.")]
Count = Annotated[int, Field(ge=0)]
Variant = Annotated[str, Field(description="The variant of the page, such as device:mobile; absent for the plain one.")]
Priority = Annotated[float, Field(description="The highest is warmed first.")]

# The trigger of a request, or "visit" for a page that a visitor saw before it was stored.
AnyTrigger = Trigger | Literal["visit"]


class Accepted(ReplyModel):
    preload_batch_id: str
    status: Literal["accepted"]
    enqueued: Annotated[int, Field(description="Pages of this batch in the queue; each variant counts.")]
    queue_depth: Count


class PurgeAccepted(ReplyModel):
    purge_id: str
    status: Literal["accepted"]
    tags_affected: list[str]
    estimated_completion_ms: Count


class PurgeProgress(ReplyModel):
    purge_id: str
    state: Annotated[
        Literal["removing", "done"], Field(description="No data centre serves an old copy in either state.")
    ]
    pages_removed: Annotated[int, Field(ge=0, description="Pages whose old copy is gone; each variant counts.")]
    created_at: EpochS
    finished_at: EpochS | None


class AgentReply(ReplyModel):
    zone_id: str
    version: Annotated[int, Field(description="The version of the zone's configuration.")]
    origin_cron_path: str | None
    preload_sitemap_url: str
    away_since: Annotated[float | None, Field(description="Since when the agent is away; null while it is there.")]


class CrawlAccepted(ReplyModel):
    preload_batch_id: str
    status: Literal["accepted"]
    sitemap: str


class Batch(ReplyModel):
    """The progress of a batch: queued and the six results add up to the total."""

    preload_batch_id: str
    trigger: AnyTrigger
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
    eta_s: Annotated[
        int | None, Field(description="Seconds until the whole queue is drained; null while it is not drained.")
    ]


class Registered(ReplyModel):
    version: int
    zone_id: str
    own_signing_key: Annotated[bool, Field(description="Whether the zone has its own signing key.")]
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


class ZonesReply(ReplyModel):
    zones: list[str]


class QueuedPage(ReplyModel):
    """A page in the queue, in the same shape as in KV."""

    url: str
    priority: Priority
    enqueued_at: Annotated[int, Field(description="Seconds since 1970.")]
    trigger: AnyTrigger
    post_id: int | None
    attempt: Annotated[int, Field(ge=0, description="The number of retries.")]
    variant: Variant | Absent = None


class Band(ReplyModel):
    """Pages whose priority is at least `from` and below `to`; null where the band is open."""

    low: Annotated[float | None, Field(serialization_alias="from")]
    high: Annotated[float | None, Field(serialization_alias="to")]
    waiting: Count


class QueueReply(ReplyModel):
    by_priority: Annotated[list[Band], Field(description="The highest first.")]
    next: Annotated[list[QueuedPage], Field(description="The first 20.")]


class DeadLetter(QueuedPage):
    id: int
    status: Annotated[int | None, Field(description="The status of the origin's response; null without one.")]
    reason: str
    failed_at: EpochS
    fails_since: EpochS


class FailedReply(ReplyModel):
    count: Annotated[int, Field(ge=0, description="The number of all, not only of those listed.")]
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
    kind: Literal["failure_rate", "queue_depth", "breaker_open", "warming_loop", "agent_away", "redirect_circle"]
    level: Literal["warning", "critical"]
    message: str
    raised_at: EpochS
    resolved_at: Annotated[float | None, Field(description="null while it is active.")]


class AlertsReply(ReplyModel):
    alerts: list[Incident]


class LogLine(ReplyModel):
    """The result of one page; null where it was not fetched."""

    id: int
    event_id: str | None
    zone_id: str
    url: str
    status: Annotated[
        str,
        Field(
            description="warmed, unchanged, edge_only, redirected, skipped, gone, again, retry, failed, queue_overflow, "
            "sitemap_skipped, sitemap_failed or cron_failed."
        ),
    ]
    http_status: int | None
    latency_ms: int | None
    trigger_name: AnyTrigger | None
    attempt: int | None
    detail: str | None
    created_at: Annotated[str, Field(description="A time such as 2026-01-31T12:00:00.000Z.")]


class LogReply(ReplyModel):
    log: list[LogLine]


class StoredPage(ReplyModel):
    zone_id: str
    url: str
    variant: Annotated[str, Field(description="The variant of the page; empty for the plain one.")]
    key_hash: Annotated[str, Field(description="The hash of its cache key, which names its copy in R2.")]
    stored_at: EpochS
    fresh_until: EpochS
    size_bytes: Count
    indexed_at: EpochS
    seq: Annotated[int, Field(description="The number of the latest purge that was known when the origin was asked.")]
    first_seq: Annotated[int, Field(description="The same of the first copy of this page.")]
    seen_seq: Annotated[int, Field(description="The latest soft purge that has left this copy to be replaced.")]
    renewed_at: Annotated[float | None, Field(description="When it was last found unchanged; null if never.")]


class PagesReply(ReplyModel):
    pages: list[StoredPage]


class RulesReply(ReplyModel):
    """What would happen with a request; the seconds are there if the response may be stored."""

    decision: Annotated[
        Literal["pass", "lookup"], Field(description="Whether only the origin may answer, or a copy too.")
    ]
    detail: Annotated[str, Field(description="The token of the reason; empty when the reply may fill the cache.")]
    reason: str
    url: Annotated[str, Field(description="The canonical URL.")] | Absent = None
    variant: Variant | Absent = None
    cache_key: str | Absent = None
    stored: bool
    stored_reason: str
    ttl_s: int | Absent = None
    stale_while_revalidate_s: int | Absent = None
    stale_if_error_s: int | Absent = None


class ObservedPage(ReplyModel):
    url: str
    variant: Annotated[str, Field(description="The variant of the page; empty for the plain one.")]
    compared: Count
    differing: Count
    differed_at: EpochS | None


class ObservedReply(ReplyModel):
    observed: list[ObservedPage]
