"""The web as this machine sees it, by the standard library alone: no guard, but a cap on bytes and time."""

import http.client
import time
import zlib
from collections.abc import Iterator
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

from sluice import __version__
from sluice.core.compiler.sources.download import check_status
from sluice.core.errors import Oversized, PeerError, TimedOut, Unavailable
from sluice.core.net.addresses import AllowedHosts, check_url

_CHUNK_BYTES: Final = 65_536
_IDLE_S: Final = 30.0
# Everything a URL may hold; the rest is escaped.
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
# Not build_opener: that one would also follow a redirect to ftp.
_HANDLERS: Final = (
    ProxyHandler,
    UnknownHandler,
    HTTPHandler,
    HTTPSHandler,
    HTTPDefaultErrorHandler,
    HTTPRedirectHandler,
    HTTPErrorProcessor,
)


def read_url(url: str, *, max_bytes: int, timeout_s: float) -> bytes:
    """The decoded body; a PeerError tells whether trying again may help."""
    target = check_url(url, AllowedHosts(everything=True))
    headers = {"User-Agent": f"sluice/{__version__}", "Accept-Encoding": "gzip"}
    request = Request(quote(target.url, safe=_PRINTABLE), headers=headers)  # noqa: S310 (http and https only)
    deadline = time.monotonic() + timeout_s
    try:
        with _opener().open(request, timeout=min(_IDLE_S, timeout_s)) as answer:
            return _body(answer, max_bytes, deadline)
    except (OSError, http.client.HTTPException, zlib.error) as error:
        raise _translated(error) from error


def _opener() -> OpenerDirector:
    opener = OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    return opener


def _body(answer: http.client.HTTPResponse, max_bytes: int, deadline: float) -> bytes:
    body = bytearray()
    for chunk in _decoded(answer, deadline, max_bytes):
        body += chunk
        if len(body) > max_bytes:
            raise Oversized(f"the host sends more than {max_bytes:,} bytes")
    return bytes(body)


def _decoded(answer: http.client.HTTPResponse, deadline: float, max_bytes: int) -> Iterator[bytes]:
    encoding = answer.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in {"", "identity"}:
        yield from _raw(answer, deadline)
        return
    if encoding != "gzip":
        raise Unavailable(f"the host answered in the encoding {encoding!r}, which was not asked for")
    unzip = zlib.decompressobj(wbits=31)
    for chunk in _raw(answer, deadline):
        yield unzip.decompress(chunk, max_bytes + 1)
    if not unzip.eof:
        raise Unavailable("the host broke off in the middle")


def _raw(answer: http.client.HTTPResponse, deadline: float) -> Iterator[bytes]:
    length = answer.length  # of the whole body, None if the host does not tell
    count = 0
    while chunk := answer.read1(_CHUNK_BYTES):
        count += len(chunk)
        yield chunk
        if time.monotonic() > deadline:
            raise TimedOut("the host takes too long")
    if length is not None and count < length:
        raise Unavailable("the host broke off in the middle")


def _translated(error: Exception) -> PeerError:
    """What an exception of the standard library means."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(error, HTTPError):
        error.close()
        try:
            check_status(error.code)
        except PeerError as meant:
            return meant
    if isinstance(reason, TimeoutError):
        return TimedOut("the host did not answer in time")
    return Unavailable(f"the host cannot be read: {reason or type(error).__name__}")
