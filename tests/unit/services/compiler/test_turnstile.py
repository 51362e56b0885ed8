"""Which requests pass Turnstile, and what the others are told."""

import json
from typing import Any
from urllib.parse import parse_qs

import pytest

from fakes.transport import FakeTransport, Scripted
from sluice.core.errors import Forbidden
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import TransportFailed
from sluice.services.compiler.guard.turnstile import MAX_ANSWER_BYTES, VERIFY_URL, Turnstile
from unit.services.compiler.listeners import ListLog

SECRET = "s3"


def verifier(answer: object, status: int = 200) -> FakeTransport:
    body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
    return FakeTransport({VERIFY_URL: Scripted(status, (), body)})


def turnstile(transport: FakeTransport, secret: str = SECRET, log: ListLog | None = None) -> Turnstile:
    return Turnstile(secret=secret, fetch=Fetcher(transport, AllowedHosts()).fetch, log=log or ListLog())


async def test_switched_off():
    """Without a secret every request passes, and the verifier is not called."""
    transport = verifier({"success": False})
    await turnstile(transport, secret="").check(None, "203.0.113.7")
    assert transport.requests == []


@pytest.mark.parametrize("address", ["203.0.113.7", None])
async def test_good_token(address: str | None):
    """A token that the verifier accepts passes; it was sent as a form with the secret and the address."""
    transport = verifier({"success": True})
    await turnstile(transport).check("tok&en=", address)
    [request] = transport.requests
    expected = {"secret": ["s3"], "response": ["tok&en="]} | ({"remoteip": [address]} if address else {})
    assert request.body is not None
    assert parse_qs(request.body.decode()) == expected
    assert (request.method, dict(request.headers)["content-type"]) == ("POST", "application/x-www-form-urlencoded")


@pytest.mark.parametrize("token", [None, "", 5, True, [], {"a": 1}, "x" * 2049])
async def test_no_token(token: Any):
    """A value that cannot be a token is refused without a call, and the field is named."""
    transport = verifier({"success": True})
    with pytest.raises(Forbidden, match="turnstileToken"):
        await turnstile(transport).check(token, None)
    assert transport.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        {"success": False},
        {"success": "true"},
        {"success": 1},
        {},
        [],
        None,
        b"",
        b"<html>",
        b"\xff\xfe",
        b"[" * 10_000,
        b" " * (MAX_ANSWER_BYTES + 1),
    ],
)
async def test_odd_responses_prove_nothing(answer: object):
    """Only a JSON response with success true passes."""
    with pytest.raises(Forbidden, match="Turnstile"):
        await turnstile(verifier(answer)).check("token", None)


async def test_reason_is_reported():
    """The verifier's codes reach the caller; anything else in their place does not."""
    codes = ["timeout-or-duplicate", "<script>", 5, "x" * 100]
    with pytest.raises(Forbidden, match=r"failed \(timeout-or-duplicate\); solve the challenge again"):
        await turnstile(verifier({"success": False, "error-codes": codes})).check("token", None)


async def test_wrong_secret_is_the_operators():
    """A rejected secret is reported to the operator, and not blamed on the caller's token."""
    log = ListLog()
    answer = {"success": False, "error-codes": ["invalid-input-secret"]}
    with pytest.raises(Forbidden, match="operator"):
        await turnstile(verifier(answer), log=log).check("token", None)
    assert [name for name, _ in log.events] == ["turnstile.misconfigured"]


async def test_unreachable():
    """If the verifier cannot be reached, every request is refused, and the log says why."""

    async def down(_request: Any) -> Scripted:
        raise TransportFailed("Network connection lost.")

    log = ListLog()
    with pytest.raises(Forbidden, match="cannot be reached"):
        await turnstile(FakeTransport({VERIFY_URL: down}), log=log).check("token", None)
    assert [name for name, _ in log.events] == ["turnstile.unreachable"]


def test_secret_is_not_shown():
    """The secret is not in the repr of the value."""
    assert "s3" not in repr(turnstile(verifier({})))
