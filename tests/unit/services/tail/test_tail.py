"""One delivery of the platform: its events are stored and its failures are reported."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakes.clock import ManualClock
from fakes.kv import FakeKV
from sluice.core.ports import FetchResponse
from sluice.platform.storage.kv import KV
from sluice.services.tail.delivery import Tail, parse_trace_items
from sluice.services.tail.journal import Journal


class RecordedLog:
    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def event(self, name: str, /, **fields: object) -> None:
        self.events.append((name, fields))

    def error(self, name: str, error: BaseException, /, **_fields: object) -> None:
        raise AssertionError(name) from error


async def test_delivery():
    """A failed event is stored although the webhook refuses it, and the refusal is logged."""
    clock, log = ManualClock(), RecordedLog()

    async def refuse(url: str, **_options: Any) -> FetchResponse:
        return FetchResponse(url, 500, (), b"")

    journal = Journal(kv=KV(FakeKV(clock), clock), retention_s=60)
    tail = Tail(
        journal=journal,
        fetch=refuse,
        webhook_url="https://hook.example/x",
        clock=clock,
        new_id=lambda: "1",
        log=log,
    )
    item = {"eventTimestamp": 7, "scriptName": "w", "outcome": "exception", "event": None, "logs": [], "exceptions": []}
    await tail.handle_delivery([SimpleNamespace(**item)])
    assert [record["timestamp"] for record in await journal.newest_records(10)] == [7]
    assert log.events == [("webhook.failed", {"reason": "the webhook answered 500"})]


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
