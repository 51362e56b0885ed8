"""Who is told of what failed, and what happens when telling fails."""

import json
from types import SimpleNamespace
from typing import Any

from sluice.core.errors import TimedOut
from sluice.services.tail.events import Event
from sluice.services.tail.trace_items import events_from
from sluice.services.tail.webhook import MAX_REPORTS, report

HOOK = "https://hook.example/x"


def event(outcome: str) -> Event:
    return Event(timestamp=1, script="worker", outcome=outcome, url="https://example.com/a", method="GET")


class Hook:
    """A webhook that answers with the statuses given, then with 204."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[Any] = []

    async def __call__(self, url: str, *, body: bytes, **_options: Any) -> SimpleNamespace:
        assert url == HOOK
        self.bodies.append(json.loads(body))
        return SimpleNamespace(status=self.statuses.pop(0) if self.statuses else 204)


async def test_only_failures_are_told():
    """The webhook gets one JSON body for each failed event, in the documented form."""
    hook = Hook()
    assert await report([event("ok"), event("exception")], HOOK, hook) == []
    [record] = hook.bodies
    assert set(record) == {"timestamp", "scriptName", "outcome", "url", "method", "logs", "exceptions"}
    assert record["outcome"] == "exception"


async def test_nobody_to_tell():
    """Without a URL nothing is sent."""
    hook = Hook()
    assert await report([event("exception")], "", hook) == []
    assert hook.bodies == []


async def test_refusals_are_named():
    """One that is refused does not keep the next from being sent."""
    hook = Hook(500, 204)
    assert await report([event("exception"), event("exception")], HOOK, hook) == ["the webhook answered 500"]
    assert len(hook.bodies) == 2


async def test_silent_webhook():
    """A webhook that does not answer is a reason, not an error."""

    async def silent(url: str, **_options: Any) -> None:
        raise TimedOut(f"{url} did not answer")

    assert await report([event("exception")], HOOK, silent) == [f"{HOOK} did not answer"]


async def test_storm():
    """A storm of failures sends a bounded number of requests and says how many were left."""
    hook = Hook()
    assert await report([event("exception")] * (MAX_REPORTS + 7), HOOK, hook) == [
        "7 more failures were kept, but not sent"
    ]
    assert len(hook.bodies) == MAX_REPORTS


def test_traces():
    """The platform's objects become events; what is not a request has no url, a missing time is now."""
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
    first, second = events_from(items, now_ms=9)
    assert (first.url, first.method, first.logs[0].message, first.timestamp) == (
        "https://example.com/",
        "GET",
        "a 1",
        7,
    )
    assert (second.url, second.script, second.timestamp) == (None, "unknown", 9)
