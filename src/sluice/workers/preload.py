"""edge-preload, put together from its bindings."""

from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

from sluice.core.net.addresses import AllowedHosts, check_url
from sluice.core.net.fetch import Fetcher
from sluice.core.ports import Alarm, Bucket, Clock, Database, Fetch, FetchResponse, Kv, Log
from sluice.core.variables import Variables
from sluice.platform.bindings import Binding, LazyBinding
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm as ObjectAlarm
from sluice.platform.durable_objects import DurableObjects, Sql
from sluice.platform.http.assets import serve_file, serve_page
from sluice.platform.http.bodies import JsBodies
from sluice.platform.http.conversion import to_request, to_response
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.http.proxy import VisitorRequest
from sluice.platform.http.transport import send_request, send_request_once
from sluice.platform.identity import generate_id
from sluice.platform.invocation import CurrentInvocation, enter_invocation
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.worker import handle_request, open_kv, open_log, read_variables
from sluice.services.preload.cron import PreloadCron, ZoneList
from sluice.services.preload.http.api import PreloadApi
from sluice.services.preload.http.operator_gate import OperatorGate, WrongTokens
from sluice.services.preload.purge_lists.reader import PurgeMemory, PurgeReader
from sluice.services.preload.serving.host_directory import HostCache, HostDirectory, Zone
from sluice.services.preload.serving.hot_edge import HotEdge, HotPages
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.serving.own_address import ReturnedWarming, pass_to_own_address
from sluice.services.preload.serving.own_warming import OwnWarming
from sluice.services.preload.zone.calls import RemoteZones
from sluice.services.preload.zone.services import Dependencies
from sluice.services.preload.zone.settings import (
    PreloadSettings,
    find_short_secrets,
    read_api_hosts,
    read_secret,
    read_signing_keys,
)
from sluice.services.preload.zone.zone_object import ZoneObject
from sluice.web import Cors, Route
from sluice.web.health import Check
from sluice.workers.preload_visit import PreloadVisit

NAME: Final = "edge-preload"

# What each isolate remembers.
_HOSTS: Final = HostCache()
_ZONES: Final = ZoneList()
_HOT_PAGES: Final = HotPages()
_MEMORY: Final = IsolateMemory()
_PURGES: Final = PurgeMemory()
_WRONG_TOKENS: Final = WrongTokens()
# Bindings and variables are the same for all invocations of an isolate, so the first one makes what answers them all.
_WORKERS: "Final[dict[str, PreloadWorker]]" = {}


def enter_worker(env: Any, ctx: Any) -> "PreloadWorker":
    """The isolate's parts, for one request or cron run."""
    enter_invocation(ctx)
    return _WORKERS.setdefault(NAME, PreloadWorker(env, CurrentInvocation()))


class PreloadWorker:
    """The parts of edge-preload. `ctx` is that of the zone's object, or stands for that of the request or cron run."""

    cors: Cors | None = None

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
        return D1(LazyBinding(self.env, "DB"))

    @cached_property
    def kv(self) -> Kv:
        return open_kv(self.env, "PRELOAD_KV")

    @cached_property
    def bucket(self) -> Bucket:
        return R2(LazyBinding(self.env, "CACHE_BUCKET"))

    @cached_property
    def edge(self) -> EdgeCache:
        return EdgeCache()

    @cached_property
    def hot_edge(self) -> HotEdge:
        """The edge cache for visitors."""
        return HotEdge(self.edge, JsBodies(), self.clock, _HOT_PAGES)

    @cached_property
    def allowed_hosts(self) -> AllowedHosts:
        return AllowedHosts.parse(self.variables.text("ALLOW_PRIVATE_HOSTS"))

    @cached_property
    def fetch(self) -> Fetch:
        """Requests to an origin, each sent once."""

        async def fetch(*arguments: Any, **options: Any) -> FetchResponse:
            return await Fetcher(send_request_once, self.allowed_hosts).fetch(*arguments, **options)

        return fetch

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
        objects = DurableObjects(LazyBinding(self.env, "PRELOAD_QUEUE"))

        async def send(zone_id: str, name: str, arguments: str) -> str:
            result: str = await objects.get(zone_id).call(zone_id, name, arguments)
            return result

        def forget_remembered() -> None:
            _HOSTS.clear()
            _ZONES.clear()

        return RemoteZones(self.kv, self.database, send, forget_remembered)

    @cached_property
    def hosts(self) -> HostDirectory:
        return HostDirectory(
            read_api_hosts=lambda: read_api_hosts(self.variables),
            kv=self.kv,
            database=self.database,
            clock=self.clock,
            log=self.log,
            cache=_HOSTS,
            load_config=lambda zone_id: self.zones.get(zone_id).show_config(),
        )

    @cached_property
    def cron(self) -> PreloadCron:
        return PreloadCron(self.zones, _ZONES, self.database, self.clock, self.log)

    @cached_property
    def gate(self) -> OperatorGate:
        problem = find_short_secrets(self.variables).get("ADMIN_TOKEN")
        return OperatorGate(read_secret(self.variables, "ADMIN_TOKEN"), problem, self.clock, _WRONG_TOKENS)

    def check_secrets(self) -> dict[str, Check]:
        """The secrets that are too short, for /health."""
        problems = find_short_secrets(self.variables)
        return {name: Check("secret", ok=False, error=reason) for name, reason in problems.items()}

    @cached_property
    def api(self) -> PreloadApi:
        return PreloadApi(
            zones=self.zones,
            database=self.database,
            clock=self.clock,
            defer=self.ctx.waitUntil,
            gate=self.gate,
            signing_keys=read_signing_keys(self.variables),
            check_url=partial(check_url, allowed=self.allowed_hosts),
        )

    @cached_property
    def routes(self) -> list[Route]:
        """The API, and the console with its files: on the Worker's own host only."""
        return [
            Route("GET", "/", serve_page(self.env, "preload")),
            Route("GET", "/:file", serve_file(self.env)),
            Route("GET", "/:folder/:file", serve_file(self.env)),
            *self.api.build_routes(),
        ]

    def purge_reader(self, zone: Zone) -> PurgeReader:
        return PurgeReader(
            zone_id=zone.zone_id,
            texts=self.edge,
            clock=self.clock,
            log=self.log,
            memory=_PURGES,
            load=self.zones.get(zone.zone_id).show_purges,
        )

    async def handle_request(self, entry: Any, request: Any, bindings: tuple[Binding, ...]) -> Any:
        """Replies to a visitor of a zone's host, to a caller of the API, or by the host's own server."""
        incoming = to_request(request)

        async def to_zone(zone: Zone) -> Any:
            current = replace(zone, config=await self.purge_reader(zone).read_config(zone.config))
            return to_response(
                await PreloadVisit(self, current, request, _MEMORY).page_server.handle(incoming), self.ctx
            )

        async def to_api() -> Any:
            return await handle_request(entry, request, NAME, bindings, type(self), check_more=self.check_secrets)

        async def to_nobody() -> Any:
            send = VisitorRequest(request.js_object, lambda: self.allowed_hosts).send
            warming = ReturnedWarming(self.hosts.find_zone_behind, make_own_warming)
            return to_response(await pass_to_own_address(incoming, send, warming), self.ctx)

        def make_own_warming(zone: Zone) -> OwnWarming:
            return PreloadVisit(self, zone, request, _MEMORY).own_warming

        return await self.hosts.dispatch(incoming.url, to_zone=to_zone, to_api=to_api, to_nobody=to_nobody)
