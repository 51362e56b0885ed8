"""Every route of a zone asks it for one thing, takes what it declares, and answers with what it declares."""

import json
import sys
from typing import Any, get_type_hints

import pytest

from sluice.core import models
from sluice.core.errors import TooManyRequests
from sluice.core.preload.request_signing import sign_request
from sluice.core.remote import Message
from sluice.services.preload.http.configure import CONFIGURE
from sluice.services.preload.zone.admission import Admission
from sluice.services.preload.zone.operator_calls import OperatorCalls
from sluice.services.preload.zone.zone_object import ZoneCalls
from sluice.web import App, Reply, Request, Route
from sluice.web.api_document.problem_replies import list_problem_statuses
from sluice.web.operations import find_operation
from sluice.web.parameters import QueryValues
from unit.services.preload.test_api import ADMIN, NoZones, handle, request
from unit.services.preload.world import KEY, World

BY_DATABASE = ("/log", "/alerts", "/pages")  # listings, which ask no zone
ZONE_ROUTES = [
    route
    for route in NoZones().open().routes
    if (":zone" in route.pattern or find_operation(route).body)
    and not (route.method == "GET" and route.pattern.endswith(BY_DATABASE))
]
ROUTES = [route for route in ZONE_ROUTES if "admin" in find_operation(route).security]
# Each route, and by whom it is asked.
ASKED = [(route, who) for route in ZONE_ROUTES for who in find_operation(route).security]
NAMES = [f"{route.method} {route.pattern} {who}" for route, who in ASKED]
# Not read from the document, which only pydantic itself can build: the Worker's interpreter runs these tests too.
DECLARED = {
    operation.name: {*operation.replies, *list_problem_statuses(operation)}
    for operation in map(find_operation, ZONE_ROUTES)
}


def build_request(route: Route, who: str, now: float) -> Request:
    """Return the request of the document's example."""
    operation, path = find_operation(route), route.pattern
    for each in operation.path:
        path = path.replace(f":{each.name}", each.example)
    body = json.dumps(operation.example).encode() if operation.body else b""
    headers = sign_request(KEY, route.method, path, body, now=now, nonce="0" * 32)
    sent = headers if who == "signed" else ADMIN
    lowered = {name.lower(): value for name, value in sent.items()}
    return request(route.method, path, body, content_type="application/json", **lowered)


def ask(route: Route, who: str = "admin") -> list[str]:
    """The calls that the route makes with its example."""
    zones = NoZones()
    assert handle(zones, build_request(route, who, now=1_700_000_000)).status == 404
    return [name for _, name in zones.calls if name != "settle"]


def collect_statuses() -> dict[str, set[int]]:
    """Return the statuses that are declared for each call: those of all operations that make it."""
    statuses: dict[str, set[int]] = {}
    for route, who in ASKED:
        for call in ask(route, who):
            statuses.setdefault(call, set()).update(DECLARED[find_operation(route).name])
    return statuses


class OneZone(NoZones):
    """A service with one registered zone in it; records the bodies of its calls."""

    def __init__(self, here: World) -> None:
        super().__init__()
        self._here = here
        self.bodies: list[str | None] = []

    async def get_text(self, key: str) -> str | None:
        return f"{{}} of {key}"

    async def send(self, zone_id: str, name: str, message: Message) -> Message:
        assert isinstance(message, str)
        self.bodies.append(json.loads(message).get("body"))
        return await self._here.object.call(zone_id, name, message)

    async def handle(self, request: Request) -> Reply:
        def on_error(error: Exception, _request: Request) -> None:
            raise AssertionError from error

        return await App(self.open().routes, on_error=on_error).handle(request)


def note_models(monkeypatch: pytest.MonkeyPatch) -> list[type]:
    """Return a list that grows by each model of a body that is parsed from now on."""
    parsed: list[type] = []

    def parse(model: Any, text: str) -> Any:
        parsed.append(model)
        return models.parse_text(model, text)

    for name, module in list(sys.modules.items()):
        if name.startswith("sluice.services.preload.") and hasattr(module, "parse_text"):
            monkeypatch.setattr(module, "parse_text", parse)
    return parsed


@pytest.mark.parametrize(("route", "who"), ASKED, ids=NAMES)
async def test_body_is_what_is_declared(route: Route, who: str, monkeypatch: pytest.MonkeyPatch):
    """A zone gets a body where one is declared and nowhere else, and parses it into the declared model."""
    here, operation = await World().register(), find_operation(route)
    zones = OneZone(here)
    parsed = note_models(monkeypatch)
    reply = await zones.handle(build_request(route, who, here.clock.now()))
    assert reply.status in DECLARED[operation.name]
    if operation is not CONFIGURE:  # whose handler looks at the configuration first
        assert zones.bodies[0] == (json.dumps(operation.example) if operation.body else None)
        assert parsed == ([operation.body] if operation.body else [])


def refuse(*_arguments: object) -> None:
    raise TooManyRequests("slow down", 1)


@pytest.mark.parametrize(("route", "who"), ASKED, ids=NAMES)
async def test_refusals_are_declared(route: Route, who: str, monkeypatch: pytest.MonkeyPatch):
    """Declared is the status of a zone that is unknown, switched off, asked twice or too often."""
    off = await World(preload_enabled=False).register()
    for here in (World(), off, off):
        reply = await OneZone(here).handle(build_request(route, who, here.clock.now()))
        assert reply.status in DECLARED[find_operation(route).name]
    monkeypatch.setattr(Admission, "charge", refuse)
    here = await World().register()
    reply = await OneZone(here).handle(build_request(route, who, here.clock.now()))
    assert reply.status in DECLARED[find_operation(route).name]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.pattern}")
def test_reply_is_what_is_declared(route: Route, monkeypatch: pytest.MonkeyPatch):
    """The call returns the type that the document names; each declared parameter is read."""
    read: set[str] = set()
    look_up = QueryValues.__getitem__

    def note(given: QueryValues, parameter: Any) -> Any:
        read.add(parameter.name)
        return look_up(given, parameter)

    monkeypatch.setattr(QueryValues, "__getitem__", note)
    [name] = ask(route)
    operation = find_operation(route)
    [declared] = operation.replies.values()
    assert get_type_hints(getattr(ZoneCalls, name))["return"] == declared.content
    assert read == {each.name for each in (operation.query.parameters if operation.query else ())}


def test_every_call_has_a_route():
    """What an operator may ask for can be asked for."""
    asked = {name for route in ROUTES for name in ask(route)}
    assert asked >= {
        name for name, value in vars(OperatorCalls).items() if callable(value) and not name.startswith("_")
    }
