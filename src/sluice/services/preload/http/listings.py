"""The operator's listings: all zones, the rows of a zone in D1, and the figures for Prometheus."""

from contextlib import suppress
from typing import Annotated, Any, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import NotFound
from sluice.core.ports import Database
from sluice.core.preload.incidents import Incident
from sluice.core.preload.members import Amount, AnyTrigger, EpochS
from sluice.services.preload.http.access import NO_STORE, ZONE, AccessHandlers
from sluice.services.preload.http.operator_routes import LIMIT, LISTING, OPERATOR
from sluice.services.preload.http.prometheus import CONTENT_TYPE, MAX_ZONES, format_figures
from sluice.web import Handler, Reply, Request, Route
from sluice.web.operations import Media, Operation, ReplyDoc, describe

_PATH: Final = "/api/v1/zones/:zone"


class ZonesReply(TypedDict):
    zones: list[str]


class AlertsReply(TypedDict):
    alerts: list[Incident]


class LogLine(TypedDict):
    """The result of one page; null where it was not fetched."""

    id: int
    event_id: str | None
    zone_id: str
    url: str
    status: Annotated[
        str,
        Doc(
            "warmed, unchanged, edge_only, redirected, skipped, gone, again, retry, failed, queue_overflow, "
            "sitemap_skipped, sitemap_failed or cron_failed."
        ),
    ]
    http_status: int | None
    latency_ms: int | None
    trigger_name: AnyTrigger | None
    attempt: int | None
    detail: str | None
    created_at: Annotated[str, Doc("A time such as 2026-01-31T12:00:00.000Z.")]


class LogReply(TypedDict):
    log: list[LogLine]


class StoredPage(TypedDict):
    zone_id: str
    url: str
    variant: Annotated[str, Doc("The variant of the page; empty for the plain one.")]
    key_hash: Annotated[str, Doc("The hash of its cache key, which names its copy in R2.")]
    stored_at: EpochS
    fresh_until: EpochS
    size_bytes: Amount
    indexed_at: EpochS
    seq: Annotated[int, Doc("The number of the latest purge that was known when the origin was asked.")]
    first_seq: Annotated[int, Doc("The same of the first copy of this page.")]
    seen_seq: Annotated[int, Doc("The latest soft purge that has left this copy to be replaced.")]
    renewed_at: Annotated[float | None, Doc("When it was last found unchanged; null if never.")]


class PagesReply(TypedDict):
    pages: list[StoredPage]


LIST_ZONES: Final = Operation(
    "listZones", "All zones", {200: ReplyDoc("Their ids.", ZonesReply)}, tag=OPERATOR, security=("admin",)
)
LIST_ALERTS: Final = Operation(
    "listAlerts",
    "Incidents",
    {200: ReplyDoc("The latest first.", AlertsReply)},
    tag=OPERATOR,
    path=(ZONE,),
    query=LISTING,
    security=("admin",),
)
LIST_LOG: Final = LIST_ALERTS._replace(
    name="listLogLines", summary="The log of all pages", replies={200: ReplyDoc("The latest first.", LogReply)}
)
LIST_PAGES: Final = LIST_ALERTS._replace(
    name="listStoredPages", summary="Stored pages", replies={200: ReplyDoc("The latest first.", PagesReply)}
)
SHOW_METRICS: Final = Operation(
    "showPrometheusMetrics",
    "The figures of up to 40 zones for Prometheus",
    {200: ReplyDoc("Gauges in the text format 0.0.4.", Media("text/plain"))},
    tag=OPERATOR,
    security=("admin",),
)


def listing_routes(access: AccessHandlers, database: Database) -> list[Route]:
    @describe(LIST_ZONES)
    async def list_zones(request: Request) -> Reply:
        await access.gate.admit(request)
        return Reply.json(ZonesReply(zones=await access.zones.list_ids()), headers=NO_STORE)

    async def load(operation: Operation, request: Request, table: str, order: str) -> list[Any]:
        await access.gate.admit(request)
        zone_id, limit = ZONE.read(request), operation.read(request)[LIMIT]
        sql = f"SELECT * FROM {table} WHERE zone_id = ? ORDER BY {order} DESC LIMIT ?"  # noqa: S608
        return await database.all(sql, zone_id, limit)

    @describe(LIST_ALERTS)
    async def list_alerts(request: Request) -> Reply:
        return Reply.json(
            AlertsReply(alerts=await load(LIST_ALERTS, request, "preload_alerts", "raised_at")), headers=NO_STORE
        )

    @describe(LIST_LOG)
    async def list_log(request: Request) -> Reply:
        return Reply.json(LogReply(log=await load(LIST_LOG, request, "preload_log", "id")), headers=NO_STORE)

    @describe(LIST_PAGES)
    async def list_pages(request: Request) -> Reply:
        return Reply.json(
            PagesReply(pages=await load(LIST_PAGES, request, "cached_pages", "stored_at")), headers=NO_STORE
        )

    return [
        Route("GET", "/api/v1/zones", list_zones),
        Route("GET", f"{_PATH}/alerts", list_alerts),
        Route("GET", f"{_PATH}/log", list_log),
        Route("GET", f"{_PATH}/pages", list_pages),
        Route("GET", "/metrics/prometheus", show_metrics(access)),
    ]


def show_metrics(access: AccessHandlers) -> Handler:
    @describe(SHOW_METRICS)
    async def show(request: Request) -> Reply:
        await access.gate.admit(request)
        figures = []
        for zone_id in (await access.zones.list_ids())[:MAX_ZONES]:
            with suppress(NotFound):  # it was deleted just now
                figures.append(await access.zones.get(zone_id).show_traffic())
        return Reply.text(format_figures(figures), headers=NO_STORE | {"Content-Type": CONTENT_TYPE})

    return show
