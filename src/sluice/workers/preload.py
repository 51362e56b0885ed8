"""edge-preload put together: a zone's object, the API, the serving of zones' own hosts, the cron."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Final

from sluice.core import errors
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests, Unavailable
from sluice.core.json_log import JsonLog
from sluice.core.net.addresses import AllowedHosts, check_url
from sluice.core.net.fetch import Fetcher
from sluice.core.ports import Clock, Fetch, HeaderPairs
from sluice.core.preload.zone_config import ZoneConfig, netloc_of, parse_zone
from sluice.core.timestamps import iso
from sluice.platform.bindings import Binding
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql
from sluice.platform.http.assets import serve_file, serve_page
from sluice.platform.http.conversion import to_request, to_response
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.http.forward import forward_request
from sluice.platform.http.transport import send_request, send_request_once
from sluice.platform.identity import generate_id
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.worker import handle_request, open_kv, open_log, read_variables
from sluice.services.preload.discovery.page_index import Pages
from sluice.services.preload.http.api import Api
from sluice.services.preload.serving.copies import Copies
from sluice.services.preload.serving.serving import Serving
from sluice.services.preload.zone.housekeeping import LOG_KEPT_S, forget_old_rows
from sluice.services.preload.zone.requests_shared import Settings
from sluice.services.preload.zone.services import Outside
from sluice.services.preload.zone.zone_object import ZoneObject
from sluice.web import Reply, Route
from sluice.web.openapi.common_docs import FILE, describe_page

NAME: Final = "edge-preload"
KNOWN_S: Final = 30.0  # for so long an isolate trusts what it read of a host
FREE_SUBREQUESTS: Final = 50  # what the platform's free plan allows one invocation
MAX_HOSTS_KNOWN: Final = 1000
WEBHOOK_BYTES: Final = 64 * 1024
WEBHOOK_TIMEOUT_S: Final = 10.0

# What each isolate remembers.
_HOSTS: Final[dict[str, tuple[float, tuple[str, ZoneConfig] | None]]] = {}
_REFRESHING: Final[set[str]] = set()


@dataclass(frozen=True, slots=True)
class Cloud:
    """The Worker's bindings behind the ports of the feature."""

    env: Any
    clock: Clock = field(default_factory=SystemClock)
    bucket: Any = None  # in place of CACHE_BUCKET

    @property
    def database(self) -> D1:
        return D1(self.env.DB)

    @property
    def log(self) -> JsonLog:
        return open_log(NAME)

    @property
    def allowed(self) -> AllowedHosts:
        return AllowedHosts.parse(read_variables(self.env).text("ALLOW_PRIVATE_HOSTS"))

    def tell(self, name: str, error: BaseException | None = None, **fields: object) -> None:
        if error is None:
            self.log.event(name, **fields)
        else:
            self.log.error(name, error, **fields)

    @property
    def fetch(self) -> Fetch:
        """Requests to an origin, each sent once."""
        return Fetcher(send_request_once, self.allowed).fetch

    @property
    def outside(self) -> Outside:
        return Outside(
            clock=self.clock,
            database=self.database,
            kv=open_kv(self.env, "PRELOAD_KV"),
            bucket=R2(self.bucket or self.env.CACHE_BUCKET),
            edge=EdgeCache(),
            fetch=self.fetch,
            new_id=generate_id,
            tell=self.tell,
        )

    @property
    def signing_keys(self) -> tuple[str, ...]:
        variables = read_variables(self.env)
        return tuple(filter(None, (variables.text("SIGNING_KEY"), variables.text("SIGNING_KEY_PREVIOUS"))))

    @property
    def settings(self) -> Settings:
        variables = read_variables(self.env)
        webhook = variables.url("ALERT_WEBHOOK_URL")
        settings = Settings(
            signing_keys=self.signing_keys,
            subrequests=variables.integer("PRELOAD_SUBREQUESTS", FREE_SUBREQUESTS, minimum=10, maximum=10_000),
            post_webhook=self._poster(webhook) if webhook else None,
            deployment=variables.text("DEPLOYMENT_ID") or _version_id(self.env),
        )
        variables.check()
        return settings

    def _poster(self, url: str) -> Callable[[dict[str, Any]], Awaitable[None]]:
        async def post(alert: dict[str, Any]) -> None:
            body, kind = json.dumps(alert).encode(), (("Content-Type", "application/json"),)
            limits: dict[str, Any] = {"max_bytes": WEBHOOK_BYTES, "timeout_s": WEBHOOK_TIMEOUT_S}
            fetcher = Fetcher(send_request, self.allowed)
            told = await fetcher.fetch(url, method="POST", headers=kind, body=body, **limits)
            if told.status >= 300:
                raise Unavailable(f"the alert webhook answered {told.status}")

        return post


class ShiftedAlarm:
    """The object's alarm by the Worker's own clock, which need not be the platform's."""

    def __init__(self, alarm: Alarm, clock: Clock) -> None:
        self._alarm = alarm
        self._clock = clock

    async def get(self) -> float | None:
        at_s = await self._alarm.get()
        return None if at_s is None else at_s + self._ahead_s()

    async def set(self, at_s: float) -> None:
        await self._alarm.set(at_s - self._ahead_s())

    async def delete(self) -> None:
        await self._alarm.delete()

    def _ahead_s(self) -> float:
        return self._clock.now() - SystemClock().now()


def zone_object(ctx: Any, cloud: Cloud) -> ZoneObject:
    """The object behind one PreloadQueue."""
    alarm = ShiftedAlarm(Alarm(ctx.storage), cloud.clock)
    return ZoneObject(Sql(ctx.storage), alarm, cloud.outside, cloud.settings)


