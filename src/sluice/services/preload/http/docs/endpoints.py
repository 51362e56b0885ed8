"""The documentation of each route of edge-preload."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.http.docs import replies
from sluice.services.preload.http.docs.status_replies import StatusReply
from sluice.services.preload.http.docs.traffic_replies import TrafficReply
from sluice.services.preload.http.requests import (
    MIN_KEY_CHARS,
    AgentBody,
    EnqueueBody,
    IdsBody,
    PagesBody,
    PreloadBody,
    PurgeBody,
    PurgeTarget,
    RulesBody,
    SitemapBody,
)
from sluice.web.openapi.common_docs import FILE, FOLDER_FILE, describe_page
from sluice.web.openapi.docs import Absent, Doc, Documentation, Media, Param, ReplyDoc, Security

SITES: Final = "For sites"
OPERATOR: Final = "For the operator"
ADMIN: Final[tuple[Security, ...]] = ("admin",)
SIGNED: Final[tuple[Security, ...]] = ("signed",)
ZONE_ID: Final = "abc123xyz"
ZONE: Final = {"zone": Param("The zone's id.", ZONE_ID)}
BATCH: Final = ZONE | {"id": Param("The batch's id.", "preload-7f6c4a3e-5d1b-4c2a-9e8f-0a1b2c3d4e5f")}

_URL: Final = "https://www.example.com/blog/my-post/"
_KEY: Final = "7f6c4a3e-5d1b-4c2a-9e8f-0a1b2c3d4e5f"
_ONCE: Final = {"X-Idempotent-Replayed": "true when this is the stored reply to the same request before."}


class Listing(BaseModel):
    """A test holds the reader of the handlers against this model."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=1000, description="How many at most.")] = 100


class ZoneBody(ZoneConfig):
    """A zone: its site, how its pages are preloaded and how they are cached."""

    signing_key: (
        Annotated[
            str,
            Field(
                min_length=MIN_KEY_CHARS,
                description="The zone's own key instead of SIGNING_KEY; it is never shown again.",
            ),
        ]
        | Absent
    ) = None


PRELOAD: Final = Doc(
    summary="Warm pages",
    description="For 24 hours the same `idempotency_key` and body get the first reply again.",
    tag=SITES,
    body=PreloadBody,
    example={"zone_id": ZONE_ID, "idempotency_key": f"preload-{_KEY}", "urls": [_URL], "trigger": "post-purge"},
    replies={202: ReplyDoc("The pages are in the queue.", replies.Accepted, _ONCE)},
    problems=(404, 409, 429),
    security=SIGNED,
)
PURGE: Final = Doc(
    summary="Purge pages by tags, URLs or all, and warm them again",
    description="For 24 hours the same `idempotency_key` and body get the first reply again.",
    tag=SITES,
    body=PurgeBody,
    example={"zone_id": ZONE_ID, "idempotency_key": f"purge-{_KEY}", "tags": ["post:123"]},
    replies={202: ReplyDoc("The purge is stored and will be carried out.", replies.PurgeAccepted, _ONCE)},
    problems=(404, 409, 429),
    security=SIGNED,
)
BATCH_OF: Final = Doc(
    summary="The progress of a batch",
    description="For the operator, and for a site that signs its requests.",
    tag=SITES,
    params=BATCH,
    replies={200: ReplyDoc("The progress.", replies.Batch)},
    problems=(404, 409, 429),
    security=("admin", "signed"),
)

