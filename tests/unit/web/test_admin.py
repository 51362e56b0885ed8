"""Only a request with the operator's token is accepted, and wrong tokens are slowed down."""

import pytest

from fakes.clock import ManualClock
from sluice.core.errors import Forbidden, NotReady, Unauthorized
from sluice.core.variables import MIN_SECRET_CHARS, Secret, Variables
from sluice.web import Headers, Request
from sluice.web.admin import FIRST_DELAY_S, MAX_DELAY_S, OperatorGate

TOKEN = "the-right-token-of-the-operator"


def request(**headers: str) -> Request:
    return Request("GET", "https://example.com/logs", Headers(headers))


def gate(token: str = TOKEN) -> OperatorGate:
    return OperatorGate(Variables({"ADMIN_TOKEN": token}.get).secret("ADMIN_TOKEN"), ManualClock())


@pytest.mark.parametrize("value", ["Bearer {}", "bearer {}", "Bearer  {} "])
async def test_bearer(value: str):
    """The right token is accepted, and no other; the scheme is case-insensitive."""
    right = request(authorization=value.format(TOKEN))
    await gate().admit(right)
    with pytest.raises(Unauthorized):
        await gate("another-token-than-that").admit(right)


@pytest.mark.parametrize("value", ["", TOKEN, f"Basic {TOKEN}", "Bearer", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}ö"])
async def test_others(value: str):
    """Any other header is refused."""
    with pytest.raises(Unauthorized):
        await gate().admit(request(authorization=value))


async def test_switched_off():
    """If no token is set, even an empty one is refused."""
    for token in ("", "   "):
        with pytest.raises(Forbidden, match="ADMIN_TOKEN"):
            await gate(token).admit(request(authorization="Bearer "))


async def test_short_token():
    """A token that is too short lets nobody in, not even who knows it, and the error says why."""
    short = "x" * (MIN_SECRET_CHARS - 1)
    for token in (short, f" {short} "):
        with pytest.raises(NotReady, match="ADMIN_TOKEN has fewer than 16 characters"):
            await gate(token).admit(request(authorization=f"Bearer {short}"))
    await gate(f"{short}x").admit(request(authorization=f"Bearer {short}x"))


async def test_wrong_tokens_are_slowed_down():
    """Each wrong token within a minute is answered twice as late as the one before, up to a limit; all others at once."""
    clock = ManualClock()
    operators = OperatorGate(Secret(TOKEN), clock)

    async def wait_for(ask: Request) -> float:
        before = clock.now()
        with pytest.raises(Unauthorized):
            await operators.admit(ask)
        return round(clock.now() - before, 2)

    waits = [await wait_for(request(authorization="Bearer wrong")) for _ in range(10)]
    assert waits[:3] == [FIRST_DELAY_S, 2 * FIRST_DELAY_S, 4 * FIRST_DELAY_S]
    assert waits[-1] == MAX_DELAY_S
    assert await wait_for(request()) == 0
    before = clock.now()
    await operators.admit(request(authorization=f"Bearer {TOKEN}"))
    assert clock.now() == before


async def test_recognised():
    """Where strangers are served too, the right token shows the operator; a wrong one is slowed down and refused."""
    operators = gate()
    assert await operators.recognise(request(authorization=f"Bearer {TOKEN}"))
    assert not await operators.recognise(request())
    before = operators.clock.now()
    with pytest.raises(Unauthorized):
        await operators.recognise(request(authorization="Bearer wrong"))
    assert operators.clock.now() > before


def test_a_secret_is_not_printed():
    """The text of a settings object never shows the secret in it."""
    assert TOKEN not in repr(gate())
