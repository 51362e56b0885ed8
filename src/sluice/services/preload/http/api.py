"""The HTTP API of edge-preload: the signed API for sites, and the operator's API."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from sluice.core.errors import BadField, Invalid, NotFound, Refused, UnsupportedMediaType
from sluice.core.json_text import parse_json
from sluice.core.ports import Clock, Database, Defer
from sluice.core.preload.request_signing import SignedRequest
from sluice.core.preload.zone_config import ZONE_ID, ZoneConfig, check_zone_id, parse_config
from sluice.services.preload.http.operator_gate import OperatorGate
from sluice.services.preload.http.prometheus import CONTENT_TYPE, MAX_ZONES, format_figures
from sluice.services.preload.http.requests import MAX_BODY_BYTES, MIN_KEY_CHARS, read_limit
from sluice.services.preload.zone.calls import Json, Shown, SignedReply, ZoneCalls, Zones
from sluice.web import Handler, Reply, Request, Route, read_bytes, read_json

NO_STORE: Final = {"Cache-Control": "no-store"}
MAX_VERSION_DIGITS: Final = 9

SignedCall = Callable[[ZoneCalls, SignedRequest, Any], Awaitable[SignedReply]]
Call = Callable[[ZoneCalls], Awaitable[Json]]
ItemCall = Callable[[ZoneCalls, str], Awaitable[Json]]
BodyCall = Callable[[ZoneCalls, Any], Awaitable[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreloadApi:
    zones: Zones
    database: Database
    clock: Clock
    defer: Defer
    gate: OperatorGate
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
            *self._build_site_routes(),
        ]

    def _build_site_routes(self) -> list[Route]:
        """Routes of one zone, for a site that signs its requests; all but the agent's are the operator's too."""
        zone = "/api/v1/zones/:zone"
        crawl = self._handle_body(lambda zone, body: zone.crawl_sitemap(body), status=202)
        crawl_for_site = self._handle_site(lambda zone, signed, body: zone.crawl_for_site(signed, body), status=202)
        learn = self._handle_body(lambda zone, body: zone.learn_pages(body))
        learn_from_site = self._handle_site(lambda zone, signed, body: zone.learn_from_site(signed, body))
        set_agent = self._handle_site(lambda zone, signed, body: zone.set_agent(signed, body))
        return [
            Route("POST", f"{zone}/sitemap", _choose_by_signature(crawl_for_site, crawl)),
            Route("PUT", f"{zone}/pages", _choose_by_signature(learn_from_site, learn)),
            Route("PUT", f"{zone}/agent", set_agent),
            Route("GET", f"{zone}/status", self._show("status", lambda zone, _id: zone.show_status())),
            Route("GET", f"{zone}/batches/:id", self._show("batch", lambda zone, item: zone.show_batch(item))),
            Route("GET", f"{zone}/purges/:id", self._show("purge", lambda zone, item: zone.show_purge(item))),
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
        replay = self._handle_body(lambda zone, body: zone.replay_failed(body))
        delete = self._handle_body(lambda zone, body: zone.delete_failed(body))
        enqueue = self._handle_body(lambda zone, body: zone.enqueue(body), status=202)
        queue = self._handle(lambda zone: zone.show_queue())
        pause = self._handle(lambda zone: zone.pause())
        resume = self._handle(lambda zone: zone.resume())
        check_origin = self._handle(lambda zone: zone.check_origin(), status=202)
        test_rules = self._handle_body(lambda zone, body: zone.test_rules(body))
        observed = self._handle(lambda zone: zone.list_observed())
        traffic = self._handle(lambda zone: zone.show_traffic())
        purge = self._handle_body(lambda zone, body: zone.purge_by_hand(body), status=202)
        return [
            Route("POST", f"{zone}/batches/:id/cancel", self._cancel_batch),
            Route("GET", f"{zone}/failed", self._list_failed),
            Route("POST", f"{zone}/failed/replay", replay),
            Route("DELETE", f"{zone}/failed", delete),
            Route("GET", f"{zone}/alerts", self._list_rows("preload_alerts", "raised_at", "alerts")),
            Route("GET", f"{zone}/log", self._list_rows("preload_log", "id", "log")),
            Route("POST", f"{zone}/enqueue", enqueue),
            Route("GET", f"{zone}/queue", queue),
            Route("GET", f"{zone}/pages", self._list_rows("cached_pages", "stored_at", "pages")),
            Route("POST", f"{zone}/pause", pause),
            Route("POST", f"{zone}/resume", resume),
            Route("POST", f"{zone}/origin/check", check_origin),
            Route("POST", f"{zone}/rules/test", test_rules),
            Route("GET", f"{zone}/observed", observed),
            Route("GET", f"{zone}/traffic", traffic),
            Route("POST", f"{zone}/purge", purge),
            Route("GET", "/metrics/prometheus", self._show_prometheus),
        ]

    def _handle_signed(self, call: SignedCall) -> Handler:
        async def handle(request: Request) -> Reply:
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, content)
            body, mistake = _try_parse(content)
            zone_id = _read_zone_id(body)
            await self._refuse_strangers(zone_id, signed)
            if mistake:
                raise mistake
            _require_json_type(request)
            if zone_id is None:
                raise Invalid.from_fields([BadField("zone_id", "is required: 1 to 64 letters, digits, - and _")])
            zone = self.zones.get(zone_id)
            result = await call(zone, signed, body)
            self.defer(zone.settle())
            return _build_signed_reply(result, 202)

        return handle

    def _handle_site(self, call: SignedCall, *, status: int = 200) -> Handler:
        async def handle(request: Request) -> Reply:
            zone_id = check_zone_id(request.params["zone"])
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, content)
            await self._refuse_strangers(zone_id, signed)
            _require_json_type(request)
            return _build_signed_reply(await call(self.zones.get(zone_id), signed, parse_json(content)), status)

        return handle

    def _show(self, what: Shown, show: ItemCall) -> Handler:
        """Shows something to the operator, and to the site that signs its request."""

        async def show_to_operator(request: Request) -> Reply:
            return Reply.json(await show(await self._admit(request), request.params.get("id", "")), headers=NO_STORE)

        async def show_to_site(request: Request) -> Reply:
            zone_id = check_zone_id(request.params["zone"])
            signed = SignedRequest.from_request(request.method, signed_path(request), request.headers, b"")
            await self._refuse_strangers(zone_id, signed)
            item_id = request.params.get("id", "")
            return Reply.json(await self.zones.get(zone_id).show_to_site(signed, what, item_id), headers=NO_STORE)

        return _choose_by_signature(show_to_site, show_to_operator)

    async def _refuse_strangers(self, zone_id: str | None, signed: SignedRequest) -> None:
        """A caller who cannot sign learns nothing more, and creates no object of a zone that does not exist."""
        if zone_id is None or not await self.zones.is_registered(zone_id):
            signed.verify(self.signing_keys, self.clock.now())

    async def _list_zones(self, request: Request) -> Reply:
        await self.gate.admit(request)
        return Reply.json({"zones": await self.zones.list_ids()}, headers=NO_STORE)

    async def _show_prometheus(self, request: Request) -> Reply:
        await self.gate.admit(request)
        figures = []
        for zone_id in (await self.zones.list_ids())[:MAX_ZONES]:
            with suppress(NotFound):  # it was deleted just now
                figures.append(await self.zones.get(zone_id).show_traffic())
        return Reply.text(format_figures(figures), headers=NO_STORE | {"Content-Type": CONTENT_TYPE})

    async def _configure(self, request: Request) -> Reply:
        zone = await self._admit(request)
        body = await read_json(request, max_bytes=MAX_BODY_BYTES)
        key = body.pop("signing_key", None) if isinstance(body, dict) else None
        if key is not None and (not isinstance(key, str) or len(key) < MIN_KEY_CHARS):
            raise Invalid.from_fields([BadField("signing_key", f"is a text of at least {MIN_KEY_CHARS} characters")])
        self._check_urls(body)
        return Reply.json(await zone.configure(body, key), headers=NO_STORE)

    def _check_urls(self, body: object) -> None:
        """Raises Invalid that names every URL and host that must not be fetched."""
        config = parse_config(body)
        mistakes = []
        for field, url in _list_fetched_urls(config).items():
            try:
                self.check_url(url)
            except Refused as error:
                mistakes.append(BadField(field, str(error)))
        if mistakes:
            raise Invalid.from_fields(mistakes)

    async def _restore(self, request: Request) -> Reply:
        zone, version = await self._admit(request), request.params["version"]
        if not (version.isascii() and version.isdigit()) or len(version) > MAX_VERSION_DIGITS:
            raise Invalid("the version must be a number from GET config/versions")
        return Reply.json(await zone.restore_version(int(version)), headers=NO_STORE)

    async def _cancel_batch(self, request: Request) -> Reply:
        return Reply.json(await (await self._admit(request)).cancel_batch(request.params["id"]), headers=NO_STORE)

    async def _list_failed(self, request: Request) -> Reply:
        zone = await self._admit(request)
        return Reply.json(await zone.list_failed(read_limit(request)), headers=NO_STORE)

    def _handle(self, call: Call, *, status: int = 200) -> Handler:
        async def handle(request: Request) -> Reply:
            return Reply.json(await call(await self._admit(request)), status, NO_STORE)

        return handle

    def _handle_body(self, call: BodyCall, *, status: int = 200) -> Handler:
        async def handle(request: Request) -> Reply:
            zone = await self._admit(request)
            content = await read_bytes(request, max_bytes=MAX_BODY_BYTES)
            if content:
                _require_json_type(request)
            body = parse_json(content) if content.strip() else {}
            return Reply.json(await call(zone, body), status, NO_STORE)

        return handle

    def _list_rows(self, table: str, order: str, name: str) -> Handler:
        async def handle(request: Request) -> Reply:
            await self.gate.admit(request)
            zone_id = check_zone_id(request.params["zone"])
            sql = f"SELECT * FROM {table} WHERE zone_id = ? ORDER BY {order} DESC LIMIT ?"  # noqa: S608
            rows = await self.database.all(sql, zone_id, read_limit(request))
            return Reply.json({name: rows}, headers=NO_STORE)

        return handle

    async def _admit(self, request: Request) -> ZoneCalls:
        """The zone of an operator's request; raises Unauthorized without the token."""
        await self.gate.admit(request)
        return self.zones.get(check_zone_id(request.params["zone"]))


