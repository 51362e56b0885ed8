"""A warming request that comes back through the front door: whose it is, and what the origin hears of it."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakes.clock import ManualClock
from sluice.core.errors import TimedOut, Unavailable
from sluice.core.ports import NO_CONTENT, OriginResponse
from sluice.core.preload.request_signing import PROXY_HEADER, WARMING_HEADER, sign_warming
from sluice.services.preload.serving.warming_loopback import WarmingLoopback
from sluice.web import Headers, Request

KEY, PAGE = "the-key-of-the-zone", "https://www.example.com/a?b=1"


class Keys:
    """The keys that the isolate remembers, and those that the zone has by now."""

    def __init__(self, *known: str, now: tuple[str, ...] = ()) -> None:
        self.known, self.now = known, now or known

    async def list_all(self) -> tuple[str, ...]:
        return self.known

    async def reload_all(self) -> tuple[str, ...]:
        return self.now


class Door:
    """The loopback of a zone whose origin answers 200, or fails."""

    def __init__(self, keys: Keys, failure: Exception | None = None) -> None:
        self.clock = ManualClock(1_700_000_000)
        self.failure = failure
        self.sent: list[tuple[str, Mapping[str, str | None]]] = []
        unused: Any = keys
        self.loopback = WarmingLoopback(unused, self.clock, self._send)

    async def _send(
        self, url: str, changes: Mapping[str, str | None], *, timeout_s: float, is_repeatable: bool = True
    ) -> OriginResponse:
        assert timeout_s > 0
        assert not is_repeatable
        self.sent.append((url, changes))
        if self.failure:
            raise self.failure
        return OriginResponse(200, (("etag", '"1"'),), NO_CONTENT)

    async def ask(self, page: str = PAGE, *, key: str = KEY, method: str = "GET", age_s: float = 0) -> int | None:
        """Return the status of the answer to a signed request for the page; None if it is nobody's."""
        name, proof = sign_warming(key, method="GET", place="www.example.com/a?b=1", now=self.clock.now() - age_s)
        headers = Headers({name: proof, "x-forwarded-for": "192.0.2.1", PROXY_HEADER: "x", "accept": "*/*"})
        reply = await self.loopback.answer(Request(method, f"{page}#top", headers), page)
        return reply.status if reply else None


@pytest.mark.parametrize(
    ("keys", "asked", "status"),
    [
        (Keys(KEY), {}, 200),
        (Keys("old", KEY), {}, 200),
        (Keys("old", now=(KEY,)), {}, 200),
        (Keys("old"), {}, None),
        (Keys(KEY), {"key": "wrong"}, None),
        (Keys(KEY), {"age_s": 60}, 200),
        (Keys(KEY), {"age_s": 62}, None),
        (Keys(KEY), {"method": "HEAD"}, None),
        (Keys(KEY), {"page": "https://www.example.com/other"}, None),
        (Keys(KEY), {"page": "://"}, None),
    ],
)
async def test_whose_request_it_is(keys: Keys, asked: dict[str, Any], status: int | None):
    """Only one that a key of the zone has signed for this page a moment ago goes to the origin, and only once."""
    door = Door(keys)
    assert await door.ask(**asked) == status
    assert len(door.sent) == (1 if status else 0)


async def test_visitors_request():
    """A request without a proof is not the zone's own."""
    door = Door(Keys(KEY))
    assert await door.loopback.answer(Request("GET", PAGE, Headers({"accept": "*/*"})), PAGE) is None
    assert door.sent == []


async def test_what_the_origin_gets():
    """The address without its fragment, and neither the proof nor an address of a visitor, who is not there."""
    door = Door(Keys(KEY))
    await door.ask()
    [(url, changes)] = door.sent
    assert url == PAGE
    assert (changes[WARMING_HEADER], changes["x-forwarded-for"]) == (None, None)
    assert PROXY_HEADER not in changes


@pytest.mark.parametrize(("failure", "status"), [(TimedOut("slow"), 504), (Unavailable("down"), 502)])
async def test_origin_that_fails(failure: Exception, status: int):
    """The answer is a plain status, which names nobody."""
    assert await Door(Keys(KEY), failure).ask() == status
