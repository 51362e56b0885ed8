"""What each route of edge-preload says of itself."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.http import replies as told
from sluice.services.preload.http.requests import (
    MIN_KEY_CHARS,
    EnqueueBody,
    IdsBody,
    PagesBody,
    PreloadBody,
    PurgeBody,
    SitemapBody,
)
from sluice.web.openapi.docs import Absent, Doc, Param, ReplyDoc, Security

SITES: Final = "For sites"
OPERATOR: Final = "For the operator"
ADMIN: Final[tuple[Security, ...]] = ("admin",)
SIGNED: Final[tuple[Security, ...]] = ("signed",)
ZONE_ID: Final = "abc123xyz"
ZONE: Final = {"zone": Param("The zone's id.", ZONE_ID)}
BATCH: Final = ZONE | {"id": Param("The batch's id.", "preload-7f6c4a3e-5d1b-4c2a-9e8f-0a1b2c3d4e5f")}

_URL: Final = "https://www.example.com/blog/my-post/"
_KEY: Final = "7f6c4a3e-5d1b-4c2a-9e8f-0a1b2c3d4e5f"
_ONCE: Final = {"X-Idempotent-Replayed": "true where this is the answer that the same request had before."}


class Listing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=1000, description="How many at most.")] = 100


class ZoneBody(ZoneConfig):
    """A zone: its site, how its pages are preloaded and how they are cached."""

    # Built when the document is.
    model_config = ConfigDict(defer_build=True)

    signing_key: (
        Annotated[
            str,
            Field(
                min_length=MIN_KEY_CHARS, description="The zone's own key in place of SIGNING_KEY; never told again."
            ),
        ]
        | Absent
    ) = None


PRELOAD: Final = Doc(
    summary="Have pages warmed",
    description="The same `idempotency_key` and body get the first answer again for 24 hours.",
    tag=SITES,
    body=PreloadBody,
    example={"zone_id": ZONE_ID, "idempotency_key": f"preload-{_KEY}", "urls": [_URL], "trigger": "post-purge"},
    replies={202: ReplyDoc("The pages wait for their turn.", told.Accepted, _ONCE)},
    problems=(404, 409, 429),
    security=SIGNED,
)
PURGE: Final = Doc(
    summary="Purge pages by tags, addresses or all, and have them warmed again",
    description="The same `idempotency_key` and body get the first answer again for 24 hours.",
    tag=SITES,
    body=PurgeBody,
    example={"zone_id": ZONE_ID, "idempotency_key": f"purge-{_KEY}", "tags": ["post:123"]},
    replies={202: ReplyDoc("The purge will happen, whatever dies meanwhile.", told.PurgeAccepted, _ONCE)},
    problems=(404, 409, 429),
    security=SIGNED,
)
BATCH_OF: Final = Doc(
    summary="The progress of a batch",
    description="For the operator, and for the site that signs its requests.",
    tag=SITES,
    params=BATCH,
    replies={200: ReplyDoc("The progress.", told.Batch)},
    problems=(404, 409, 429),
    security=("admin", "signed"),
)


def _operator(summary: str, answer: str, reply: type[BaseModel], *, status: int = 200, **more: Any) -> Doc:
    fields: dict[str, Any] = {"params": ZONE, "problems": (404,), "tag": OPERATOR, "security": ADMIN, **more}
    return Doc(summary=summary, replies={status: ReplyDoc(answer, reply)}, **fields)


LIST: Final = _operator("All zones", "Their ids.", told.ZonesTold, params={}, problems=())
CONFIG: Final = _operator("The zone's configuration", "With all defaults filled in.", told.Registered)
CONFIGURE: Final = _operator(
    "Register a zone, or change it",
    "The zone as it is now, with all defaults filled in.",
    told.Registered,
    body=ZoneBody,
    example={"site_url": "https://www.example.com", "hosts": ["example.com"], "preload_rps_limit": 5},
    description="All keys but `site_url` have defaults, which also replace what was set before and is left out now.",
    problems=(),
)
UNREGISTER: Final = _operator(
    "Unregister a zone",
    "Its hosts, queue and configuration are forgotten; stored pages stay until they are too old.",
    told.Unregistered,
)
VERSIONS: Final = _operator("Every configuration the zone has had", "The versions.", told.Versions)
RESTORE: Final = _operator(
    "Restore an earlier configuration",
    "The zone as it is now.",
    told.Registered,
    params=ZONE | {"version": Param("Its number.", "1")},
)
STATUS: Final = _operator("How the zone stands", "Queue, origin, incidents and batches.", told.StatusTold)
QUEUE: Final = _operator("What waits", "How much of each priority, and the next pages.", told.QueueTold)
CANCEL: Final = _operator(
    "Cancel a batch",
    "The progress; pages that other batches want too, or that are under way, are not taken back.",
    told.Batch,
    params=BATCH,
)
FAILED: Final = _operator("Pages that failed for good", "The oldest first.", told.FailedTold, query=Listing)
REPLAY: Final = _operator(
    "Try failed pages again",
    "How many wait for their turn again.",
    told.Replayed,
    body=IdsBody,
    body_required=False,
    example={"ids": [1]},
    problems=(404, 409),
)
DELETE_FAILED: Final = _operator(
    "Forget failed pages",
    "How many were forgotten.",
    told.Deleted,
    body=IdsBody,
    body_required=False,
    example={"ids": [1]},
)
ALERTS: Final = _operator("Incidents", "The latest first.", told.AlertsTold, query=Listing, problems=())
LOG: Final = _operator("What became of each page", "The latest first.", told.LogTold, query=Listing, problems=())
PAGES: Final = _operator("Stored pages", "The latest first.", told.PagesTold, query=Listing, problems=())
LEARN: Final = _operator(
    "Tell what analytics know of pages",
    "How many pages more is known of.",
    told.Learned,
    body=PagesBody,
    example={"pages": [{"url": _URL, "monthly_pageviews": 1000, "published_at": 1_794_787_200, "post_id": 123}]},
)
ENQUEUE: Final = _operator(
    "Have pages warmed by hand, or all that are known",
    "The pages wait for their turn.",
    told.Accepted,
    status=202,
    body=EnqueueBody,
    example={"urls": [_URL]},
    problems=(404, 409),
)
SITEMAP: Final = _operator(
    "Have the pages of a sitemap warmed",
    "The sitemap will be read.",
    told.CrawlAccepted,
    status=202,
    body=SitemapBody,
    body_required=False,
    example={"url": "https://www.example.com/sitemap.xml"},
    problems=(404, 409),
)
PAUSE: Final = _operator("Pause the zone", "The zone as it stands now.", told.StatusTold)
RESUME: Final = _operator("Resume the zone", "The zone as it stands now.", told.StatusTold)
