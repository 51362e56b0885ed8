"""The replies about the service itself: its endpoints, its usage and its challenge.

Handlers build plain values; a test holds these models against the replies.
"""

from typing import Annotated, Any

from pydantic import Field

from sluice.services.compiler.http.docs.fields import Count, Duration, Timestamp
from sluice.web.openapi.docs import CamelReplyModel


class Catalog(CamelReplyModel):
    name: str
    version: str
    endpoints: dict[str, str]
    transformations: list[str]
    example: dict[str, Any]


class EndpointMetrics(CamelReplyModel):
    count: Count
    success: Count
    failed: Count
    avg_duration: Duration
    errors: Annotated[dict[str, int], Field(description="How often each error occurred.")]


class RequestFigures(CamelReplyModel):
    window: str
    timestamp: Timestamp
    endpoints: dict[str, EndpointMetrics]


class TurnstileConfig(CamelReplyModel):
    site_key: str | None
    enabled: bool