def _choose_by_signature(for_site: Handler, for_operator: Handler) -> Handler:
    async def handle(request: Request) -> Reply:
        return await (for_site if "x-signature" in request.headers else for_operator)(request)

    return handle


def _build_signed_reply(result: SignedReply, status: int) -> Reply:
    return Reply.json(result.reply, status, NO_STORE | ({"X-Idempotent-Replayed": "true"} if result.replayed else {}))


def _list_fetched_urls(config: ZoneConfig) -> dict[str, str]:
    """The addresses that are fetched, by field: with an origin_url it alone, whatever the site is called."""
    if config.origin_url is not None:
        return {"origin_url": config.origin_url}
    urls = {"site_url": config.site_url, "preload_sitemap_url": config.sitemap_url}
    port = urlsplit(config.site_url).port
    for position, host in enumerate(config.hosts):
        suffix = f":{port}" if port and ":" not in host else ""
        urls[f"hosts[{position}]"] = f"{config.scheme}://{host}{suffix}"
    return urls


def _read_zone_id(body: Any) -> str | None:
    """The zone id in a body that is not validated yet; None without a valid one."""
    zone_id = body.get("zone_id") if isinstance(body, dict) else None
    return zone_id if isinstance(zone_id, str) and ZONE_ID.fullmatch(zone_id) else None


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
