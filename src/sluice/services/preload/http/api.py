"""The HTTP API of edge-preload: the signed API for sites, and the operator's API."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from sluice.core.errors import BadField, Invalid, Refused, UnsupportedMediaType
from sluice.core.json_text import parse_json
from sluice.core.ports import Clock, Database, Defer
from sluice.core.preload.request_signing import SignedRequest
from sluice.core.preload.zone_config import check_zone_id, parse_config
from sluice.services.preload.http.requests import MAX_BODY_BYTES, MIN_KEY_CHARS, read_limit, read_zone_id
from sluice.services.preload.zone.calls import Json, SignedReply, ZoneCalls, Zones
from sluice.web import Handler, Reply, Request, Route, read_bytes, read_json
from sluice.web.admin import require_admin

NO_STORE: Final = {"Cache-Control": "no-store"}
MAX_VERSION_DIGITS: Final = 9

SignedCall = Callable[[ZoneCalls, SignedRequest, Any], Awaitable[SignedReply]]
Call = Callable[[ZoneCalls], Awaitable[Json]]
BodyCall = Callable[[ZoneCalls, Any], Awaitable[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreloadApi:
    zones: Zones
    database: Database
    clock: Clock
    defer: Defer
    admin_token: str
    signing_keys: tuple[str, ...]
    # Raises Refused for a URL that must not be fetched.
    check_url: Callable[[str], object]

    def build_routes(self) -> list[Route]:
        return [*self._build_signed_routes(), *self._build_config_routes(), *self._build_zone_routes()]

    def _build_signed_routes(self) -> list[Route]:
        preload = self._handle_signed(lambda zone, signed, body: zone.preload(signed, body))
        purge = self._handle_signed(lambda zone, signed, body: zone.purge(signed, body))
        return [
            Route("POST", "/api/v1/preload", preload),
            Route("POST", "/api/v1/purge", purge),
        ]

    def _build_config_routes(self) -> list[Route]:
        config = "/api/v1/zones/:zone/config"
        show = self._handle(lambda zone: zone.show_config())
        unregister = self._handle(lambda zone: zone.unregister())
        versions = self._handle(lambda zone: zone.list_versions())
        return [
            Route("GET", "/api/v1/zones", self._list_zones),
            Route("PUT", config, self._configure),
            Route("GET", config, show),
            Route("DELETE", config, unregister),
            Route("GET", f"{config}/versions", versions),
            Route("POST", f"{config}/versions/:version/restore", self._restore),
        ]

    def _build_zone_routes(self) -> list[Route]:
        zone = "/api/v1/zones/:zone"
        status = self._handle(lambda zone: zone.show_status())
        replay = self._handle_body(lambda zone, body: zone.replay_failed(body))
        delete = self._handle_body(lambda zone, body: zone.delete_failed(body))
        enqueue = self._handle_body(lambda zone, body: zone.enqueue(body), status=202)
        sitemap = self._handle_body(lambda zone, body: zone.crawl_sitemap(body), status=202)
        queue = self._handle(lambda zone: zone.show_queue())
        learn = self._handle_body(lambda zone, body: zone.learn_pages(body))
        pause = self._handle(lambda zone: zone.pause())
        resume = self._handle(lambda zone: zone.resume())
        return [
            Route("GET", f"{zone}/status", status),
            Route("GET", f"{zone}/batches/:id", self._show_batch),
            Route("POST", f"{zone}/batches/:id/cancel", self._cancel_batch),
            Route("GET", f"{zone}/failed", self._list_failed),
            Route("POST", f"{zone}/failed/replay", replay),
            Route("DELETE", f"{zone}/failed", delete),
            Route("GET", f"{zone}/alerts", self._list_rows("preload_alerts", "raised_at", "alerts")),
            Route("GET", f"{zone}/log", self._list_rows("preload_log", "id", "log")),
            Route("POST", f"{zone}/enqueue", enqueue),
            Route("POST", f"{zone}/sitemap", sitemap),
            Route("GET", f"{zone}/queue", queue),
            Route("GET", f"{zone}/pages", self._list_rows("cached_pages", "stored_at", "pages")),
            Route("PUT", f"{zone}/pages", learn),
            Route("POST", f"{zone}/pause", pause),
            Route("POST", f"{zone}/resume", resume),
        ]

    def _handle_signed(self, call: SignedCall) -> Handler:
        async def handle(request: Request) -> Reply:
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, content)
            body, mistake = _try_parse(content)
            zone_id = read_zone_id(body)
            if zone_id is None or not await self.zones.is_registered(zone_id):
                # A caller who cannot sign learns nothing more, and creates no object of a zone that does not exist.
                signed.verify(self.signing_keys, self.clock.now())
            if mistake:
                raise mistake
            _require_json_type(request)
            if zone_id is None:
                raise Invalid.from_fields([BadField("zone_id", "is required: 1 to 64 letters, digits, - and _")])
            zone = self.zones.get(zone_id)
            result = await call(zone, signed, body)
            self.defer(zone.settle())
            headers = NO_STORE | ({"X-Idempotent-Replayed": "true"} if result.replayed else {})
            return Reply.json(result.reply, 202, headers)

        return handle

    async def _list_zones(self, request: Request) -> Reply:
        require_admin(request, self.admin_token)
        return Reply.json({"zones": await self.zones.list_ids()}, headers=NO_STORE)

    async def _configure(self, request: Request) -> Reply:
        zone = self._admit(request)
        body = await read_json(request, max_bytes=MAX_BODY_BYTES)
        key = body.pop("signing_key", None) if isinstance(body, dict) else None
        if key is not None and (not isinstance(key, str) or len(key) < MIN_KEY_CHARS):
            raise Invalid.from_fields([BadField("signing_key", f"is a text of at least {MIN_KEY_CHARS} characters")])
        self._check_urls(body)
        return Reply.json(await zone.configure(body, key), headers=NO_STORE)

    def _check_urls(self, body: object) -> None:
        """Raises Invalid that names every URL and host that must not be fetched."""
        config = parse_config(body)
        urls: dict[str, str | None] = {
            "site_url": config.site_url,
            "origin_url": config.origin_url,
            "preload_sitemap_url": config.sitemap_url,
        }
        port = urlsplit(config.site_url).port
        for position, host in enumerate(config.hosts):
            suffix = f":{port}" if port and ":" not in host else ""
            urls[f"hosts[{position}]"] = f"{config.scheme}://{host}{suffix}"
        mistakes = []
        for field, url in urls.items():
            try:
                if url is not None:
                    self.check_url(url)
            except Refused as error:
                mistakes.append(BadField(field, str(error)))
        if mistakes:
            raise Invalid.from_fields(mistakes)

    async def _restore(self, request: Request) -> Reply:
        zone, version = self._admit(request), request.params["version"]
        if not (version.isascii() and version.isdigit()) or len(version) > MAX_VERSION_DIGITS:
            raise Invalid("the version must be a number from GET config/versions")
        return Reply.json(await zone.restore_version(int(version)), headers=NO_STORE)

    async def _show_batch(self, request: Request) -> Reply:
        """For the operator, and for the site that signed the batch."""
        batch_id = request.params["id"]
        if "x-signature" not in request.headers:
            return Reply.json(await self._admit(request).show_batch(batch_id), headers=NO_STORE)
        zone_id = check_zone_id(request.params["zone"])
        signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, b"")
        if not await self.zones.is_registered(zone_id):
            signed.verify(self.signing_keys, self.clock.now())
        return Reply.json(await self.zones.get(zone_id).show_signed_batch(signed, batch_id), headers=NO_STORE)

    async def _cancel_batch(self, request: Request) -> Reply:
        return Reply.json(await self._admit(request).cancel_batch(request.params["id"]), headers=NO_STORE)

    async def _list_failed(self, request: Request) -> Reply:
        zone = self._admit(request)
        return Reply.json(await zone.list_failed(read_limit(request)), headers=NO_STORE)

    def _handle(self, call: Call) -> Handler:
        async def handle(request: Request) -> Reply:
            return Reply.json(await call(self._admit(request)), headers=NO_STORE)

        return handle

    def _handle_body(self, call: BodyCall, *, status: int = 200) -> Handler:
        async def handle(request: Request) -> Reply:
            zone = self._admit(request)
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            if content:
                _require_json_type(request)
            body = parse_json(content) if content.strip() else {}
            return Reply.json(await call(zone, body), status, NO_STORE)

        return handle

    def _list_rows(self, table: str, order: str, name: str) -> Handler:
        async def handle(request: Request) -> Reply:
            require_admin(request, self.admin_token)
            zone_id = check_zone_id(request.params["zone"])
            sql = f"SELECT * FROM {table} WHERE zone_id = ? ORDER BY {order} DESC LIMIT ?"  # noqa: S608
            rows = await self.database.all(sql, zone_id, read_limit(request))
            return Reply.json({name: rows}, headers=NO_STORE)

        return handle

    def _admit(self, request: Request) -> ZoneCalls:
        """The zone of an operator's request; raises Unauthorized without the token."""
        require_admin(request, self.admin_token)
        return self.zones.get(check_zone_id(request.params["zone"]))


def signed_path(request: Request) -> str:
    """The path as it was sent, with its query: nothing of it may go unsigned."""
    _, mark, query = request.url.partition("#")[0].partition("?")
    return request.path + mark + query


def _try_parse(content: bytes) -> tuple[Any, Invalid | None]:
    try:
        return parse_json(content), None
    except Invalid as error:
        return None, error


def _require_json_type(request: Request) -> None:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType("send the body as Content-Type: application/json")
