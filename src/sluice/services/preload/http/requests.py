"""The bodies of the API's requests."""

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from sluice.core.preload.caching.freshness import TAG
from sluice.core.preload.priority import Trigger
from sluice.core.preload.queue_entries import MAX_REQUEST_URLS
from sluice.core.preload.request_signing import check_any_key, check_preload_key, check_purge_key
from sluice.core.preload.zone_config import ZONE_ID, check_site_path

MAX_BODY_BYTES: Final = 256 * 1024
MAX_TAGS: Final = 30

ZoneId = Annotated[str, Field(pattern=f"^{ZONE_ID.pattern}$", description="The zone's id.")]
Url = Annotated[str, Field(min_length=1, max_length=2048)]
PreloadKey = Annotated[
    str,
    AfterValidator(check_preload_key),
    Field(description="preload- and a UUID of version 4, kept for a retry."),
]
PurgeKey = Annotated[
    str,
    AfterValidator(check_purge_key),
    Field(description="purge- and a UUID of version 4, kept for a retry."),
]


class PreloadBody(BaseModel):
    """POST /api/v1/preload."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    zone_id: ZoneId
    idempotency_key: PreloadKey
    urls: Annotated[list[Url], Field(min_length=1, max_length=MAX_REQUEST_URLS)]
    priority: Annotated[float, Field(ge=0, le=100)] | None = None
    trigger: Trigger = "manual"


class PurgeTarget(BaseModel):
    """POST /api/v1/zones/:zone/purge: which pages are purged."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    tags: Annotated[list[str], Field(max_length=MAX_TAGS)] = []
    urls: Annotated[list[Url], Field(max_length=MAX_REQUEST_URLS)] = []
    prefixes: Annotated[
        list[Url],
        Field(
            max_length=MAX_REQUEST_URLS,
            description="URLs that are purged with everything below: /blog/ spares /blogroll.",
        ),
    ] = []
    everything: Annotated[bool, Field(alias="global")] = False
    soft: Annotated[bool, Field(description="The old copy may still be served while the origin fails.")] = False

    @field_validator("tags")
    @classmethod
    def _check_tags(cls, tags: list[str]) -> list[str]:
        bad = next((tag for tag in tags if not TAG.fullmatch(tag)), None)
        if bad is not None:
            raise ValueError(f"{bad[:80]!r} is not a tag such as post:123 or template:single")
        return tags

    @model_validator(mode="after")
    def _require_target(self) -> Self:
        if not (self.tags or self.urls or self.prefixes or self.everything):
            raise ValueError("give tags, urls, prefixes or global: true")
        return self


class PurgeBody(PurgeTarget):
    """POST /api/v1/purge."""

    zone_id: ZoneId
    idempotency_key: PurgeKey


class EnqueueBody(BaseModel):
    """POST /api/v1/zones/:zone/enqueue: pages by hand, or everything known with `all`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    urls: Annotated[list[Url], Field(max_length=1000)] = []
    all: bool = False
    priority: Annotated[float, Field(ge=0, le=100)] | None = None
    trigger: Trigger = "manual"

    @model_validator(mode="after")
    def _require_target(self) -> Self:
        if bool(self.urls) == self.all:
            raise ValueError("give urls, or all: true for every known page")
        return self


class SiteBody(BaseModel):
    """What every body for a route of one zone may have."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    zone_id: ZoneId | None = None
    idempotency_key: (
        Annotated[
            str,
            AfterValidator(check_any_key),
            Field(description="A UUID of version 4, kept for a retry; a signed request needs it."),
        ]
        | None
    ) = None


class SitemapBody(SiteBody):
    """POST /api/v1/zones/:zone/sitemap."""

    url: Url | None = None
    trigger: Trigger = "sitemap"


class PageFacts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: Url
    monthly_pageviews: Annotated[int, Field(ge=0, le=10**12)] | None = None
    published_at: Annotated[float, Field(ge=0, le=10**11)] | None = None
    post_id: Annotated[int, Field(ge=0, le=2**53 - 2)] | None = None


class PagesBody(SiteBody):
    """PUT /api/v1/zones/:zone/pages: what analytics and the site know about pages. A field that is left out stays as it is."""

    pages: Annotated[list[PageFacts], Field(min_length=1, max_length=500)]


class AgentBody(SiteBody):
    """PUT /api/v1/zones/:zone/agent: what a site may set in its own configuration. A field that is left out stays as it is."""

    origin_cron_path: Annotated[str, Field(max_length=512)] | None = None
    preload_sitemap_url: Annotated[str, Field(max_length=2048)] | None = None
    presence_path: (
        Annotated[
            str,
            Field(max_length=512, description="Where the site answers with X-Sluice-Agent while its agent is there."),
            AfterValidator(check_site_path),
        ]
        | None
    ) = None
    leaves: Annotated[
        Literal["deactivated", "failed"] | None,
        Field(description="Why the agent goes; from then on the site's own server answers every visitor."),
    ] = None


class RulesBody(BaseModel):
    """POST /api/v1/zones/:zone/rules/test: a visitor's request, and the origin's response to it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    url: Url
    method: Annotated[str, Field(pattern="^[A-Z]{1,20}$")] = "GET"
    headers: Annotated[dict[str, str], Field(max_length=100)] = {}
    status: Annotated[int, Field(ge=200, le=599)] = 200
    response_headers: Annotated[dict[str, str], Field(max_length=100)] = {}