PURGE_OF: Final = Doc(
    summary="The progress of a purge",
    description="For the operator, and for a site that signs its requests.",
    tag=SITES,
    params=ZONE | {"id": Param("The purge's id.", f"purge-{_KEY}")},
    replies={200: ReplyDoc("What has become of it.", replies.PurgeProgress)},
    problems=(404, 409, 429),
    security=("admin", "signed"),
)
STATUS: Final = Doc(
    summary="The status of a zone",
    description="For the operator, and for a site that signs its requests.",
    tag=SITES,
    params=ZONE,
    replies={200: ReplyDoc("Queue, hit ratio, origin, incidents and batches.", StatusReply)},
    problems=(404, 409, 429),
    security=("admin", "signed"),
)
SITEMAP: Final = Doc(
    summary="Warm the pages of a sitemap",
    description="A signed request needs an `idempotency_key`; it gets the first reply again for 24 hours.",
    tag=SITES,
    params=ZONE,
    body=SitemapBody,
    body_required=False,
    example={"idempotency_key": f"sitemap-{_KEY}", "url": "https://www.example.com/sitemap.xml"},
    replies={202: ReplyDoc("The sitemap will be read.", replies.CrawlAccepted, _ONCE)},
    problems=(404, 409, 429),
    security=("admin", "signed"),
)
LEARN: Final = Doc(
    summary="Store what analytics know about pages",
    description="A field that is left out keeps its value. A signed request needs an `idempotency_key`.",
    tag=SITES,
    params=ZONE,
    body=PagesBody,
    example={
        "idempotency_key": f"pages-{_KEY}",
        "pages": [{"url": _URL, "monthly_pageviews": 1000, "published_at": 1_794_787_200, "post_id": 123}],
    },
    replies={200: ReplyDoc("How many pages were updated.", replies.Learned, _ONCE)},
    problems=(404, 409, 429),
    security=("admin", "signed"),
)
AGENT: Final = Doc(
    summary="Set what the site itself knows best",
    description="A field that is left out keeps its value, null resets it. `origin_cron_path` is asked for every minute, `presence_path` "
    "now and then. An agent that `leaves`, or is missed there, has all copies purged: until it is back, the site's own server answers.",
    tag=SITES,
    params=ZONE,
    body=AgentBody,
    example={
        "idempotency_key": f"agent-{_KEY}",
        "origin_cron_path": "/wp-cron.php",
        "preload_sitemap_url": "{site_url}/wp-sitemap.xml",
        "presence_path": "/?sluice_preload_agent=1",
    },
    replies={200: ReplyDoc("The site's settings as they are now.", replies.AgentReply, _ONCE)},
    problems=(404, 409, 429),
    security=SIGNED,
)


def _operator(summary: str, answer: str, reply: type[BaseModel], *, status: int = 200, **more: Any) -> Doc:
    fields: dict[str, Any] = {"params": ZONE, "problems": (404,), "tag": OPERATOR, "security": ADMIN, **more}
    return Doc(summary=summary, replies={status: ReplyDoc(answer, reply)}, **fields)


LIST: Final = _operator("All zones", "Their ids.", replies.ZonesReply, params={}, problems=())
CONFIG: Final = _operator("The zone's configuration", "With all defaults filled in.", replies.Registered)
CONFIGURE: Final = _operator(
    "Register a zone, or change it",
    "The zone's new configuration, with all defaults filled in.",
    replies.Registered,
    body=ZoneBody,
    example={"site_url": "https://www.example.com", "hosts": ["example.com"], "preload_rps_limit": 5},
    description="All keys except `site_url` have defaults. A key that is left out gets its default, whatever it was before.",
    problems=(),
)
UNREGISTER: Final = _operator(
    "Unregister a zone",
    "Its hosts, queue and configuration are deleted, and its stored pages in the minutes after.",
    replies.Unregistered,
)
VERSIONS: Final = _operator("All versions of the zone's configuration", "The versions.", replies.Versions)
RESTORE: Final = _operator(
    "Restore an earlier configuration",
    "The zone's new configuration.",
    replies.Registered,
    params=ZONE | {"version": Param("Its number.", "1")},
)
QUEUE: Final = _operator(
    "What is in the queue", "How many pages of each priority, and the next ones.", replies.QueueReply
)
CANCEL: Final = _operator(
    "Cancel a batch",
    "The progress; pages that other batches want too, or that are being fetched, stay in the queue.",
    replies.Batch,
    params=BATCH,
)
FAILED: Final = _operator("Pages that failed for good", "The oldest first.", replies.FailedReply, query=Listing)
REPLAY: Final = _operator(
    "Try failed pages again",
    "How many are in the queue again.",
    replies.Replayed,
    body=IdsBody,
    body_required=False,
    example={"ids": [1]},
    problems=(404, 409),
)
DELETE_FAILED: Final = _operator(
    "Delete failed pages",
    "How many were deleted.",
    replies.Deleted,
    body=IdsBody,
    body_required=False,
    example={"ids": [1]},
)
ALERTS: Final = _operator("Incidents", "The latest first.", replies.AlertsReply, query=Listing, problems=())
LOG: Final = _operator("The log of all pages", "The latest first.", replies.LogReply, query=Listing, problems=())
PAGES: Final = _operator("Stored pages", "The latest first.", replies.PagesReply, query=Listing, problems=())
ENQUEUE: Final = _operator(
    "Warm pages by hand, or all known pages",
    "The pages are in the queue.",
    replies.Accepted,
    status=202,
    body=EnqueueBody,
    example={"urls": [_URL]},
    problems=(404, 409),
)
PAUSE: Final = _operator("Pause the zone", "The zone's new status.", StatusReply)
RESUME: Final = _operator("Resume the zone", "The zone's new status.", StatusReply)
CHECK_ORIGIN: Final = _operator(
    "Try whether warming reaches the origin",
    "The zone's status: its `origin_check` is pending until one request, sent as pages are warmed, has its answer.",
    StatusReply,
    status=202,
)
TEST_RULES: Final = _operator(
    "Explain what would happen with a request",
    "Whether a copy may answer it, and whether the response may be stored; with the reasons.",
    replies.RulesReply,
    body=RulesBody,
    example={"url": _URL, "headers": {"Cookie": "theme=dark"}, "response_headers": {"Cache-Control": "max-age=60"}},
)
OBSERVED: Final = _operator(
    "Pages that differ between visitors",
    'What was compared while `cache_enabled` was "observe"; the pages that differ most often first.',
    replies.ObservedReply,
)

