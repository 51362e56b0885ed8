"""One delivery of the platform: its events are stored and its failures are reported."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from fakes.clock import ManualClock
from fakes.kv import FakeKV
from fakes.transport import FakeTransport, Scripted
from sluice.core.variables import Variables
from sluice.platform.storage.kv import KV
from sluice.services.tail.delivery import parse_trace_items
from sluice.services.tail.service import TailPorts, TailService
from sluice.web import App, Headers, Request


class RecordedLog:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def event(self, name: str, /, **fields: object) -> None:
        self.events.append((name, fields))

    def error(self, name: str, error: BaseException, /, **_fields: object) -> None:
        raise AssertionError(name) from error


TOKEN = "a-token-of-the-operator"
HOOK = "https://hook.example/x"
VARIABLES = {"ERROR_WEBHOOK_URL": HOOK, "LOG_RETENTION_TTL": "60", "ADMIN_TOKEN": TOKEN}


@pytest.mark.parametrize(
    ("answer", "reasons"),
    [
        (Scripted(204), []),
        (Scripted(500), ["the webhook answered 500"]),
        (Scripted(302, (("location", "https://hook.example/login"),)), ["the webhook answered 302"]),
    ],
    ids=["received", "refused", "redirected"],
)
async def test_delivery(answer: Scripted, reasons: list[str]):
    """A failed event is stored for a while and reported; a webhook that refuses it or points elsewhere is logged."""
    clock, log, transport = ManualClock(), RecordedLog(), FakeTransport({HOOK: answer})
    ports = TailPorts(
        variables=Variables(lambda name: VARIABLES.get(name, "")),
        logs=KV(FakeKV(clock), clock),
        transport=transport,
        clock=clock,
        new_id=lambda: "1",
        log=log,
    )
    service = TailService(ports)
    item = {"eventTimestamp": 7, "scriptName": "w", "outcome": "exception", "event": None, "logs": [], "exceptions": []}
    await service.tail.handle_delivery([SimpleNamespace(**item)])
    assert [request.method for request in transport.requests] == ["POST"]
    assert log.events == [("webhook.failed", {"reason": reason}) for reason in reasons]
    app = App(service.routes, on_error=lambda error, _request: log.error("x", error))
    headers = Headers({"authorization": f"Bearer {TOKEN}"})
    for timestamps in ([7], []):
        body = (await app.handle(Request("GET", "https://tail.example/logs", headers))).body
        assert isinstance(body, bytes)
        assert [record["timestamp"] for record in json.loads(body)["records"]] == timestamps
        clock.advance(61)


@pytest.mark.parametrize(
    ("event", "logs", "exceptions", "failed"),
    [
        (SimpleNamespace(rpcMethod="run"), [], [], False),
        (SimpleNamespace(rpcMethod="run"), [("error", "workflow.failed")], [], True),
        (SimpleNamespace(rpcMethod="run"), [("log", "workflow.completed")], [("Error", "boom")], True),
        (SimpleNamespace(rpcMethod="serve_list"), [], [], True),
        (None, [], [], True),
    ],
    ids=["completed workflow", "failed workflow", "crashed workflow", "call", "request"],
)
def test_failure(event: Any, logs: list[tuple[str, str]], exceptions: list[tuple[str, str]], failed: bool):
    """The engine of workflows drops a call after its last step, which looks like an exception and is none."""
    item = SimpleNamespace(
        eventTimestamp=7,
        scriptName="w",
        outcome="exception",
        event=event,
        logs=[SimpleNamespace(level=level, message=message, timestamp=7) for level, message in logs],
        exceptions=[SimpleNamespace(name=name, message=message, timestamp=7) for name, message in exceptions],
    )
    [parsed] = parse_trace_items([item], 8)
    assert parsed.is_failure is failed
