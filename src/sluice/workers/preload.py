"""edge-preload, put together from its bindings."""

from functools import cached_property, partial
from typing import Any, Final

from sluice.core.net.addresses import AllowedHosts, check_url
from sluice.core.net.fetch import Fetcher
from sluice.core.ports import Alarm, Bucket, Clock, Database, Fetch, HeaderPairs, Kv, Log
from sluice.core.variables import Variables
from sluice.platform.bindings import Binding
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm as ObjectAlarm
from sluice.platform.durable_objects import DurableObjects, Sql
from sluice.platform.http.assets import serve_file, serve_page
from sluice.platform.http.conversion import to_request, to_response
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.http.forward import forward_request
from sluice.platform.http.transport import send_request, send_request_once
from sluice.platform.identity import generate_id
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.worker import handle_request, open_kv, open_log, read_variables
from sluice.services.preload.cron import PreloadCron
from sluice.services.preload.discovery.page_index import PageIndex
from sluice.services.preload.http.api import PreloadApi
from sluice.services.preload.serving.copies import CopyStore
from sluice.services.preload.serving.host_directory import HostCache, HostDirectory, Zone
from sluice.services.preload.serving.page_server import PageServer
from sluice.services.preload.zone.calls import RemoteZones
from sluice.services.preload.zone.services import Dependencies
from sluice.services.preload.zone.settings import PreloadSettings, read_signing_keys
from sluice.services.preload.zone.zone_object import ZoneObject
from sluice.web import Reply, Route

NAME: Final = "edge-preload"

# What each isolate remembers.
_HOSTS: Final = HostCache()
_REVALIDATING: Final[set[str]] = set()


class PreloadWorker:
    """The parts of edge-preload. `ctx` is that of the request, of the cron run or of the zone's object."""

    def __init__(self, env: Any, ctx: Any) -> None:
        self.env = env
        self.ctx = ctx

    @cached_property
    def clock(self) -> Clock:
        return SystemClock()

    @cached_property
    def log(self) -> Log:
        return open_log(NAME)

    @cached_property
    def variables(self) -> Variables:
        return read_variables(self.env)

    @cached_property
    def settings(self) -> PreloadSettings:
        return PreloadSettings.from_variables(self.variables, getattr(self.env, "CF_VERSION_METADATA", None))

    @cached_property
    def database(self) -> Database:
        return D1(self.env.DB)

    @cached_property
    def kv(self) -> Kv:
        return open_kv(self.env, "PRELOAD_KV")

    @cached_property
    def bucket(self) -> Bucket:
        return R2(self.env.CACHE_BUCKET)

    @cached_property
    def edge(self) -> EdgeCache:
        return EdgeCache()

    @cached_property
    def allowed_hosts(self) -> AllowedHosts:
        return AllowedHosts.parse(self.variables.text("ALLOW_PRIVATE_HOSTS"))

    @cached_property
    def fetch(self) -> Fetch:
        """Requests to an origin, each sent once."""
        return Fetcher(send_request_once, self.allowed_hosts).fetch

    @cached_property
    def zone_object(self) -> ZoneObject:
        """The zone behind one PreloadQueue object."""
        return ZoneObject(Sql(self.ctx.storage), self.alarm, self.dependencies, self.settings)

    @cached_property
    def alarm(self) -> Alarm:
        return ObjectAlarm(self.ctx.storage)

    @cached_property
    def dependencies(self) -> Dependencies:
        return Dependencies(
            clock=self.clock,
            database=self.database,
            kv=self.kv,
            bucket=self.bucket,
            edge=self.edge,
            fetch=self.fetch,
            fetch_webhook=Fetcher(send_request, self.allowed_hosts).fetch,
            new_id=generate_id,
            log=self.log,
        )

    @cached_property
    def zones(self) -> RemoteZones:
        objects = DurableObjects(self.env.PRELOAD_QUEUE)

        async def send(zone_id: str, name: str, arguments: str) -> str:
            result: str = await objects.get(zone_id).call(zone_id, name, arguments)
            return result

        return RemoteZones(self.kv, send, _HOSTS.clear)

    @cached_property
    def hosts(self) -> HostDirectory:
        return HostDirectory(NAME, self.kv, self.clock, _HOSTS)

    @cached_property
    def cron(self) -> PreloadCron:
        return PreloadCron(self.zones, self.database, self.clock, self.log)

    @cached_property
    def api(self) -> PreloadApi:
        return PreloadApi(
            zones=self.zones,
            database=self.database,
            clock=self.clock,
            defer=self.ctx.waitUntil,
            admin_token=self.variables.text("ADMIN_TOKEN"),
            signing_keys=read_signing_keys(self.variables),
            check_url=partial(check_url, allowed=self.allowed_hosts),
        )

    @cached_property
    def routes(self) -> list[Route]:
        """The API, and the console with its files: on the Worker's own host only."""
        return [
            Route("GET", "/", serve_page(self.env, "preload")),
            Route("GET", "/:file", serve_file(self.env)),
            *self.api.build_routes(),
        ]

    def page_server(self, zone: Zone, request: Any) -> PageServer:
        """Serves one visitor of a zone's host."""

        async def forward(url: str, headers: HeaderPairs) -> Reply:
            return await forward_request(request, url, headers, self.allowed_hosts)

        index = PageIndex(self.database, zone.zone_id)
        return PageServer(
            config=zone.config,
            copies=CopyStore(zone.zone_id, self.bucket, self.edge, index, self.clock),
            clock=self.clock,
            fetch=self.fetch,
            forward=forward,
            defer=self.ctx.waitUntil,
            log=self.log,
            revalidating=_REVALIDATING,
        )

    async def handle_request(self, entry: Any, request: Any, bindings: tuple[Binding, ...]) -> Any:
        """Replies to a visitor of a zone's host, or to a caller of the API."""

        async def to_zone(zone: Zone) -> Any:
            reply = await self.page_server(zone, request).handle(to_request(request))
            return to_response(reply, self.ctx)

        async def to_api() -> Any:
            return await handle_request(entry, request, NAME, bindings, lambda: self.routes)

        return await self.hosts.dispatch(to_request(request).url, to_zone=to_zone, to_api=to_api)
