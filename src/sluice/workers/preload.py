"""edge-preload: its ports, made from the bindings."""

from typing import Any, Final

from sluice.core.net.fetch import Fetcher
from sluice.core.remote import Message
from sluice.platform.bindings import Binding, LazyBinding
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql
from sluice.platform.http.assets import Assets
from sluice.platform.http.bodies import JsBodies
from sluice.platform.http.conversion import to_request, to_response
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.http.proxy import VisitorRequest
from sluice.platform.http.transport import send_request, send_request_once
from sluice.platform.identity import generate_id
from sluice.platform.invocation import CurrentInvocation, enter_invocation
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.worker import Compose, handle_request, open_kv, open_log, read_variables
from sluice.services.preload.service import IsolateState, PreloadPorts, PreloadService
from sluice.services.preload.zone.settings import read_version_id
from sluice.services.preload.zone.zone_object import ZoneObject

NAME: Final = "edge-preload"

# What each isolate remembers.
_REMEMBERED: Final = IsolateState()
# Bindings and variables are the same for all invocations of an isolate, so the first one makes what answers them all.
_SERVICES: Final[dict[str, PreloadService]] = {}


def enter_service(env: Any, ctx: Any) -> PreloadService:
    """Return the isolate's service, for one request or cron run."""
    enter_invocation(ctx)
    try:
        return _SERVICES[NAME]
    except KeyError:
        return _SERVICES.setdefault(NAME, open_preload(env, CurrentInvocation()))


def open_preload(env: Any, ctx: Any) -> PreloadService:
    """Return the service; `ctx` is that of the zone's object, or stands for that of the request or cron run."""
    return PreloadService(make_ports(env, ctx), _REMEMBERED)


def open_zone(env: Any, ctx: Any) -> ZoneObject:
    """Return the zone behind one PreloadQueue object."""
    return open_preload(env, ctx).open_zone(Sql(ctx.storage), Alarm(ctx.storage))


def make_ports(env: Any, ctx: Any) -> PreloadPorts:
    edge, objects = EdgeCache(), DurableObjects(LazyBinding(env, "PRELOAD_QUEUE"))

    async def send_to_zone(zone_id: str, name: str, message: Message) -> Message:
        # A new object does not know its id, so each call brings it.
        answer: Message = await objects.get(zone_id).call(zone_id, name, message)
        return answer

    return PreloadPorts(
        variables=read_variables(env),
        version_id=read_version_id(getattr(env, "CF_VERSION_METADATA", None)),
        database=D1(LazyBinding(env, "DB")),
        kv=open_kv(env, "PRELOAD_KV"),
        bucket=R2(LazyBinding(env, "CACHE_BUCKET")),
        edge=edge,
        edge_texts=edge,
        bodies=JsBodies(),
        files=Assets(env),
        send_to_zone=send_to_zone,
        open_fetch=lambda allowed: Fetcher(send_request_once, allowed).fetch,
        open_webhook_fetch=lambda allowed: Fetcher(send_request, allowed).fetch,
        clock=SystemClock(),
        new_id=generate_id,
        defer=ctx.waitUntil,
        log=open_log(NAME),
    )


async def answer_request(
    service: PreloadService,
    entry: Any,
    request: Any,
    bindings: tuple[Binding, ...],
    compose: Compose = open_preload,
) -> Any:
    """Reply to a visitor of a zone's host, to a caller of the API, or by the host's own server."""
    return await service.serve(
        to_request(request),
        VisitorRequest(request.js_object, lambda: service.allowed_hosts).send,
        respond=lambda reply: to_response(reply, entry.ctx),
        to_api=lambda: handle_request(entry, request, NAME, bindings, compose),
    )
