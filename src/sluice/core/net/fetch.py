"""Guarded fetch: every hop checked, every body capped, every wait bounded."""

import asyncio
from collections.abc import AsyncIterable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin

from sluice.core.errors import ConnectionLost, Oversized, Refused, TimedOut, Unavailable
from sluice.core.net.addresses import Allowed, Target, check_url
from sluice.core.ports import FetchResponse, HeaderPairs, Sink

MAX_REDIRECTS: Final = 5
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_OF_ONE_ORIGIN: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
_OF_A_BODY: Final = frozenset({"content-encoding", "content-language", "content-length", "content-type"})
# workerd decodes these two and leaves their headers in place; deflate and zstd it would hand over undecoded.
_DECODED: Final = frozenset({"", "identity", "gzip", "br"})


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One request of one hop."""

    method: str
    url: str
    headers: HeaderPairs
    body: bytes | None
    fresh: bool = False  # past every cache on the way


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one hop: names of headers in lower case, body decoded and in chunks."""

    status: int
    headers: HeaderPairs
    chunks: AsyncIterable[bytes]


@dataclass(frozen=True, slots=True)
class Reading:
    """How an answer is read."""

    max_bytes: int
    follow: bool
    sink: Sink | None


class TransportFailed(Exception):
    """The connection failed, before or in the middle of the answer; the text is the platform's reason."""


class TransportLost(TransportFailed):
    """A reused connection turned out to be closed."""


# Does one request without following redirects; leaving the context drops whatever of the body is unread.
Transport = Callable[[Outgoing], AbstractAsyncContextManager[Answer]]


class Fetcher:
    """Fetches URLs that others gave; `allowed` names the private hosts let through."""

    def __init__(self, transport: Transport, allowed: Allowed) -> None:
        self._transport = transport
        self._allowed = allowed

    async def fetch(
        self,
        url: str,
        *,
        max_bytes: int,
        timeout_s: float,
        method: str = "GET",
        headers: HeaderPairs = (),
        body: bytes | None = None,
        follow: bool = True,
        fresh: bool = False,
        sink: Sink | None = None,
    ) -> FetchResponse:
        """The answer after at most five redirects; Refused, TimedOut, Unavailable or Oversized name the URL.

        Without `follow` a redirect is the answer; `fresh` passes every cache; a `sink` is given the body as it comes,
        and the answer then has none.
        """
        target = check_url(url, self._allowed)
        sent = (*((name.lower(), value) for name, value in headers), ("accept-encoding", "gzip, br"))
        try:
            async with asyncio.timeout(timeout_s):
                reading = Reading(max_bytes, follow, sink)
                return await self._follow(target, Outgoing(method, target.url, sent, body, fresh), reading)
        except TimeoutError:
            raise TimedOut(f"{target.shown} did not answer within {timeout_s:g} s") from None

    async def _follow(self, target: Target, request: Outgoing, reading: Reading) -> FetchResponse:
        for _ in range(MAX_REDIRECTS + 1):
            outcome = await self._hop(target, request, reading)
            if isinstance(outcome, FetchResponse):
                return outcome
            status, location = outcome
            onward = self._onward(target, location)
            request = _redirected(request, status, onward, same_origin=onward.origin == target.origin)
            target = onward
        raise Unavailable(f"{target.shown} is reached only after more than {MAX_REDIRECTS} redirects")

    async def _hop(self, target: Target, request: Outgoing, reading: Reading) -> FetchResponse | tuple[int, str]:
        try:
            async with self._transport(request) as answer:
                location = _value(answer.headers, "location")
                if reading.follow and answer.status in _REDIRECTS and location:
                    return answer.status, location
                return await _read(target, answer, reading)
        except TransportLost as error:
            raise ConnectionLost(f"{target.shown} did not answer: {error}") from error
        except TransportFailed as error:
            raise Unavailable(f"{target.shown} did not answer: {error}") from error

    def _onward(self, target: Target, location: str) -> Target:
        try:
            return check_url(urljoin(target.url, location), self._allowed)
        except (Refused, ValueError) as error:
            raise Refused(f"{target.shown} redirects to where is not fetched: {error}") from error


async def _read(target: Target, answer: Answer, reading: Reading) -> FetchResponse:
    encoding = (_value(answer.headers, "content-encoding") or "").strip().lower()
    if encoding not in _DECODED:
        raise Unavailable(f"{target.shown} answered in the encoding {encoding!r}, which was not asked for")
    body = bytearray()
    take = reading.sink or body.extend
    total = 0
    async for chunk in answer.chunks:
        total += len(chunk)
        if total > reading.max_bytes:
            raise Oversized(f"{target.shown} answered with more than {reading.max_bytes} bytes")
        take(chunk)
    # They describe the encoded form, and the body is not in it any more.
    kept = tuple(pair for pair in answer.headers if pair[0] not in {"content-encoding", "content-length"})
    return FetchResponse(target.url, answer.status, kept, bytes(body))


def _redirected(request: Outgoing, status: int, target: Target, *, same_origin: bool) -> Outgoing:
    dropped = frozenset[str]() if same_origin else _OF_ONE_ORIGIN
    # What browsers do, against the letter of 301 and 302.
    if (status == 303 and request.method != "HEAD") or (status in {301, 302} and request.method == "POST"):
        request = replace(request, method="GET", body=None)
        dropped |= _OF_A_BODY
    kept = tuple(pair for pair in request.headers if pair[0] not in dropped)
    return replace(request, url=target.url, headers=kept)


def _value(headers: HeaderPairs, name: str) -> str | None:
    return next((value for key, value in headers if key == name), None)
