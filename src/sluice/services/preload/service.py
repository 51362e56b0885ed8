"""edge-preload, put together from its ports: the API, the cron, what serves visitors, and the object of a zone."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from sluice.core.net.addresses import AllowedHosts, check_url
from sluice.core.ports import Alarm, Bucket, Clock, Database, Defer, Fetch, FetchResponse, Kv, Log, NewId, Sql
from sluice.core.variables import Variables
from sluice.services.preload.ports import Bodies, Edge, SendToOrigin
from sluice.services.preload.purge_lists.purge_reader import EdgeTexts, PurgeMemory, PurgeReader
from sluice.services.preload.serving.host_directory import HostCache, HostDirectory, Zone
from sluice.services.preload.serving.hot_edge import HotEdge, HotPages
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.visit import PreloadVisit
from sluice.services.preload.zone.calls import RemoteZones, SendToZone, ZoneList
from sluice.services.preload.zone.services import Dependencies
from sluice.services.preload.zone.settings import PreloadSettings, read_api_hosts, read_signing_keys
from sluice.services.preload.zone.zone_object import ZoneObject
from sluice.web import Cors, Reply, Request, Route

if TYPE_CHECKING:
    from sluice.services.preload.cron import PreloadCron
    from sluice.web.clients import ReadLimit
    from sluice.web.common_routes import Files

# A reply as the platform has it.
Response = TypeVar("Response")


@dataclass(frozen=True, slots=True, kw_only=True)
class PreloadPorts:
    variables: Variables
    # The id of the Worker's version; "" where the platform tells none.
    version_id: str
    database: Database
    kv: Kv
    bucket: Bucket
    edge: Edge
    edge_texts: EdgeTexts
    bodies: Bodies
    files: "Files"
    send_to_zone: SendToZone
    # The first sends each request once, the second may repeat one.
    open_fetch: Callable[[AllowedHosts], Fetch]
    open_webhook_fetch: Callable[[AllowedHosts], Fetch]
    clock: Clock
    new_id: NewId
    defer: Defer
    log: Log


@dataclass(frozen=True, slots=True)
class IsolateState:
    """What one isolate remembers between requests."""

    hosts: HostCache = field(default_factory=HostCache)
    zones: ZoneList = field(default_factory=ZoneList)
    hot_pages: HotPages = field(default_factory=HotPages)
    visits: IsolateMemory = field(default_factory=IsolateMemory)
    purges: PurgeMemory = field(default_factory=PurgeMemory)

    def forget_configurations(self) -> None:
        self.hosts.clear()
        self.zones.clear()


class PreloadService:
    """The parts of edge-preload; those of one visit are in `visit`, those of a zone's object in `zone.services`."""

    cors: Cors | None = None

    def __init__(self, ports: PreloadPorts, remembered: IsolateState | None = None) -> None:
        self.ports = ports
        self.remembered = remembered or IsolateState()

    @cached_property
    def allowed_hosts(self) -> AllowedHosts:
        return AllowedHosts.parse(self.ports.variables.text("ALLOW_PRIVATE_HOSTS"))

    @cached_property
    def fetch(self) -> Fetch:
        """Requests to an origin; each has its own connections, because an isolate's invocations share none."""

        async def fetch(*arguments: Any, **options: Any) -> FetchResponse:
            return await self.ports.open_fetch(self.allowed_hosts)(*arguments, **options)

        return fetch

    @cached_property
    def edge(self) -> HotEdge:
        """The edge cache for visitors."""
        ports = self.ports
        return HotEdge(ports.edge, ports.bodies, ports.clock, self.remembered.hot_pages)

    def open_zone(self, sql: Sql, alarm: Alarm) -> ZoneObject:
        """Return the zone behind one object, with its storage and alarm."""
        ports = self.ports
        outside = Dependencies(
            clock=ports.clock,
            database=ports.database,
            kv=ports.kv,
            bucket=ports.bucket,
            edge=ports.edge,
            fetch=self.fetch,
            fetch_webhook=ports.open_webhook_fetch(self.allowed_hosts),
            new_id=ports.new_id,
            log=ports.log,
        )
        return ZoneObject(sql, alarm, outside, PreloadSettings.from_variables(ports.variables, ports.version_id))

    @cached_property
    def zones(self) -> RemoteZones:
        ports = self.ports
        return RemoteZones(ports.kv, ports.database, ports.send_to_zone, self.remembered.forget_configurations)

    @cached_property
    def hosts(self) -> HostDirectory:
        ports = self.ports
        return HostDirectory(
            read_api_hosts=lambda: read_api_hosts(ports.variables),
            kv=ports.kv,
            database=ports.database,
            clock=ports.clock,
            log=ports.log,
            cache=self.remembered.hosts,
            load_config=lambda zone_id: self.zones.get(zone_id).show_config(),
        )

    @cached_property
    def cron(self) -> "PreloadCron":
        from sluice.services.preload.cron import PreloadCron  # noqa: PLC0415 - not for visitors

        ports = self.ports
        return PreloadCron(self.zones, self.remembered.zones, ports.database, ports.clock, ports.log)

    @cached_property
    def read_limit(self) -> "ReadLimit":
        from sluice.web.clients import ReadLimit  # noqa: PLC0415 - not for visitors

        return ReadLimit(self.ports.clock)

    @cached_property
    def routes(self) -> list[Route]:
        """The API, and the console with its files: on the Worker's own host only, so no visitor waits for their modules."""
        from sluice.services.preload.http.access import AccessHandlers  # noqa: PLC0415
        from sluice.services.preload.http.configure import configure_route  # noqa: PLC0415
        from sluice.services.preload.http.listings import listing_routes  # noqa: PLC0415
        from sluice.services.preload.http.operator_routes import operator_routes  # noqa: PLC0415
        from sluice.services.preload.http.site_routes import site_routes  # noqa: PLC0415
        from sluice.web.admin import OperatorGate  # noqa: PLC0415
        from sluice.web.common_routes import serve_file, serve_folder, serve_page  # noqa: PLC0415

        ports = self.ports
        access = AccessHandlers(
            zones=self.zones,
            clock=ports.clock,
            defer=ports.defer,
            gate=OperatorGate(ports.variables.secret("ADMIN_TOKEN"), ports.clock),
            signing_keys=read_signing_keys(ports.variables),
        )
        return [
            Route("GET", "/", serve_page(ports.files, "preload", "The preload service in a browser")),
            Route("GET", "/:file", serve_file(ports.files)),
            Route("GET", "/:folder/:file", serve_folder(ports.files)),
            *site_routes(access),
            configure_route(access, partial(check_url, allowed=self.allowed_hosts)),
            *operator_routes(access),
            *listing_routes(access, ports.database),
        ]

    def purge_reader(self, zone_id: str) -> PurgeReader:
        ports = self.ports
        return PurgeReader(
            zone_id=zone_id,
            texts=ports.edge_texts,
            clock=ports.clock,
            log=ports.log,
            memory=self.remembered.purges,
            load=self.zones.get(zone_id).show_purges,
        )

    def visit(self, zone: Zone, send: SendToOrigin) -> PreloadVisit:
        """Return what serves one visitor of a zone, whose request `send` takes to the origin."""
        return PreloadVisit(self, zone, send)

    async def serve(
        self,
        request: Request,
        send: SendToOrigin,
        *,
        respond: Callable[[Reply], Response],
        to_api: Callable[[], Awaitable[Response]],
    ) -> Response:
        """Respond to a visitor of a zone's host, to a caller of the API, or as the host's own server does."""

        async def to_zone(zone: Zone) -> Response:
            current = replace(zone, config=await self.purge_reader(zone.zone_id).read_config(zone.config))
            return respond(await self.visit(current, send).page_server.handle(request))

        async def to_nobody() -> Response:
            from sluice.services.preload.serving.unclaimed_hosts import (  # noqa: PLC0415 - not for a zone's visitors
                OriginHostLoopback,
                forward_to_host,
            )

            warming = OriginHostLoopback(
                self.hosts.find_zone_behind, lambda zone: self.visit(zone, send).warming_loopback
            )
            return respond(await forward_to_host(request, send, warming))

        return await self.hosts.dispatch(request.url, to_zone=to_zone, to_api=to_api, to_nobody=to_nobody)