async def called(zone: ZoneObject, zone_id: str, method: str, given: str) -> str:
    """A call that came over RPC; an expected error goes back whole, as a value."""
    try:
        return json.dumps({"done": await zone.call(zone_id, method, json.loads(given))})
    except SluiceError as error:
        return json.dumps({"error": _packed(error)})


class ZoneObjects:
    """The objects of all zones, as the API calls them."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud

    async def call(self, zone_id: str, method: str, given: dict[str, Any]) -> dict[str, Any]:
        stub = DurableObjects(self._cloud.env.PRELOAD_QUEUE).get(zone_id)
        outcome = json.loads(await stub.call(zone_id, method, json.dumps(given)))
        if "error" in outcome:
            raise _unpacked(outcome["error"])
        if method in {"configure", "restore", "unregister"}:
            _HOSTS.clear()
        done: dict[str, Any] = outcome["done"]
        return done

    async def ids(self) -> list[str]:
        names = [key.name async for key in open_kv(self._cloud.env, "PRELOAD_KV").keys("config:")]
        return [name.removeprefix("config:") for name in names]

    async def registered(self, zone_id: str) -> bool:
        return await open_kv(self._cloud.env, "PRELOAD_KV").get_text(f"config:{zone_id}") is not None


async def fetched(worker: Any, request: Any, bindings: tuple[Binding, ...], cloud: Cloud) -> Any:
    """Answer one request: a page of a zone's own host, or the API."""
    given = to_request(request)
    found = await zone_of_host(given.url, cloud)
    if found is None:
        return await handle_request(worker, request, NAME, bindings, _routes(worker, cloud))
    return to_response(await _serving(worker, request, cloud, *found).answer(given), worker.ctx)


async def ticked(cloud: Cloud) -> None:
    """The minute's cron: every zone in turn, and once an hour what is too old."""
    zones, now = ZoneObjects(cloud), cloud.clock.now()
    for zone_id in await zones.ids():
        try:
            await zones.call(zone_id, "tick", {})
        except SluiceError as error:
            cloud.tell("tick.failed", error, zone=zone_id)
    if int(now) % 3600 < 60:
        await forget_old_rows(cloud.database, now, iso(now - LOG_KEPT_S))


async def zone_of_host(url: str, cloud: Cloud) -> tuple[str, ZoneConfig] | None:
    """The zone whose page a URL is; None for the Worker's own addresses."""
    try:
        host = netloc_of(url)
    except Invalid:
        return None
    if host.startswith(f"{NAME}."):
        return None
    known = _HOSTS.get(host)
    if known is None or known[0] <= cloud.clock.now():
        known = (cloud.clock.now() + KNOWN_S, await _looked_up(host, cloud))
        if len(_HOSTS) >= MAX_HOSTS_KNOWN:
            _HOSTS.clear()
        _HOSTS[host] = known
    return known[1]


async def _looked_up(host: str, cloud: Cloud) -> tuple[str, ZoneConfig] | None:
    kv = open_kv(cloud.env, "PRELOAD_KV")
    zone_id = await kv.get_text(f"host:{host}")
    config = await kv.get_json(f"config:{zone_id}") if zone_id else None
    return (zone_id, parse_zone(config)) if zone_id and config else None


def _routes(worker: Any, cloud: Cloud) -> list[Route]:
    """The API, and the console with its files: on the Worker's own host only."""
    return [
        Route("GET", "/", serve_page(cloud.env, "preload"), doc=describe_page("The preload service in a browser")),
        Route("GET", "/:file", serve_file(cloud.env), doc=FILE),
        *_api(worker, cloud).routes(),
    ]


def _api(worker: Any, cloud: Cloud) -> Api:
    return Api(
        zones=ZoneObjects(cloud),
        database=cloud.database,
        clock=cloud.clock,
        defer=worker.ctx.waitUntil,
        admin_token=read_variables(cloud.env).text("ADMIN_TOKEN"),
        signing_keys=cloud.signing_keys,
        check_address=lambda url: check_url(url, cloud.allowed),
    )


def _serving(worker: Any, request: Any, cloud: Cloud, zone_id: str, zone: ZoneConfig) -> Serving:
    outside = cloud.outside

    async def passed_on(url: str, headers: HeaderPairs) -> Reply:
        return await forward_request(request, url, headers, cloud.allowed)

    return Serving(
        zone=zone,
        copies=Copies(zone_id, outside.bucket, outside.edge, Pages(outside.database, zone_id), cloud.clock),
        clock=cloud.clock,
        fetch=cloud.fetch,
        forward=passed_on,
        defer=worker.ctx.waitUntil,
        tell=cloud.tell,
        refreshing=_REFRESHING,
    )


def _version_id(env: Any) -> str:
    """Which version of the Worker this is; "" where nobody says."""
    metadata = getattr(env, "CF_VERSION_METADATA", None)
    told = metadata.get("id") if isinstance(metadata, dict) else getattr(metadata, "id", None)
    return str(told or "")


def _packed(error: SluiceError) -> dict[str, Any]:
    return {
        "kind": type(error).__name__,
        "message": str(error),
        "retry_after_s": getattr(error, "retry_after_s", None),
        "fields": [[bad.field, bad.reason] for bad in getattr(error, "fields", ())],
    }


def _unpacked(packed: dict[str, Any]) -> SluiceError:
    kind = getattr(errors, packed["kind"], SluiceError)
    if kind is TooManyRequests:
        return TooManyRequests(packed["message"], packed["retry_after_s"])
    if kind is Invalid:
        return Invalid(packed["message"], [BadField(path, reason) for path, reason in packed["fields"]])
    made: SluiceError = kind(packed["message"])
    return made
