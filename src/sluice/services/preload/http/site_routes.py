"""The routes for sites: those of a signed request, and of one zone; all but the agent's and the first two are the operator's too."""

from typing import Final

from sluice.services.preload.discovery.site_facts import CrawlAccepted, LearnedReply
from sluice.services.preload.http.access import BATCH_ID, EXAMPLE_ID, PURGE_ID, ZONE, AccessHandlers
from sluice.services.preload.http.requests import AgentBody, PagesBody, PreloadBody, PurgeBody, SitemapBody
from sluice.services.preload.purge_lists.orders import PurgeAccepted
from sluice.services.preload.queue.batches import Batch
from sluice.services.preload.queue.enqueue import AcceptedReply
from sluice.services.preload.serving.purging import PurgeProgress
from sluice.services.preload.zone.signed_calls import AgentReply
from sluice.services.preload.zone.status import StatusReply
from sluice.web import Route
from sluice.web.operations import Operation, ReplyDoc

EXAMPLE_URL: Final = "https://www.example.com/blog/my-post/"
_SITES: Final = "For sites"
_PATH: Final = "/api/v1/zones/:zone"
_ONCE: Final = {"X-Idempotent-Replayed": "true when this is the stored reply to the same request before."}
_PROBLEMS: Final = (404, 409, 429)
_REPLAYED: Final = "For 24 hours the same `idempotency_key` and body get the first reply again."
_FOR_BOTH: Final = "For the operator, and for a site that signs its requests."

PRELOAD: Final = Operation(
    "preloadPages",
    "Warm pages",
    {202: ReplyDoc("The pages are in the queue.", AcceptedReply, _ONCE)},
    _REPLAYED,
    tag=_SITES,
    body=PreloadBody,
    example={
        "zone_id": ZONE.example,
        "idempotency_key": f"preload-{EXAMPLE_ID}",
        "urls": [EXAMPLE_URL],
        "trigger": "post-purge",
    },
    problems=_PROBLEMS,
    security=("signed",),
)
PURGE: Final = Operation(
    "purgePages",
    "Purge pages by tags, URLs or all, and warm them again",
    {202: ReplyDoc("The purge is stored and will be carried out.", PurgeAccepted, _ONCE)},
    _REPLAYED,
    tag=_SITES,
    body=PurgeBody,
    example={"zone_id": ZONE.example, "idempotency_key": f"purge-{EXAMPLE_ID}", "tags": ["post:123"]},
    problems=_PROBLEMS,
    security=("signed",),
)
CRAWL: Final = Operation(
    "preloadSitemap",
    "Warm the pages of a sitemap",
    {202: ReplyDoc("The sitemap will be read.", CrawlAccepted, _ONCE)},
    "A signed request needs an `idempotency_key`; it gets the first reply again for 24 hours.",
    tag=_SITES,
    path=(ZONE,),
    body=SitemapBody,
    body_required=False,
    example={"idempotency_key": f"sitemap-{EXAMPLE_ID}", "url": "https://www.example.com/sitemap.xml"},
    problems=_PROBLEMS,
    security=("admin", "signed"),
)
LEARN: Final = Operation(
    "updatePageFacts",
    "Store what analytics know about pages",
    {200: ReplyDoc("How many pages were updated.", LearnedReply, _ONCE)},
    "A field that is left out keeps its value. A signed request needs an `idempotency_key`.",
    tag=_SITES,
    path=(ZONE,),
    body=PagesBody,
    example={
        "idempotency_key": f"pages-{EXAMPLE_ID}",
        "pages": [{"url": EXAMPLE_URL, "monthly_pageviews": 1000, "published_at": 1_794_787_200, "post_id": 123}],
    },
    problems=_PROBLEMS,
    security=("admin", "signed"),
)
SET_AGENT: Final = Operation(
    "updateSiteAgent",
    "Set what the site itself knows best",
    {200: ReplyDoc("The site's settings as they are now.", AgentReply, _ONCE)},
    "A field that is left out keeps its value, null resets it. `origin_cron_path` is asked for every minute, `presence_path` "
    "now and then. An agent that `leaves`, or is missed there, has all copies purged: until it is back, the site's own server answers.",
    tag=_SITES,
    path=(ZONE,),
    body=AgentBody,
    example={
        "idempotency_key": f"agent-{EXAMPLE_ID}",
        "origin_cron_path": "/wp-cron.php",
        "preload_sitemap_url": "{site_url}/wp-sitemap.xml",
        "presence_path": "/?sluice_preload_agent=1",
    },
    problems=_PROBLEMS,
    security=("signed",),
)
SHOW_STATUS: Final = Operation(
    "showZoneStatus",
    "The status of a zone",
    {200: ReplyDoc("Queue, hit ratio, origin, incidents and batches.", StatusReply)},
    _FOR_BOTH,
    tag=_SITES,
    path=(ZONE,),
    problems=_PROBLEMS,
    security=("admin", "signed"),
)
SHOW_BATCH: Final = SHOW_STATUS._replace(
    name="showBatch",
    summary="The progress of a batch",
    replies={200: ReplyDoc("The progress.", Batch)},
    path=(ZONE, BATCH_ID),
)
SHOW_PURGE: Final = SHOW_STATUS._replace(
    name="showPurge",
    summary="The progress of a purge",
    replies={200: ReplyDoc("What has become of it.", PurgeProgress)},
    path=(ZONE, PURGE_ID),
)


def site_routes(access: AccessHandlers) -> list[Route]:
    crawl = access.by_site_or_operator(
        CRAWL,
        lambda zone, signed, body: zone.crawl_for_site(signed, body),
        lambda zone, body: zone.crawl_sitemap(body),
    )
    learn = access.by_site_or_operator(
        LEARN,
        lambda zone, signed, body: zone.store_site_facts(signed, body),
        lambda zone, body: zone.store_page_facts(body),
    )
    show_batch = access.show(
        SHOW_BATCH, "batch", lambda zone, request: zone.show_batch(BATCH_ID.read(request)), BATCH_ID
    )
    show_purge = access.show(
        SHOW_PURGE, "purge", lambda zone, request: zone.show_purge(PURGE_ID.read(request)), PURGE_ID
    )
    preload = access.by_signature(PRELOAD, lambda zone, signed, body: zone.preload(signed, body))
    purge = access.by_signature(PURGE, lambda zone, signed, body: zone.purge(signed, body))
    set_agent = access.by_site(SET_AGENT, lambda zone, signed, body: zone.set_agent(signed, body))
    return [
        Route("POST", "/api/v1/preload", preload),
        Route("POST", "/api/v1/purge", purge),
        Route("POST", f"{_PATH}/sitemap", crawl),
        Route("PUT", f"{_PATH}/pages", learn),
        Route("PUT", f"{_PATH}/agent", set_agent),
        Route("GET", f"{_PATH}/status", access.show(SHOW_STATUS, "status", lambda zone, _request: zone.show_status())),
        Route("GET", f"{_PATH}/batches/:id", show_batch),
        Route("GET", f"{_PATH}/purges/:id", show_purge),
    ]
