"""What edge-preload answers over HTTP: the signed API for sites, and the operator's API."""

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from sluice.core.errors import BadField, Invalid, Refused, UnsupportedMediaType
from sluice.core.ports import Clock, Database, Defer
from sluice.core.preload.signing import SignedRequest
from sluice.core.preload.zone_config import check_zone_id, parse_zone
from sluice.core.strict_json import parse_json
from sluice.services.preload.http import docs
from sluice.services.preload.http.requests import MAX_BODY_BYTES, MIN_KEY_CHARS, zone_of
from sluice.web import Reply, Request, Route, read_bytes, read_json, read_query
from sluice.web.admin import require_admin

NO_STORE: Final = {"Cache-Control": "no-store"}
ACCEPTED: Final = frozenset({"enqueue", "sitemap"})
MAX_VERSION_DIGITS: Final = 9

Json = dict[str, Any]


class Zones(Protocol):
    """The objects of all zones."""

    async def call(self, zone_id: str, method: str, given: Json) -> Json: ...
    async def ids(self) -> list[str]: ...
    async def registered(self, zone_id: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    zones: Zones
    database: Database
    clock: Clock
    defer: Defer
    admin_token: str
    signing_keys: tuple[str, ...]
    # Raises Refused for an address that must not be fetched.
    check_address: Callable[[str], object]

    def routes(self) -> list[Route]:
        zone = "/api/v1/zones/:zone"
        return [
            Route("POST", "/api/v1/preload", self._signed("preload"), doc=docs.PRELOAD),
            Route("POST", "/api/v1/purge", self._signed("purge"), doc=docs.PURGE),
            Route("GET", "/api/v1/zones", self._list_zones, doc=docs.LIST),
            Route("PUT", f"{zone}/config", self._configure, doc=docs.CONFIGURE),
            Route("GET", f"{zone}/config", self._ask("config"), doc=docs.CONFIG),
            Route("DELETE", f"{zone}/config", self._ask("unregister"), doc=docs.UNREGISTER),
            Route("GET", f"{zone}/config/versions", self._ask("versions"), doc=docs.VERSIONS),
            Route("POST", f"{zone}/config/versions/:version/restore", self._restore, doc=docs.RESTORE),
            Route("GET", f"{zone}/status", self._ask("status"), doc=docs.STATUS),
            Route("GET", f"{zone}/batches/:id", self._batch, doc=docs.BATCH_OF),
            Route("POST", f"{zone}/batches/:id/cancel", self._cancel, doc=docs.CANCEL),
            Route("GET", f"{zone}/failed", self._failed, doc=docs.FAILED),
            Route("POST", f"{zone}/failed/replay", self._tell("replay"), doc=docs.REPLAY),
            Route("DELETE", f"{zone}/failed", self._tell("delete_failed"), doc=docs.DELETE_FAILED),
            Route("GET", f"{zone}/alerts", self._rows("preload_alerts", "raised_at", "alerts"), doc=docs.ALERTS),
            Route("GET", f"{zone}/log", self._rows("preload_log", "id", "log"), doc=docs.LOG),
            Route("POST", f"{zone}/enqueue", self._tell("enqueue"), doc=docs.ENQUEUE),
            Route("POST", f"{zone}/sitemap", self._tell("sitemap"), doc=docs.SITEMAP),
            Route("GET", f"{zone}/queue", self._ask("queue"), doc=docs.QUEUE),
            Route("GET", f"{zone}/pages", self._rows("cached_pages", "stored_at", "pages"), doc=docs.PAGES),
            Route("PUT", f"{zone}/pages", self._tell("learn"), doc=docs.LEARN),
            Route("POST", f"{zone}/pause", self._ask("pause"), doc=docs.PAUSE),
            Route("POST", f"{zone}/resume", self._ask("resume"), doc=docs.RESUME),
        ]

    def _signed(self, method: str) -> Callable[[Request], Awaitable[Reply]]:
        async def handle(request: Request) -> Reply:
            body = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            signed = SignedRequest.read(request.method, target_of(request), request.headers, body)
            value, mistake = _parsed(body)
            zone_id = zone_of(value)
            if zone_id is None or not await self.zones.registered(zone_id):
                # Whoever cannot sign learns nothing more, and makes no object of a zone that does not exist.
                signed.verify(self.signing_keys, self.clock.now())
            if mistake:
                raise mistake
            _check_json_type(request)
            if zone_id is None:
                raise Invalid.from_fields([BadField("zone_id", "is required: 1 to 64 letters, digits, - and _")])
            done = await self.zones.call(zone_id, method, {"signed": asdict(signed), "body": value})
            self.defer(self._settle(zone_id))
            headers = NO_STORE | ({"X-Idempotent-Replayed": "true"} if done["replayed"] else {})
            return Reply.json(done["reply"], 202, headers)

        return handle

    async def _settle(self, zone_id: str) -> None:
        await self.zones.call(zone_id, "settle", {})

    async def _list_zones(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        return Reply.json({"zones": await self.zones.ids()}, headers=NO_STORE)

    async def _configure(self, request: Request) -> Reply:
        zone_id = self._admitted(request)
        given = await read_json(request, max_bytes=MAX_BODY_BYTES)
        key = given.pop("signing_key", None) if isinstance(given, dict) else None
        if key is not None and (not isinstance(key, str) or len(key) < MIN_KEY_CHARS):
            raise Invalid.from_fields([BadField("signing_key", f"is a text of at least {MIN_KEY_CHARS} characters")])
        self._check_addresses(given)
        done = await self.zones.call(zone_id, "configure", {"config": given, "signing_key": key})
        return Reply.json(done, headers=NO_STORE)

    def _check_addresses(self, given: object) -> None:
        zone = parse_zone(given)
        named: dict[str, str | None] = {
            "site_url": zone.site_url,
            "origin_url": zone.origin_url,
            "preload_sitemap_url": zone.sitemap_url,
        }
        port = urlsplit(zone.site_url).port
        for place, host in enumerate(zone.hosts):
            named[f"hosts[{place}]"] = f"{zone.scheme}://{host}" + (f":{port}" if port and ":" not in host else "")
        mistakes = []
        for path, url in named.items():
            try:
                if url is not None:
                    self.check_address(url)
            except Refused as error:
                mistakes.append(BadField(path, str(error)))
        if mistakes:
            raise Invalid.from_fields(mistakes)

    async def _restore(self, request: Request) -> Reply:
        zone_id, version = self._admitted(request), request.params["version"]
        if not (version.isascii() and version.isdigit()) or len(version) > MAX_VERSION_DIGITS:
            raise Invalid("the version is a number, as GET config/versions tells them")
        done = await self.zones.call(zone_id, "restore", {"version": int(version)})
        return Reply.json(done, headers=NO_STORE)

    async def _batch(self, request: Request) -> Reply:
        """For the operator, and for the site that signed the batch."""
        given: Json = {"batch_id": request.params["id"]}
        if "x-signature" not in request.headers:
            return Reply.json(await self.zones.call(self._admitted(request), "batch", given), headers=NO_STORE)
        zone_id = check_zone_id(request.params["zone"])
        signed = SignedRequest.read(request.method, target_of(request), request.headers, b"")
        if not await self.zones.registered(zone_id):
            signed.verify(self.signing_keys, self.clock.now())
        done = await self.zones.call(zone_id, "signed_batch", given | {"signed": asdict(signed)})
        return Reply.json(done, headers=NO_STORE)

    async def _cancel(self, request: Request) -> Reply:
        given = {"batch_id": request.params["id"]}
        return Reply.json(await self.zones.call(self._admitted(request), "cancel", given), headers=NO_STORE)

    async def _failed(self, request: Request) -> Reply:
        zone_id = self._admitted(request)
        given = {"limit": read_query(request, docs.Listing).limit}
        return Reply.json(await self.zones.call(zone_id, "failed", given), headers=NO_STORE)

    def _ask(self, method: str) -> Callable[[Request], Awaitable[Reply]]:
        async def handle(request: Request) -> Reply:
            return Reply.json(await self.zones.call(self._admitted(request), method, {}), headers=NO_STORE)

        return handle

    def _tell(self, method: str) -> Callable[[Request], Awaitable[Reply]]:
        async def handle(request: Request) -> Reply:
            zone_id = self._admitted(request)
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            if content:
                _check_json_type(request)
            body = parse_json(content) if content.strip() else {}
            done = await self.zones.call(zone_id, method, {"body": body})
            return Reply.json(done, 202 if method in ACCEPTED else 200, NO_STORE)

        return handle

    def _rows(self, table: str, order: str, name: str) -> Callable[[Request], Awaitable[Reply]]:
        async def handle(request: Request) -> Reply:
            zone_id = self._admitted(request)
            sql = f"SELECT * FROM {table} WHERE zone_id = ? ORDER BY {order} DESC LIMIT ?"  # noqa: S608
            rows = await self.database.all(sql, zone_id, read_query(request, docs.Listing).limit)
            return Reply.json({name: rows}, headers=NO_STORE)

        return handle

    def _admitted(self, request: Request) -> str:
        require_admin(request, self.admin_token)
        return check_zone_id(request.params["zone"])


def target_of(request: Request) -> str:
    """The path as it was sent, with its query if it has one: nothing of it may go unsigned."""
    _, mark, query = request.url.partition("#")[0].partition("?")
    return request.path + mark + query


def _parsed(body: bytes) -> tuple[Any, Invalid | None]:
    try:
        return parse_json(body), None
    except Invalid as error:
        return None, error


def _check_json_type(request: Request) -> None:
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent != "application/json":
        raise UnsupportedMediaType("send the body as Content-Type: application/json")
