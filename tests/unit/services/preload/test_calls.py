"""Calls to a zone's object: each can travel, and what an isolate remembers is forgotten when the configuration changes."""

import asyncio
from typing import Any

import pytest

from sluice.core.errors import BadField, Invalid, NotFound, SluiceError, TooManyRequests, Unavailable
from sluice.core.preload.request_signing import SignedRequest
from sluice.core.remote import Message, answer_calls, read_signature
from sluice.services.preload.zone.calls import CONFIG_CHANGES, RemoteZones
from sluice.services.preload.zone.signed_calls import SignedReply
from sluice.services.preload.zone.zone_object import ZoneCalls

CALLS = sorted(name for name in dir(ZoneCalls) if not name.startswith("_") and callable(getattr(ZoneCalls, name)))
SIGNED = SignedRequest("POST", "/api/v1/preload", "1700000000", "0" * 32, "ab", "cd")
UNUSED: Any = None


class RecordingZone:
    """Answers every signed call with the same value, and the others with nothing; or raises."""

    def __init__(self, answer: SignedReply | None = None, error: SluiceError | None = None) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.forgotten = 0
        self._answer = answer
        self._error = error

    def __getattr__(self, name: str) -> Any:
        async def call(**arguments: Any) -> Any:
            self.calls.append((name, arguments))
            if self._error:
                raise self._error
            return self._answer if "signed" in arguments else None

        return call

    def connect(self) -> ZoneCalls:
        handlers: Any = self

        async def send(zone_id: str, name: str, message: Message) -> Message:
            assert zone_id == "z"
            return await answer_calls(ZoneCalls)(handlers, name, message)

        return RemoteZones(UNUSED, UNUSED, send, self._forget).get("z")

    def _forget(self) -> None:
        self.forgotten += 1


@pytest.mark.parametrize("name", CALLS)
def test_every_call_travels(name: str):
    """The arguments and the result of each public method can be sent."""
    assert read_signature(ZoneCalls, name).name == name


async def test_signed_call():
    """A signed request, its body and its reply arrive as they were."""
    zone = RecordingZone(SignedReply('{"learned":1}', replayed=True))
    body = '{"urls":["https://example.com/ä"]}'
    assert await zone.connect().store_site_facts(SIGNED, body) == SignedReply('{"learned":1}', replayed=True)
    assert zone.calls == [("store_site_facts", {"signed": SIGNED, "body": body})]


async def test_visits():
    """Counts arrive as they were."""
    zone = RecordingZone()
    await zone.connect().count_visits({"edge": [1, 2, 3.5]}, {"https://example.com/ä": 1})
    counts = {"layers": {"edge": [1, 2, 3.5]}, "pages": {"https://example.com/ä": 1}}
    assert zone.calls == [("count_visits", counts)]


@pytest.mark.parametrize("error", [None, NotFound("no zone")])
async def test_changes_are_forgotten(error: SluiceError | None):
    """A call that changes the configuration clears what the isolate remembers, unless it is refused."""
    zone = RecordingZone(SignedReply("{}", replayed=False), error)
    remote = zone.connect()
    changes = [
        remote.configure("{}"),
        remote.unregister(),
        remote.restore_version(3),
        remote.set_agent(SIGNED, "{}"),
    ]
    others = [remote.pause(), remote.purge(SIGNED, "{}")]
    await asyncio.gather(*changes, *others, return_exceptions=True)
    assert len(zone.calls) == len(changes) + len(others)
    assert {name for name, _ in zone.calls[: len(changes)]} == CONFIG_CHANGES
    assert zone.forgotten == (0 if error else len(changes))


async def test_errors():
    """An error of the object is raised at the caller as what it was: Retry-After and bad fields survive."""
    with pytest.raises(TooManyRequests, match="slow down") as limited:
        await RecordingZone(error=TooManyRequests("slow down", 17)).connect().preload(SIGNED, "{}")
    assert limited.value.retry_after_s == 17
    fields = [BadField("urls[0]", "is not a page"), BadField("trigger", "is unknown")]
    with pytest.raises(Invalid) as invalid:
        await RecordingZone(error=Invalid.from_fields(fields)).connect().enqueue("{}")
    assert list(invalid.value.fields) == fields
    for error in (NotFound("no zone"), Unavailable("D1 is away")):
        with pytest.raises(type(error), match=str(error)):
            await RecordingZone(error=error).connect().show_status()
