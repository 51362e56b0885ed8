"""What holds in every test of a zone: it refuses a caller with a status that an operation declares."""

import json

import pytest

from sluice.core.remote import Message, has_failed
from sluice.core.remote_errors import decode_error
from unit.services.preload.test_operator_calls import collect_statuses
from unit.services.preload.world import World

FAILURE = 500  # of the platform, whatever was asked for
STATUSES = collect_statuses()


@pytest.fixture(autouse=True)
def _check_statuses(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = World.forward

    async def check(here: World, zone_id: str, name: str, message: Message) -> Message:
        answer = await forward(here, zone_id, name, message)
        if name in STATUSES and has_failed(answer):
            status = decode_error(json.loads(str(answer))["error"]).status
            is_known = status >= FAILURE or status in STATUSES[name]
            assert is_known, f"{name} is refused with {status}, which no operation declares"
        return answer

    monkeypatch.setattr(World, "forward", check)
