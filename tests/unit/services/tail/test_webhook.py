"""Reporting failures to the webhook, and what happens when that fails."""

import json
from types import SimpleNamespace
from typing import Any

from sluice.core.errors import TimedOut
from sluice.core.ports import FetchResponse
from sluice.services.tail.delivery import MAX_REPORTS, parse_trace_items, report_failures
from sluice.services.tail.tail_events import TailEvent

HOOK = "https://hook.example/x"


def event(outcome: str) -> TailEvent:
    return TailEvent(timestamp=1, script="worker", outcome=outcome, url="https://example.com/a", method="GET")


class Hook:
    """A webhook that answers with the given statuses, then with 204."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[Any] = []

    async def __call__(self, url: str, *, body: bytes | None = None, **_options: Any) -> FetchResponse:
        assert url == HOOK
        self.bodies.append(json.loads(body or b""))
        return FetchResponse(url, self.statuses.pop(0) if self.statuses else 204, (), b"")


async def test_only_failures_are_reported():
    """The webhook receives one JSON body for each failed event, in the documented form."""
    hook = Hook()
    assert await report_failures([event("ok"), event("exception")], HOOK, hook) == []
    [record] = hook.bodies
    assert set(record) == {"timestamp", "scriptName", "outcome", "url", "method", "logs", "exceptions"}
    assert record["outcome"] == "exception"


async def test_without_webhook():
    """Without a URL nothing is sent."""
    hook = Hook()
    assert await report_failures([event("exception")], "", hook) == []
    assert hook.bodies == []


async def test_refusals_are_returned():
    """After a refusal the next event is still sent."""
    hook = Hook(500, 204)
    assert await report_failures([event("exception"), event("exception")], HOOK, hook) == ["the webhook answered 500"]
    assert len(hook.bodies) == 2


async def test_silent_webhook():
    """A webhook that does not answer is a reason, not an exception."""

    async def time_out(url: str, **_options: Any) -> FetchResponse:
        raise TimedOut(f"{url} did not answer")

    assert await report_failures([event("exception")], HOOK, time_out) == [f"{HOOK} did not answer"]


async def test_storm():
    """Many failures send a bounded number of requests, and the rest is counted."""
    hook = Hook()
    assert await report_failures([event("exception")] * (MAX_REPORTS + 7), HOOK, hook) == [
        "7 more failures were stored, but not sent"
    ]
    assert len(hook.bodies) == MAX_REPORTS


def test_trace_items():
    """Trace items become events; one that is not a request has no url, and a missing time becomes now."""
    line = SimpleNamespace(level="log", message=["a", 1], timestamp=5)
    request = SimpleNamespace(url="https://example.com/", method="GET")
    items = [
        SimpleNamespace(
            eventTimestamp=7,
            scriptName="w",
            outcome="ok",
            event=SimpleNamespace(request=request),
            logs=[line],
            exceptions=[],
        ),
        SimpleNamespace(eventTimestamp=None, scriptName=None, outcome="ok", event=None, logs=[], exceptions=[]),
    ]
    first, second = parse_trace_items(items, now_ms=9)
    assert (first.url, first.method, first.logs[0].message, first.timestamp) == (
        "https://example.com/",
        "GET",
        "a 1",
        7,
    )
    assert (second.url, second.script, second.timestamp) == (None, "unknown", 9)
