"""The reply that tells how a zone is doing."""

from typing import Annotated, Literal

from pydantic import Field

from sluice.core.preload.circuit_breaker import State
from sluice.services.preload.http.docs.replies import Batch, Count, EpochS
from sluice.web.openapi.docs import ReplyModel


class BreakerReply(ReplyModel):
    """Whether pages are fetched: open means not now, half-open means that one page is tried."""

    state: State
    consecutive_failures: Count
    backoff_s: float
    open_until: EpochS | None


class LimitsReply(ReplyModel):
    """The most requests that the origin gets."""

    concurrency: int
    per_second: int
    per_minute: int


class RatesReply(ReplyModel):
    attempts: Count
    failures: Count
    failure_rate: Annotated[float, Field(ge=0, le=1)]
    mean_latency_ms: float | None
    slowest_latency_ms: float | None


class OriginCheckReply(ReplyModel):
    """One request for the site's first page, sent as pages are warmed."""

    state: Annotated[
        Literal["pending", "reached", "looped", "failed"],
        Field(description="looped: it came back to the Worker, so no page can be warmed without an `origin_url`."),
    ]
    status: Annotated[int | None, Field(description="The status of the origin's reply.")]
    detail: Annotated[str, Field(description="What went wrong, and the way out.")]
    at: EpochS


class AgentStatus(ReplyModel):
    """The site's own plugin: since when it is away, and why; null while it is there, or there is none."""

    away_since: float | None
    reason: str | None


class StatusReply(ReplyModel):
    zone_id: str
    enabled: bool
    paused: bool
    agent: AgentStatus
    queue_depth: Count
    hit_ratio: Annotated[
        float | None,
        Field(ge=0, le=1, description="Visits answered from a copy in the last 24 hours; null without visits."),
    ]
    dead_letters: Count
    in_flight: Count
    breaker: BreakerReply
    limits: LimitsReply
    last_5_minutes: RatesReply
    alerts: Annotated[list[str], Field(description="The kinds of the active incidents.")]
    origin_check: Annotated[
        OriginCheckReply | None, Field(description="The latest since the configuration changed; null without one.")
    ]
    batches: Annotated[list[Batch], Field(description="The latest first.")]
    note: str
