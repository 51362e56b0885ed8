"""Who may ask a zone for something: its operator by the token, its site by a signature. Handlers are made here, of calls."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import BadField, Invalid, UnsupportedMediaType
from sluice.core.json_text import parse_json
from sluice.core.ports import Clock, Defer
from sluice.core.preload.request_signing import SignedRequest
from sluice.core.preload.zone_config import ZONE_ID, check_zone_id
from sluice.services.preload.http.requests import MAX_BODY_BYTES
from sluice.services.preload.zone.calls import Zones
from sluice.services.preload.zone.signed_calls import ShownKind, SignedReply
from sluice.services.preload.zone.zone_object import ZoneCalls
from sluice.web import Handler, Reply, Request, read_bytes
from sluice.web.admin import OperatorGate
from sluice.web.operations import Operation, describe
from sluice.web.parameters import PathParameter

NO_STORE: Final = {"Cache-Control": "no-store"}
EXAMPLE_ID: Final = "7f6c4a3e-5d1b-4c2a-9e8f-0a1b2c3d4e5f"
_UUID4: Final = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"

ZONE: Final = PathParameter(
    "zone", check_zone_id, {"type": "string", "pattern": f"^{ZONE_ID.pattern}$"}, "The zone's id.", "abc123xyz"
)
# An id of another form is one that is not known.
BATCH_ID: Final = PathParameter(
    "id", str, {"type": "string", "pattern": f"^preload-{_UUID4}$"}, "The batch's id.", f"preload-{EXAMPLE_ID}"
)
PURGE_ID: Final = PathParameter(
    "id", str, {"type": "string", "pattern": f"^purge-{_UUID4}$"}, "The purge's id.", f"purge-{EXAMPLE_ID}"
)

SignedCall = Callable[[ZoneCalls, SignedRequest, str], Awaitable[SignedReply]]
# Returns what the reply is made of.
Call = Callable[[ZoneCalls], Awaitable[object]]
RequestCall = Callable[[ZoneCalls, Request], Awaitable[object]]
BodyCall = Callable[[ZoneCalls, str], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessHandlers:
    zones: Zones
    clock: Clock
    defer: Defer
    gate: OperatorGate
    signing_keys: tuple[str, ...]

    def by_signature(self, operation: Operation, call: SignedCall) -> Handler:
        """Return a handler for a signed body that names the zone."""

        @describe(operation)
        async def handle(request: Request) -> Reply:
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, content)
            zone_id, mistake = _find_zone_id(content)
            await self._refuse_strangers(zone_id, signed)
            if mistake:
                raise mistake
            _require_json_type(request)
            if zone_id is None:
                raise Invalid.from_fields([BadField("zone_id", "is required: 1 to 64 letters, digits, - and _")])
            zone = self.zones.get(zone_id)
            result = await call(zone, signed, _decode(content))
            self.defer(zone.settle())
            return _build_signed_reply(operation, result)

        return handle

    def by_site(self, operation: Operation, call: SignedCall) -> Handler:
        """Return a handler for a signed body at the path of a zone."""

        @describe(operation)
        async def handle(request: Request) -> Reply:
            zone_id = ZONE.read(request)
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, content)
            await self._refuse_strangers(zone_id, signed)
            _require_json_type(request)
            parse_json(content)
            return _build_signed_reply(operation, await call(self.zones.get(zone_id), signed, _decode(content)))

        return handle

    def by_site_or_operator(self, operation: Operation, for_site: SignedCall, for_operator: BodyCall) -> Handler:
        """Return a handler for a body from either; who signs is a site."""
        site, operator = self.by_site(operation, for_site), self.by_operator_with_body(operation, for_operator)
        return describe(operation)(_choose_by_signature(site, operator))

    def show(
        self, operation: Operation, what: ShownKind, call: RequestCall, item: PathParameter[str] | None = None
    ) -> Handler:
        """Return a handler that shows something to the operator, and to the site that signs its request."""

        async def show_to_site(request: Request) -> Reply:
            zone_id = ZONE.read(request)
            signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, b"")
            await self._refuse_strangers(zone_id, signed)
            item_id = item.read(request) if item else ""
            return _build_reply(operation, await self.zones.get(zone_id).show_to_site(signed, what, item_id))

        return describe(operation)(_choose_by_signature(show_to_site, self.by_operator_with_request(operation, call)))

    def by_operator(self, operation: Operation, call: Call) -> Handler:
        """Return a handler for the operator of a zone."""
        return self.by_operator_with_request(operation, lambda zone, _request: call(zone))

    def by_operator_with_request(self, operation: Operation, call: RequestCall) -> Handler:
        """Return a handler for the operator of a zone, by a call that takes something of the request."""

        @describe(operation)
        async def handle(request: Request) -> Reply:
            return _build_reply(operation, await call(await self.admit(request), request))

        return handle

    def by_operator_with_body(self, operation: Operation, call: BodyCall) -> Handler:
        """Return a handler for the operator of a zone, by a call that takes the body, which may be left out."""

        @describe(operation)
        async def handle(request: Request) -> Reply:
            zone = await self.admit(request)
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            if content:
                _require_json_type(request)
            if content.strip():
                parse_json(content)
            return _build_reply(operation, await call(zone, _decode(content) or "{}"))

        return handle

    async def admit(self, request: Request) -> ZoneCalls:
        """Return the zone of an operator's request; raise Unauthorized without the token."""
        await self.gate.admit(request)
        return self.zones.get(ZONE.read(request))

    async def _refuse_strangers(self, zone_id: str | None, signed: SignedRequest) -> None:
        """Raise Unauthorized for an unknown zone: a caller who cannot sign learns nothing more, and no object is created for it."""
        if zone_id is None or not await self.zones.is_registered(zone_id):
            signed.verify(self.signing_keys, self.clock.now())


def _choose_by_signature(for_site: Handler, for_operator: Handler) -> Handler:
    async def handle(request: Request) -> Reply:
        return await (for_site if "x-signature" in request.headers else for_operator)(request)

    return handle


def _build_reply(operation: Operation, value: object) -> Reply:
    return Reply.json(value, _status_of(operation), NO_STORE)


def _build_signed_reply(operation: Operation, result: SignedReply) -> Reply:
    headers = {"Content-Type": "application/json"} | NO_STORE
    replayed = {"X-Idempotent-Replayed": "true"} if result.replayed else {}
    return Reply.text(result.text, _status_of(operation), headers | replayed)


def _status_of(operation: Operation) -> int:
    """Return the status of the one reply that is no problem."""
    [status] = operation.replies
    return status


def _find_zone_id(content: bytes) -> tuple[str | None, Invalid | None]:
    """Return the zone id in a body that is not validated yet, None without a valid one; and why it is not JSON."""
    try:
        body = parse_json(content)
    except Invalid as error:
        return None, error
    zone_id = body.get("zone_id") if isinstance(body, dict) else None
    return (zone_id if isinstance(zone_id, str) and ZONE_ID.fullmatch(zone_id) else None), None


def signed_path(request: Request) -> str:
    """Return the path as it was sent, with its query: nothing of it may go unsigned."""
    _, mark, query = request.url.partition("#")[0].partition("?")
    return request.path + mark + query


def _decode(content: bytes) -> str:
    """Return the text of a body that `parse_json` has read."""
    return content.decode("utf-8-sig").strip()


def _require_json_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType("send the body as Content-Type: application/json")
