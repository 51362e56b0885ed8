"""The guarded fetch: checks every hop, caps every body and bounds every wait."""

import asyncio
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import ConnectionLost, Oversized, TimedOut, Unavailable
from sluice.core.net.addresses import AllowedHosts, Target, check_url
from sluice.core.net.redirects import MAX_REDIRECTS, redirect_location, redirect_request, resolve_redirect
from sluice.core.net.transport import Transport, TransportFailed, TransportLost, TransportRequest, TransportResponse
from sluice.core.ports import FetchResponse, HeaderPairs, Sink

MAX_CONNECTIONS: Final = 6  # workers/platform/limits#simultaneous-open-connections
# workerd decodes gzip and br and leaves their headers in place; it would deliver deflate and zstd undecoded.
_DECODED_ENCODINGS: Final = frozenset({"", "identity", "gzip", "br"})
# These headers describe the encoded body, and the body arrives decoded.
_ENCODING_HEADERS: Final = frozenset({"content-encoding", "content-length"})


@dataclass(frozen=True, slots=True)
class _ReadOptions:
    """How a response is read."""

    max_bytes: int
    follow: bool
    sink: Sink | None


class Fetcher:
    """Fetches URLs that come from outside; `allowed` names the private hosts that may be fetched.

    Six requests are under way at once, as many as an invocation may have. The others wait here, where their time has not
    begun; the platform would let them wait within their time.
    """

    def __init__(self, transport: Transport, allowed: AllowedHosts) -> None:
        self._transport = transport
        self._allowed = allowed
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)

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
        """Return the response after at most five redirects.

        Without `follow` a redirect is the response; `fresh` bypasses every cache; a `sink` receives the body as it
        arrives, and the response then has none. Raise Refused, TimedOut, Unavailable or Oversized, which name the URL.
        """
        target = check_url(url, self._allowed)
        sent_headers = (*((name.lower(), value) for name, value in headers), ("accept-encoding", "gzip, br"))
        request = TransportRequest(method, target.url, sent_headers, body, fresh)
        try:
            async with self._slots, asyncio.timeout(timeout_s):
                return await self._follow_redirects(target, request, _ReadOptions(max_bytes, follow, sink))
        except TimeoutError:
            raise TimedOut(f"{target.redacted_url} did not answer within {timeout_s:g} s") from None

    async def _follow_redirects(
        self, target: Target, request: TransportRequest, options: _ReadOptions
    ) -> FetchResponse:
        for _ in range(MAX_REDIRECTS + 1):
            outcome = await self._send(target, request, options)
            if isinstance(outcome, FetchResponse):
                return outcome
            status, location = outcome
            next_target = resolve_redirect(target, location, self._allowed)
            request = redirect_request(request, status, target, next_target)
            target = next_target
        raise Unavailable(f"{target.redacted_url} is reached only after more than {MAX_REDIRECTS} redirects")

    async def _send(
        self, target: Target, request: TransportRequest, options: _ReadOptions
    ) -> FetchResponse | tuple[int, str]:
        """Return the response, or the status and location of a redirect to follow."""
        try:
            async with self._transport(request) as response:
                location = redirect_location(response) if options.follow else None
                if location:
                    return response.status, location
                return await _read_response(target, response, options)
        except TransportLost as error:
            raise ConnectionLost(f"{target.redacted_url} did not answer: {error}") from error
        except TransportFailed as error:
            raise Unavailable(f"{target.redacted_url} did not answer: {error}") from error


async def _read_response(target: Target, response: TransportResponse, options: _ReadOptions) -> FetchResponse:
    encoding = (response.header("content-encoding") or "").strip().lower()
    if encoding not in _DECODED_ENCODINGS:
        raise Unavailable(f"{target.redacted_url} answered in the encoding {encoding!r}, which was not asked for")
    body = bytearray()
    write = options.sink or body.extend
    total = 0
    async for chunk in response.chunks:
        total += len(chunk)
        if total > options.max_bytes:
            raise Oversized(f"{target.redacted_url} answered with more than {options.max_bytes} bytes")
        write(chunk)
    if not encoding:
        _check_is_whole(target, response, total)
    headers = tuple(pair for pair in response.headers if pair[0] not in _ENCODING_HEADERS)
    return FetchResponse(target.url, response.status, headers, bytes(body))


def _check_is_whole(target: Target, response: TransportResponse, total: int) -> None:
    """Raise Unavailable for a body that ended too early; one without any byte is the answer to HEAD."""
    length = response.header("content-length") or ""
    if 0 < total < (int(length) if length.isascii() and length.isdigit() else 0):
        raise Unavailable(f"{target.redacted_url} sent {total:,} of {int(length):,} bytes: the download is incomplete")
