"""The routes: guarded, and each bad URL of a zone named."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest

from fakes.clock import ManualClock
from sluice.core.errors import Invalid, NotFound
from sluice.core.models import parse_model
from sluice.core.preload.request_signing import sign_request
from sluice.core.remote import Message
from sluice.core.variables import Variables
from sluice.services.preload.http.requests import EnqueueBody, PurgeBody
from sluice.services.preload.service import PreloadPorts, PreloadService
from sluice.web import App, Headers, Reply, Request
from sluice.web.operations import SERVICE, find_operation
from unit.services.preload.world import KEY, UNUSED, ListLog

TOKEN = "the-token-of-the-operator"
ADMIN = {"authorization": f"Bearer {TOKEN}"}


class NoZones:
    """A service without a zone in it, although one is known; records the calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    async def get_text(self, key: str) -> str | None:
        return "{}" if key == "config:known" else None

    async def send(self, zone_id: str, name: str, message: Message) -> Message:
        assert isinstance(message, str)
        assert isinstance(json.loads(message), dict)
        self.calls.append((zone_id, name))
        raise NotFound("not registered")

    def open(self) -> PreloadService:
        def drop(work: Any) -> None:
            work.close()

        kv: Any = self
        variables = {"ADMIN_TOKEN": TOKEN, "SIGNING_KEY": KEY}
        ports = PreloadPorts(
            variables=Variables(variables.get),
            version_id="",
            database=UNUSED,
            kv=kv,
            bucket=UNUSED,
            edge=UNUSED,
            edge_texts=UNUSED,
            bodies=UNUSED,
            files=UNUSED,
            send_to_zone=self.send,
            open_fetch=UNUSED,
            open_webhook_fetch=UNUSED,
            clock=ManualClock(1_700_000_000),
            new_id=UNUSED,
            defer=drop,
            log=ListLog(),
        )
        return PreloadService(ports)


def handle(zones: NoZones, request: Request) -> Reply:
    def on_error(error: Exception, _request: Request) -> None:
        raise AssertionError from error

    return asyncio.run(App(zones.open().routes, on_error=on_error).handle(request))


def request(method: str, path: str, body: bytes = b"", **headers: str) -> Request:
    async def read(_max_bytes: int) -> bytes:
        return body

    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return Request(method, f"http://edge-preload.localhost{path}", Headers(sent), read)


@pytest.mark.parametrize(
    "route",
    [route for route in NoZones().open().routes if find_operation(route).tag != SERVICE],
    ids=lambda route: f"{route.method} {route.pattern}",
)
def test_guarded(route: Any):
    """Without a signature or the operator's token no route does anything."""
    zones = NoZones()
    path = route.pattern.replace(":zone", "known").replace(":id", "x").replace(":version", "1")
    assert handle(zones, request(route.method, path, b"{}")).status == 401
    assert not zones.calls


def test_body_of_a_stranger_is_not_read():
    """Without the operator's token a request is refused before its body is read."""

    async def refuse(_max_bytes: int) -> bytes:
        raise AssertionError("the body was read")

    zones, tried = NoZones(), 0
    for route in zones.open().routes:
        if "admin" in find_operation(route).security and route.method in {"PUT", "POST", "PATCH"}:
            path = route.pattern.replace(":zone", "known").replace(":id", "x").replace(":version", "1")
            url = f"http://edge-preload.localhost{path}"
            headers = Headers({"content-type": "application/json", "content-length": "2"})
            assert handle(zones, Request(route.method, url, headers, refuse)).status == 401
            tried += 1
    assert tried > 5
    assert zones.calls == []