TRAFFIC: Final = _operator(
    "What the cache is worth",
    "Visits of the last 24 hours by what answered them, what the origin was spared, and how much of the site is warm.",
    TrafficReply,
)
PURGE_BY_HAND: Final = _operator(
    "Purge pages by tags, URLs, prefixes or all",
    "The purge is stored and will be carried out.",
    replies.PurgeAccepted,
    status=202,
    body=PurgeTarget,
    example={"urls": [_URL]},
    problems=(404, 429),
)
PROMETHEUS: Final = Doc(
    summary="The figures of up to 40 zones for Prometheus",
    tag=OPERATOR,
    replies={200: ReplyDoc("Gauges in the text format 0.0.4.", Media("text/plain"))},
    security=ADMIN,
)

ROUTES: Final[Documentation] = {
    ("GET", "/"): describe_page("The preload service in a browser"),
    ("GET", "/:file"): FILE,
    ("GET", "/:folder/:file"): FOLDER_FILE,
    ("POST", "/api/v1/preload"): PRELOAD,
    ("POST", "/api/v1/purge"): PURGE,
    ("GET", "/api/v1/zones"): LIST,
    ("PUT", "/api/v1/zones/:zone/config"): CONFIGURE,
    ("GET", "/api/v1/zones/:zone/config"): CONFIG,
    ("DELETE", "/api/v1/zones/:zone/config"): UNREGISTER,
    ("GET", "/api/v1/zones/:zone/config/versions"): VERSIONS,
    ("POST", "/api/v1/zones/:zone/config/versions/:version/restore"): RESTORE,
    ("GET", "/api/v1/zones/:zone/status"): STATUS,
    ("GET", "/api/v1/zones/:zone/batches/:id"): BATCH_OF,
    ("GET", "/api/v1/zones/:zone/purges/:id"): PURGE_OF,
    ("PUT", "/api/v1/zones/:zone/agent"): AGENT,
    ("POST", "/api/v1/zones/:zone/batches/:id/cancel"): CANCEL,
    ("GET", "/api/v1/zones/:zone/failed"): FAILED,
    ("POST", "/api/v1/zones/:zone/failed/replay"): REPLAY,
    ("DELETE", "/api/v1/zones/:zone/failed"): DELETE_FAILED,
    ("GET", "/api/v1/zones/:zone/alerts"): ALERTS,
    ("GET", "/api/v1/zones/:zone/log"): LOG,
    ("POST", "/api/v1/zones/:zone/enqueue"): ENQUEUE,
    ("POST", "/api/v1/zones/:zone/sitemap"): SITEMAP,
    ("GET", "/api/v1/zones/:zone/queue"): QUEUE,
    ("GET", "/api/v1/zones/:zone/pages"): PAGES,
    ("PUT", "/api/v1/zones/:zone/pages"): LEARN,
    ("POST", "/api/v1/zones/:zone/pause"): PAUSE,
    ("POST", "/api/v1/zones/:zone/resume"): RESUME,
    ("POST", "/api/v1/zones/:zone/origin/check"): CHECK_ORIGIN,
    ("POST", "/api/v1/zones/:zone/rules/test"): TEST_RULES,
    ("GET", "/api/v1/zones/:zone/observed"): OBSERVED,
    ("GET", "/api/v1/zones/:zone/traffic"): TRAFFIC,
    ("POST", "/api/v1/zones/:zone/purge"): PURGE_BY_HAND,
    ("GET", "/metrics/prometheus"): PROMETHEUS,
}
