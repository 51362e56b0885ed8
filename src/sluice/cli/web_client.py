"""Downloads for the command line, with the standard library: limits on bytes and time, but private hosts are allowed."""

import http.client
import socket
import ssl
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
from sluice.core.compiler.sources.utf8_conversion import to_utf8
from sluice.core.errors import Oversized, PeerError, TimedOut, Unavailable, Unusable
from sluice.core.net.addresses import AllowedHosts, check_url

_CHUNK_BYTES: Final = 65_536
_IDLE_S: Final = 30.0
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
# All characters that a URL may contain; the rest is escaped.
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
# Not build_opener, which would also follow a redirect to ftp.
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
    """Return the decoded body in UTF-8; raise a PeerError that says whether a retry may help."""
    target = check_url(url, AllowedHosts(everything=True))
    headers = {"User-Agent": f"sluice/{__version__}", "Accept-Encoding": "gzip"}
    request = Request(quote(target.url, safe=_PRINTABLE), headers=headers)  # noqa: S310 (http and https only)
    deadline = time.monotonic() + timeout_s
    try:
        with _build_opener().open(request, timeout=min(_IDLE_S, timeout_s)) as response:
            body = _read_body(response, max_bytes, deadline)
            return to_utf8(body, response.headers.get("Content-Type"), max_bytes=max_bytes)
    except (OSError, http.client.HTTPException, zlib.error) as error:
        raise _translate_error(error) from error


def _build_opener() -> OpenerDirector:
    opener = OpenerDirector()
    for handler in _HANDLERS:
        opener.add_handler(handler())
    return opener


def _read_body(response: http.client.HTTPResponse, max_bytes: int, deadline: float) -> bytes:
    body = bytearray()
    for chunk in _decode_chunks(response, deadline, max_bytes):
        body += chunk
        if len(body) > max_bytes:
            raise Oversized(f"the host sent more than {max_bytes:,} bytes")
    return bytes(body)


def _decode_chunks(response: http.client.HTTPResponse, deadline: float, max_bytes: int) -> Iterator[bytes]:
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in {"", "identity"}:
        yield from _read_chunks(response, deadline)
        return
    if encoding != "gzip":
        raise Unavailable(f"the host answered in the encoding {encoding!r}, which was not asked for")
    unzip = zlib.decompressobj(wbits=31)
    for chunk in _read_chunks(response, deadline):
        yield unzip.decompress(chunk, max_bytes + 1)
    if not unzip.eof:
        raise Unavailable("the host closed the connection before the end")


def _read_chunks(response: http.client.HTTPResponse, deadline: float) -> Iterator[bytes]:
    length = response.length  # of the whole body; None if the host does not send it
    count = 0
    while chunk := response.read1(_CHUNK_BYTES):
        count += len(chunk)
        yield chunk
        if time.monotonic() > deadline:
            raise TimedOut("the host did not finish in time")
    if length is not None and count < length:
        raise Unavailable("the host closed the connection before the end")


def _translate_error(error: Exception) -> PeerError:
    """Translate an exception of the standard library."""
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(error, HTTPError):
        error.close()
        return _translate_status(error)
    if isinstance(reason, socket.gaierror):
        return _translate_lookup(reason)
    if isinstance(reason, ssl.SSLError):
        text = getattr(reason, "verify_message", "") or reason.reason or "the handshake failed"
        return Unusable(f"the host cannot be trusted over TLS ({text}): check the address and its certificate")
    if isinstance(reason, TimeoutError):
        return TimedOut("the host did not answer in time")
    return Unavailable(f"the host cannot be read: {reason or type(error).__name__}")


def _translate_status(error: HTTPError) -> PeerError:
    if error.code in _REDIRECTS:  # the handler of redirects gave up
        return Unusable("the host redirects in a circle, too often, or away from the web: use the address at the end")
    try:
        check_status(error.code)
    except PeerError as translated:
        return translated
    return Unavailable(f"the host answered with status {error.code}")


def _translate_lookup(error: socket.gaierror) -> PeerError:
    if error.errno == socket.EAI_AGAIN:
        return Unavailable("the name of the host cannot be looked up at the moment: try again later")
    return Unusable("the host does not exist: its name is not in DNS, check the address")