class OneZone(NoZones):
    """Configures the zone, and records with what."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Any] = []

    async def send(self, zone_id: str, name: str, message: Message) -> Message:
        self.messages.append(json.loads(str(message)))
        self.calls.append((zone_id, name))
        raise NotFound("this is all that the test needs")


@pytest.mark.parametrize("key", ["k" * 40, None])
def test_signing_key_of_a_zone(key: str | None):
    """It goes to the zone beside the configuration, and not in it."""
    zones = OneZone()
    config = {"site_url": "https://example.com"} | ({"signing_key": key} if key else {})
    handle(zones, request("PUT", "/api/v1/zones/z/config", json.dumps(config).encode(), **ADMIN))
    assert zones.calls == [("z", "configure")]
    [message] = zones.messages
    assert json.loads(message["config"]) == {"site_url": "https://example.com"}
    assert message.get("signing_key") == key


def test_tag_of_a_purge():
    """A tag that no page can have is refused with the tag."""
    for tags, is_good in ((["post:123"], True), (["post:123", "a,b"], False), (["bücher"], False), ([""], False)):
        body = {"zone_id": "known", "idempotency_key": "purge-2f1e4f0c-52b0-4c39-8d3e-0b1f3b5b8a11", "tags": tags}
        if is_good:
            assert parse_model(PurgeBody, body).tags == tags
        else:
            with pytest.raises(Invalid, match="is not a tag"):
                parse_model(PurgeBody, body)


@pytest.mark.parametrize(
    ("version", "status"), [("x", 400), ("1x", 400), ("²", 400), ("-1", 400), ("1" * 10, 400), ("1" * 9, 404)]
)
def test_number_of_a_version(version: str, status: int):
    """What is no number of a version is refused before the zone is asked."""
    zones = NoZones()
    path = f"/api/v1/zones/known/config/versions/{quote(version)}/restore"
    assert handle(zones, request("POST", path, b"", **ADMIN)).status == status
    assert len(zones.calls) == (1 if status == 404 else 0)


@pytest.mark.parametrize(
    ("body", "is_good"),
    [({}, False), ({"all": True}, True), ({"urls": []}, False), ({"all": True, "urls": ["https://e.example/"]}, False)],
)
def test_pages_to_enqueue(body: dict[str, Any], is_good: bool):
    """Either some pages or all of them: nothing, or both, is a mistake."""
    if is_good:
        assert parse_model(EnqueueBody, body).all
    else:
        with pytest.raises(Invalid, match="give urls"):
            parse_model(EnqueueBody, body)


def test_body_that_is_no_json():
    """A signed body must say that it is JSON."""
    path, body = "/api/v1/preload", b'{"zone_id":"known"}'
    for media_type, status in (
        ("text/plain", 415), ("", 415), ("Application/JSON; charset=utf-8", 404), ("application/json", 404),
    ):  # fmt: skip
        headers = sign_request(KEY, "POST", path, body, now=1_700_000_000, nonce="0" * 32)
        signed = {name.replace("-", "_"): value for name, value in headers.items()}
        assert handle(NoZones(), request("POST", path, body, content_type=media_type, **signed)).status == status


def test_strangers_make_no_zones():
    """A caller who cannot sign is refused before a zone's object is created; one who can learns that there is no zone."""
    path, body = "/api/v1/preload", b'{"zone_id":"unknown"}'
    for key, status, calls in (("wrong", 401, 0), (KEY, 404, 1)):
        zones = NoZones()
        headers = sign_request(key, "POST", path, body, now=1_700_000_000, nonce="0" * 32)
        signed = {name.replace("-", "_"): value for name, value in headers.items()}
        reply = handle(zones, request("POST", path, body, content_type="application/json", **signed))
        assert (reply.status, len(zones.calls)) == (status, calls)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"zone_id":5}', b'{"zone_id":"a/b"}', b"\xff"])
def test_unreadable_bodies(body: bytes):
    """A body that names no zone is 401 for a caller who cannot sign, and 400 for one who can."""
    path = "/api/v1/purge"
    for key, status in (("wrong", 401), (KEY, 400)):
        headers = sign_request(key, "POST", path, body, now=1_700_000_000, nonce="0" * 32)
        signed = {name.replace("-", "_"): value for name, value in headers.items()}
        reply = handle(NoZones(), request("POST", path, body, content_type="application/json", **signed))
        assert reply.status == status


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ('{"site_url":"http://10.0.0.1"}', "site_url"),
        ('{"site_url":"https://e.com","hosts":["f.com","10.0.0.1"]}', "hosts[1]"),
        ('{"site_url":"https://e.com","origin_url":"http://10.0.0.1"}', "origin_url"),
        ('{"site_url":"https://e.com","signing_key":"short"}', "signing_key"),
        ('{"site_url":"https://e.com","preload_rpm_limit":0}', "preload_rpm_limit"),
    ],
)
def test_bad_zones(config: str, path: str):
    """A zone in a private network, or with a key that can be guessed, is not registered."""
    zones = NoZones()
    reply = handle(zones, request("PUT", "/api/v1/zones/z/config", config.encode(), **ADMIN))
    assert (reply.status, zones.calls) == (400, [])
    assert f'"path":"{path}"'.encode() in (reply.body if isinstance(reply.body, bytes) else b"")
