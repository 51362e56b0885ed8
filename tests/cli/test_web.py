"""Downloads of the command line."""

import gzip
import socket
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from threading import Event

import pytest

from cli.sluice_process import Respond, host, status
from runtime import PATIENCE_S
from sluice.cli.web_client import read_url
from sluice.core.compiler.sources.source_errors import SourceMissing
from sluice.core.errors import Oversized, Refused, TimedOut, Unavailable, Unusable

BODY = b"||a^\n" * 1000


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):
        while True:
            handler.wfile.write(BODY)


def agent(handler: BaseHTTPRequestHandler) -> None:
    status(200, handler.headers["User-Agent"].encode())(handler)


def read(page: Respond | bytes, *, max_bytes: int = 100_000, timeout_s: float = PATIENCE_S) -> bytes:
    with host({"/a": page, "/redirected": BODY, "/%C3%A4?q=%20": BODY}) as address:
        return read_url(f"{address}/a", max_bytes=max_bytes, timeout_s=timeout_s)


def test_bodies():
    """The body is returned decoded, compressed or not, also after a redirect."""
    assert read(BODY) == BODY
    assert read(status(200, gzip.compress(BODY), Content_Encoding="gzip")) == BODY
    assert read(status(302, Location="/redirected")) == BODY
    assert read(agent).startswith(b"sluice/")


def test_odd_addresses():
    """Characters that a URL must not contain are escaped."""
    with host({"/%C3%A4?q=%20": BODY}) as address:
        assert read_url(f"{address}/ä?q= #part", max_bytes=10_000, timeout_s=PATIENCE_S) == BODY


@pytest.mark.parametrize(
    ("page", "failure"),
    [
        (status(404), SourceMissing),
        (status(403), SourceMissing),
        (status(500), Unavailable),
        (status(429), Unavailable),
        (status(302, Location="/a"), Unusable),
        (status(302, Location="ftp://127.0.0.1/a"), Unavailable),
        (status(302, Location="file:///etc/hostname"), Unusable),
        (status(200, b"x", Content_Encoding="br"), Unavailable),
        (status(200, b"no gzip", Content_Encoding="gzip"), Unavailable),
        (status(200, gzip.compress(BODY)[:-9], Content_Encoding="gzip"), Unavailable),
        (status(200, BODY, Content_Length="99999"), Unavailable),
    ],
)
def test_failures(page: Respond, failure: type[Exception]):
    """Every failure of a host is a SluiceError: never half a list, never another scheme."""
    with pytest.raises(failure):
        read(page)


def test_caps():
    """An endless source stops at the cap, also one that is small only while compressed."""
    with pytest.raises(Oversized):
        read(endless)
    with pytest.raises(Oversized):
        read(status(200, gzip.compress(b"x" * 10_000_000), Content_Encoding="gzip"))


def test_timeouts():
    """A host that is silent or sends too slowly times out."""
    over = Event()

    def silent(_handler: BaseHTTPRequestHandler) -> None:
        over.wait(PATIENCE_S)

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            while not over.wait(0.05):
                handler.wfile.write(b"x")

    try:
        with pytest.raises(TimedOut):
            read(silent, timeout_s=0.2)
        with pytest.raises(TimedOut):
            read(drip, timeout_s=0.3)
    finally:
        over.set()


def test_unreachable_hosts():
    """A host that cannot be reached is Unavailable; a malformed address is refused."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(Unavailable):
            read_url(f"http://127.0.0.1:{closed.getsockname()[1]}/", max_bytes=10, timeout_s=PATIENCE_S)
    for address in ("http://", "http://a b/", "ftp://h.example/"):
        with pytest.raises(Refused):
            read_url(address, max_bytes=10, timeout_s=PATIENCE_S)
