"""The bytes on the wire: what plain clients get, and what becomes of a connection after a refused request."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from runtime import PATIENCE_S, Runtime
from workerd.conftest import StartRuntime
from workerd.origin import Origin, local_origin

WORKER = "adblock-compiler"


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    return start("--only", WORKER, "--var", f"ALLOW_PRIVATE_HOSTS={origin.address}")


@dataclass
class Line:
    """One connection, byte by byte."""

    connection: socket.socket

    def send(self, content: bytes) -> None:
        self.connection.sendall(content)

    def read_reply(self) -> tuple[int, dict[str, str], bytes]:
        """Return the status, headers and body of the next reply; fail if the connection ends before."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._read()
        head, _, body = received.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", 0)):
            body += self._read()
        return int(status.split()[1]), headers, body

    def _read(self) -> bytes:
        received = self.connection.recv(65536)
        assert received, "the connection was closed"
        return received


@pytest.fixture(name="lines")
def _lines(service: Runtime) -> Iterator[list[Line]]:
    port = urlsplit(service.url).port
    with ExitStack() as stack:
        yield [
            Line(stack.enter_context(socket.create_connection(("127.0.0.1", int(port or 0)), timeout=PATIENCE_S)))
            for _ in range(3)
        ]


@pytest.fixture(name="line")
def _line(service: Runtime) -> Iterator[Line]:
    port = urlsplit(service.url).port
    with socket.create_connection(("127.0.0.1", int(port or 0)), timeout=PATIENCE_S) as connection:
        yield Line(connection)


def head(path: str, length: int, client: str, *lines: str, method: str = "POST") -> bytes:
    """Return the head of a request that names no encoding."""
    fixed = [f"{method} {path} HTTP/1.1", f"Host: {WORKER}.localhost", f"CF-Connecting-IP: {client}"]
    return "\r\n".join([*fixed, f"Content-Length: {length}", *lines, "", ""]).encode()


def body_for(url: str, **more: Any) -> bytes:
    return json.dumps({"configuration": {"name": "T", "sources": [{"source": url}]}, **more}).encode()


@pytest.mark.parametrize("accept", ["application/json", "text/plain"])
def test_plain_bytes_without_accept_encoding(line: Line, origin: Origin, name: str, accept: str):
    """A client that names no encoding gets plain bytes, compiled and from the cache."""
    body = body_for(origin.serve(f"/{name}", "||ads.example^\n"))
    for expected in ("MISS", "HIT", "HIT"):
        line.send(head("/compile", len(body), f"192.0.2.{len(accept)}", f"Accept: {accept}") + body)
        status, headers, content = line.read_reply()
        assert (status, headers["x-cache"]) == (200, expected)
        assert "content-encoding" not in headers
        assert b"||ads.example^" in content


@pytest.mark.parametrize(("encoding", "packed"), [("gzip", True), ("identity", False), ("br", False)])
def test_encoding_of_the_client(line: Line, origin: Origin, name: str, encoding: str, packed: bool):
    """A client that accepts gzip gets it, another does not."""
    body = body_for(origin.serve(f"/{name}", "||ads.example^\n"))
    line.send(head("/compile", len(body), f"192.0.2.{50 + len(encoding)}", f"Accept-Encoding: {encoding}") + body)
    status, headers, _ = line.read_reply()
    assert (status, headers.get("content-encoding") == "gzip") == (200, packed)


def exhaust(service: Runtime, client: str) -> None:
    """Use up the limit of the client."""
    for _ in range(10):
        httpx.post(f"{service.url}/compile", content=b"{}", headers={"CF-Connecting-IP": client}, timeout=PATIENCE_S)


REFUSED = [("/compile", 429), ("/nowhere", 404), ("/api", 405), ("/compile/batch", 429), ("/workflow/batch", 429)]


@pytest.mark.parametrize(("path", "status"), REFUSED)
def test_connection_survives_a_refused_post(service: Runtime, line: Line, path: str, status: int):
    """After a refused POST with a body, the next request on the same connection is answered."""
    client = "198.51.100.7"
    exhaust(service, client)
    content = b"x" * 300_000
    for _ in range(3):
        line.send(head(path, len(content), client) + content)
        assert line.read_reply()[0] == status
    line.send(head("/api", 0, client, method="GET"))
    assert line.read_reply()[0] == 200


def test_slow_sender_is_not_cut(service: Runtime, line: Line):
    """A client that still sends when it is refused can finish, and go on."""
    client = "198.51.100.8"
    exhaust(service, client)
    content = b"x" * 200_000
    line.send(head("/compile", len(content), client) + content[:1000])
    for at in range(1000, len(content), 40_000):
        time.sleep(0.1)
        line.send(content[at : at + 40_000])
    assert line.read_reply()[0] == 429
    line.send(head("/api", 0, client, method="GET"))
    assert line.read_reply()[0] == 200


def test_body_that_stalls_is_given_up(service: Runtime, lines: list[Line]):
    """Whoever sends no more of a body gets a 408, small or large, and the Worker goes on."""
    small, large = head("/compile", 1000, "198.51.100.9"), head("/compile", 300_000, "198.51.100.9")
    chunked = large.replace(b"Content-Length: 300000", b"Transfer-Encoding: chunked")
    assert chunked != large
    beginnings = [small + b"{", large + b" " * 100_000, chunked + b"186A0\r\n" + b" " * 100_000 + b"\r\n"]
    for line, beginning in zip(lines, beginnings, strict=True):
        line.send(beginning)
    for line in lines:
        status, headers, body = line.read_reply()
        assert (status, headers["content-type"]) == (408, "application/problem+json")
        assert "did not arrive in time" in json.loads(body)["detail"]
    assert httpx.get(f"{service.url}/api", timeout=PATIENCE_S).status_code == 200


def test_pages_of_others_may_call_it(service: Runtime):
    """A page of another site may use the public API and read the headers it needs."""
    origin = {"Origin": "https://site.example"}
    preflight = {
        **origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "cache-control,content-type",
    }
    allowed = httpx.options(f"{service.url}/compile", headers=preflight, timeout=PATIENCE_S)
    assert allowed.headers["access-control-allow-origin"] == "*"
    assert "POST" in allowed.headers["access-control-allow-methods"]
    assert {"cache-control", "content-type"} <= set(allowed.headers["access-control-allow-headers"].lower().split(", "))
    reply = httpx.get(f"{service.url}/api", headers=origin, timeout=PATIENCE_S)
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "X-Cache" in reply.headers["access-control-expose-headers"]
    refused = httpx.post(f"{service.url}/compile", content=b"{", headers=origin, timeout=PATIENCE_S)
    assert refused.headers["access-control-allow-origin"] == "*"
