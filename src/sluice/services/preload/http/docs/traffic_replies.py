"""The reply that tells what a zone's cache is worth."""

from typing import Annotated

from pydantic import Field

from sluice.services.preload.http.docs.replies import Count
from sluice.web.openapi.docs import ReplyModel


class LayerReply(ReplyModel):
    visits: Count
    bytes: Count
    mean_ttfb_ms: Annotated[float | None, Field(description="Until the reply began; null without visits.")]


class CoverageReply(ReplyModel):
    """All known pages: stored ones, those that the site or visitors told of, and those that wait for their first copy."""

    pages: Count
    warm: Annotated[int, Field(ge=0, description="With a fresh copy.")]
    stale: Annotated[int, Field(ge=0, description="With a copy that may only serve while a newer one is fetched.")]
    cold: Annotated[int, Field(ge=0, description="Without a copy.")]


class KeepWarmReply(ReplyModel):
    capacity: Annotated[int, Field(ge=0, description="How many pages the limits can keep warm.")]
    is_enough: bool


class TrafficReply(ReplyModel):
    """What the cache is worth. Visits are counted where they are served, and told now and then."""

    zone_id: str
    hours: int
    visits: Count
    hit_ratio: Annotated[float | None, Field(ge=0, le=1, description="Null without visits.")]
    origin_requests_saved: Count
    bytes_saved: Count
    layers: Annotated[
        dict[str, LayerReply],
        Field(
            description="By what answered: edge, r2, shared (another visitor's request), origin, pass (never cached)."
        ),
    ]
    coverage: CoverageReply
    keep_warm: KeepWarmReply
    queue_depth: Count
    dead_letters: Count
