"""The claims about the guarded fetch; the subject is a `Web`, an upstream that answers as `upstream` says."""

import gzip
from dataclasses import dataclass
from typing import Final

from contract.raises import raises
from sluice.core.errors import Oversized, Refused, Unavailable
from sluice.core.net.fetch import Fetcher
from sluice.core.ports import FetchResponse, HeaderPairs

# Not what is claimed here: only an answer that never comes takes as long.
PATIENCE_S: Final = 200.0


@dataclass
class Web:
    """A fetcher that is allowed to reach `origin`, where `upstream` is served."""

    fetcher: Fetcher
    origin: str

    async def get(self, path: str, *, max_bytes: int = 1_000_000) -> FetchResponse:
        return await self.fetcher.fetch(self.origin + path, max_bytes=max_bytes, timeout_s=PATIENCE_S)


def upstream(origin: str) -> dict[str, tuple[int, HeaderPairs, bytes]]:
    """Status, headers and raw body by path; the same for a scripted transport and for a server."""
    packed = ("content-encoding", "gzip")
    return {
        "/hello": (200, (("content-type", "text/plain"), ("x-one", "1")), b"hello"),
        "/cookies": (200, (("set-cookie", "a=1"), ("set-cookie", "b=2")), b""),
        "/missing": (404, (), b"not here"),
        "/broken": (500, (), b"sorry"),
        "/gzip": (200, (packed,), gzip.compress(b"packed")),
        "/bomb": (200, (packed,), gzip.compress(bytes(20_000_000))),
        "/large": (200, (), bytes(300_000)),
        "/deflate": (200, (("content-encoding", "deflate"),), b"x"),
        "/to-hello": (302, (("location", "/hello"),), b"moved"),
        "/away": (301, (("location", f"{origin}/to-hello"),), b""),
        "/round": (302, (("location", "/round"),), b""),
        "/nowhere": (302, (), b"no location"),
        "/inside": (302, (("location", "http://169.254.169.254/latest/meta-data"),), b""),
        "/file": (302, (("location", "file:///etc/passwd"),), b""),
    }


async def check_answer_comes_back(web: Web, unique: str):
    """Status, headers and body come back, errors of the server too; the query may hold anything."""
    del unique
    hello = await web.get("/hello")
    assert (hello.status, hello.body, hello.url) == (200, b"hello", f"{web.origin}/hello")
    assert hello.header("x-one") == "1"
    assert [(await web.get(path)).status for path in ("/missing", "/broken", "/nowhere")] == [404, 500, 302]


async def check_repeated_headers_survive(web: Web, unique: str):
    """Two cookies stay two headers."""
    del unique
    assert [pair for pair in (await web.get("/cookies")).headers if pair[0] == "set-cookie"] == [
        ("set-cookie", "a=1"),
        ("set-cookie", "b=2"),
    ]


async def check_packed_body_is_decoded(web: Web, unique: str):
    """A gzip body arrives decoded, without the headers that describe its packed form."""
    del unique
    found = await web.get("/gzip")
    assert found.body == b"packed"
    assert found.header("content-encoding") is None
    assert found.header("content-length") is None


async def check_large_bodies_are_stopped(web: Web, unique: str):
    """The cap holds for the decoded bytes, so a small packed body cannot grow past it."""
    del unique
    for path in ("/large", "/bomb"):
        with raises(Oversized, path):
            await web.get(path, max_bytes=299_999)
    assert len((await web.get("/large", max_bytes=300_000)).body) == 300_000


async def check_unasked_encoding_is_refused(web: Web, unique: str):
    """A body in an encoding that arrives undecoded is an error, not garbage."""
    del unique
    with raises(Unavailable, "deflate"):
        await web.get("/deflate")


async def check_redirects_are_followed(web: Web, unique: str):
    """Relative and absolute redirects lead to the last answer; a circle ends."""
    del unique
    found = await web.get("/away")
    assert (found.status, found.body, found.url) == (200, b"hello", f"{web.origin}/hello")
    with raises(Unavailable, "redirects"):
        await web.get("/round")


async def check_redirects_are_checked(web: Web, unique: str):
    """A redirect into the private network or to another scheme is refused."""
    del unique
    for path in ("/inside", "/file"):
        with raises(Refused, path):
            await web.get(path)


async def check_private_hosts_are_refused(web: Web, unique: str):
    """A private host is refused before anything is sent."""
    del unique
    with raises(Refused, "10.0.0.1"):
        await web.fetcher.fetch("http://10.1/", max_bytes=1, timeout_s=PATIENCE_S)
