"""The order of the checks, and what is left of a request that passed them."""

from typing import Any

import pytest

from sluice.core.errors import Forbidden, Invalid, TooLarge, TooManyRequests, UnsupportedMediaType
from sluice.services.compiler.guard.guard import Guard, hash_client
from sluice.web import Request
from sluice.web.clients import Client
from unit.services.compiler.listeners import ListAnalytics
from unit.web.calls import post

JSON = {"Content-Type": "application/json", "CF-Connecting-IP": "2001:db8::1"}


class Gates:
    """The rate limit and Turnstile, and the order in which they were called."""

    def __init__(self, *, full: bool = False, locked: bool = False) -> None:
        self.full = full
        self.locked = locked
        self.calls: list[tuple[str, Any]] = []

    @property
    def is_enabled(self) -> bool:
        return True

    async def charge_hit(self, client: Client) -> None:
        await self.charge(client)

    async def charge(self, client: Client, cost: int = 1) -> None:
        self.calls.append(("limit", client.key if cost == 1 else (client.key, cost)))
        if self.full:
            raise TooManyRequests("slow down", retry_after_s=7)

    async def check(self, token: object, address: str | None) -> None:
        self.calls.append(("turnstile", (token, address)))
        if self.locked:
            raise Forbidden("prove it")


def guard(gates: Gates, analytics: ListAnalytics | None = None) -> Guard:
    return Guard(limiter=gates, turnstile=gates, analytics=analytics or ListAnalytics(), pepper="p")


def unreadable() -> Request:
    async def read(_max_bytes: int) -> bytes:
        raise AssertionError("the body was read")

    return Request("POST", "https://sluice.test/compile", read_body=read)


async def test_order():
    """Rate limit, then body, then Turnstile; the token is removed from the value."""
    gates = Gates()
    value = await guard(gates)(post(b'{"a":1,"turnstileToken":"t"}', JSON), max_bytes=100)
    assert value == {"a": 1}
    assert gates.calls == [("limit", "2001:db8::/64"), ("turnstile", ("t", "2001:db8::1"))]


async def test_limit_before_reading():
    """The body of a client over its limit is not read; a data point reports it without the address."""
    gates, analytics = Gates(full=True), ListAnalytics()
    with pytest.raises(TooManyRequests):
        await guard(gates, analytics)(unreadable(), max_bytes=100)
    assert gates.calls == [("limit", "unknown")]
    assert analytics.points == [("rate_limit_exceeded", (hash_client("unknown", "p"), "/compile"), (7,))]


@pytest.mark.parametrize(
    ("body", "headers", "error"),
    [
        (b"", JSON, Invalid),
        (b"{", JSON, Invalid),
        (b"x" * 101, JSON, TooLarge),
        (b"{}", {"Content-Type": "text/plain"}, UnsupportedMediaType),
    ],
)
async def test_bad_body_is_charged(body: bytes, headers: dict[str, str], error: type[Exception]):
    """An invalid body is charged too, and Turnstile is not called."""
    gates = Gates()
    with pytest.raises(error):
        await guard(gates)(post(body, headers), max_bytes=100)
    assert [gate for gate, _ in gates.calls] == ["limit"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b'{"a":{"b":[1,9007199254740991]}}', "a.b[1]"),
        (b"[-9007199254740991]", "[0]"),
        (b"123456789012345678901234567890", ""),
    ],
)
async def test_numbers_that_cannot_be_carried(body: bytes, path: str):
    """An integer that JavaScript cannot hold is refused with its field."""
    with pytest.raises(Invalid, match="beyond") as refusal:
        await guard(Gates())(post(body, JSON), max_bytes=100)
    assert refusal.value.fields[0].field == path


async def test_largest_number():
    """The largest integer that JavaScript can hold is accepted, and so is a float."""
    body = b'{"a":9007199254740990,"b":1e300,"c":true}'
    assert await guard(Gates())(post(body, JSON), max_bytes=100) == {"a": 2**53 - 2, "b": 1e300, "c": True}


@pytest.mark.parametrize("body", [b"{}", b"[]", b"null", b'"turnstileToken"'])
async def test_token_is_required(body: bytes):
    """A body without a token, of any kind, does not pass Turnstile."""
    with pytest.raises(Forbidden):
        await guard(Gates(locked=True))(post(body, JSON), max_bytes=100)


@pytest.mark.parametrize("body", [b"", b" \r\n"])
async def test_optional_body(body: bytes):
    """Where the body is optional, an empty one is an empty object, and Turnstile is still checked."""
    gates = Gates()
    assert await guard(gates)(post(body, JSON), max_bytes=100, optional_body=True) == {}
    assert gates.calls[1] == ("turnstile", (None, "2001:db8::1"))


async def test_optional_body_is_read():
    """An optional body that is sent is read like any other."""
    ask = guard(Gates())
    assert await ask(post(b'{"a":[]}', JSON), max_bytes=100, optional_body=True) == {"a": []}
    with pytest.raises(Invalid):
        await ask(post(b"{", JSON), max_bytes=100, optional_body=True)
    with pytest.raises(TooLarge):
        await ask(post(b"x" * 101, JSON), max_bytes=100, optional_body=True)
    with pytest.raises(UnsupportedMediaType):
        await ask(post(b"{}", {"Content-Type": "text/plain"}), max_bytes=100, optional_body=True)


async def test_message():
    """A message over a socket is charged and checked like a body."""
    gates = Gates()
    assert await guard(gates).check_message(unreadable(), {"type": "compile", "turnstileToken": "t"}) == {
        "type": "compile"
    }
    assert [gate for gate, _ in gates.calls] == ["limit", "turnstile"]


def test_hash_hides_the_address():
    """Equal clients have equal names, different ones different names, and the pepper counts."""
    assert hash_client("203.0.113.7", "p") == hash_client("203.0.113.7", "p")
    assert len({hash_client("203.0.113.7", "p"), hash_client("203.0.113.8", "p"), hash_client("203.0.113.7", "q")}) == 3
