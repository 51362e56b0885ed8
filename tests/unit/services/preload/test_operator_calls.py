"""Every route of the operator asks the zone for one thing, takes what it declares, and answers with its declared type."""

import json
from typing import Any, get_type_hints

import pytest

from sluice.services.preload.zone.operator_calls import OperatorCalls
from sluice.services.preload.zone.zone_object import ZoneCalls
from sluice.web.operations import find_operation
from sluice.web.parameters import QueryValues
from unit.services.preload.test_api import ADMIN, NoZones, handle, request

ROUTES = [
    route
    for route in NoZones().open().routes
    if "admin" in find_operation(route).security
    and ":zone" in route.pattern
    and not (route.method == "GET" and route.pattern.endswith(("/log", "/alerts", "/pages")))  # these ask D1
]


def ask(route: Any) -> list[str]:
    """The calls that the route makes with its example."""
    zones, operation = NoZones(), find_operation(route)
    path = route.pattern
    for each in operation.path:
        path = path.replace(f":{each.name}", each.example)
    body = json.dumps(operation.example).encode() if operation.body else b""
    reply = handle(zones, request(route.method, path, body, content_type="application/json", **ADMIN))
    assert reply.status == 404
    return [name for _, name in zones.calls]


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.pattern}")
def test_reply_is_what_is_declared(route: Any, monkeypatch: pytest.MonkeyPatch):
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
