"""Calls to a zone's object: what is encoded arrives the same, errors included."""

import inspect
import json
from typing import Any, cast

import pytest

from sluice.core.errors import BadField, Invalid, NotFound, SluiceError, TooManyRequests, Unavailable
from sluice.core.preload.request_signing import SignedRequest
from sluice.services.preload.zone.calls import CALLS, RemoteZone, SignedReply, ZoneCalls, answer_call
from sluice.services.preload.zone.zone_object import ZoneHandlers

SIGNED = SignedRequest("POST", "/api/v1/preload", "1700000000", "0" * 32, "ab", "cd")

SIGNED_WRITES = {"preload", "purge", "crawl_for_site", "learn_from_site", "set_agent"}


class RecordingZone:
    """Answers every call with its own name and arguments, or raises."""

    def __init__(self, error: SluiceError | None = None) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._error = error

    def __getattr__(self, name: str) -> Any:
        async def call(**arguments: Any) -> Any:
            if self._error:
                raise self._error
            self.calls.append((name, arguments))
            return SignedReply({"name": name}, replayed=True) if name in SIGNED_WRITES else {"name": name}

        return call


def connect(zone: RecordingZone) -> RemoteZone:
    async def send(zone_id: str, name: str, arguments: str) -> str:
        assert zone_id == "z"
        return await answer_call(cast("ZoneCalls", zone), name, arguments)

    return RemoteZone("z", send, lambda: zone.calls.append(("config changed", {})))


VALUES: dict[str, Any] = {
    "url": "https://www.example.com/",
    "variant": "",
    "reason": "down",
    "digest": "ab",
    "lifetime_s": 60,
    "signed": SIGNED,
    "body": {"urls": ["https://example.com/ä"]},
    "config": {"site_url": "https://example.com"},
    "signing_key": "a-key",
    "batch_id": "b",
    "purge_id": "p",
    "what": "batch",
    "item_id": "b",
    "version": 3,
    "limit": 5,
    "layers": {"edge": [1, 2, 3.5]},
    "pages": {"https://example.com/ä": 1},
}


@pytest.mark.parametrize("name", sorted(CALLS))
async def test_round_trip(name: str):
    """Each call arrives under its name with its arguments, and its result comes back."""
    zone = RecordingZone()
    method = getattr(connect(zone), name)
    arguments = {parameter: VALUES[parameter] for parameter in inspect.signature(method).parameters}
    result = await method(**arguments)
    assert zone.calls[0] == (name, arguments)
    if name in SIGNED_WRITES:
        assert result == SignedReply({"name": name}, replayed=True)
    elif name in {"settle", "tick"}:
        assert result is None
    else:
        assert result == {"name": name}
    changes_config = name in {"configure", "unregister", "restore_version", "set_agent"}
    assert (("config changed", {}) in zone.calls) == changes_config


@pytest.mark.parametrize("side", [RemoteZone, ZoneHandlers])
def test_both_sides_have_every_call(side: type):
    """The caller's and the object's side have the same calls with the same parameters."""
    for name in CALLS:
        expected = list(inspect.signature(getattr(ZoneCalls, name)).parameters)
        assert list(inspect.signature(getattr(side, name)).parameters) == expected


async def test_errors():
    """An error of the object is raised at the caller as what it was: Retry-After and bad fields survive."""
    with pytest.raises(TooManyRequests, match="slow down") as limited:
        await connect(RecordingZone(TooManyRequests("slow down", 17))).preload(SIGNED, {})
    assert limited.value.retry_after_s == 17
    fields = [BadField("urls[0]", "is not a page"), BadField("trigger", "is unknown")]
    with pytest.raises(Invalid) as invalid:
        await connect(RecordingZone(Invalid.from_fields(fields))).enqueue({})
    assert list(invalid.value.fields) == fields
    for error in (NotFound("no zone"), Unavailable("D1 is away")):
        with pytest.raises(type(error), match=str(error)):
            await connect(RecordingZone(error)).show_status()


async def test_unknown_call():
    """A name that is not in the protocol is refused, also that of another attribute."""
    for name in ("__init__", "services", "nothing"):
        result = json.loads(await answer_call(cast("ZoneCalls", RecordingZone()), name, "{}"))
        assert json.loads(result["error"])["kind"] == "NotFound"
