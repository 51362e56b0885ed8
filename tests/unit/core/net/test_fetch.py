"""The guarded fetch over a scripted transport; claims that also hold in workerd are in the contract."""

import asyncio
import gzip

import pytest

from fakes.transport import FakeTransport, Scripted
from sluice.core.errors import ConnectionLost, Oversized, Refused, TimedOut, Unavailable
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import TransportFailed, TransportLost, TransportRequest
from sluice.core.ports import FetchResponse

A = "https://a.example"
B = "https://b.example"
CREDENTIALS = (("Authorization", "x"), ("Cookie", "y"), ("X-Other", "z"))


def redirect_to(location: str, status: int = 302) -> Scripted:
    return Scripted(status, (("location", location),))


async def fetch(transport: FakeTransport, url: str = f"{A}/", **options) -> FetchResponse:
    return await Fetcher(transport, AllowedHosts()).fetch(url, **({"max_bytes": 1000, "timeout_s": 5} | options))


def last_request(transport: FakeTransport) -> TransportRequest:
    return transport.requests[-1]


@pytest.mark.parametrize("location", ["http://127.1/", "//localhost/", "http://[::1]/", "https://u:p@b.example/", "ftp://b.example/"])  # fmt: skip
async def test_every_hop_is_checked(location):
    """A redirect to an address that must not be fetched is refused before it is followed."""
    transport = FakeTransport({f"{A}/": redirect_to(f"{B}/"), f"{B}/": redirect_to(location)})
    with pytest.raises(Refused, match=r"^https://b\.example/ redirects"):
        await fetch(transport)
    assert len(transport.requests) == transport.closed == 2


async def test_five_redirects_are_followed_and_six_are_not():
    """The fifth redirect is the last."""
    hops = {f"{A}/{n}": redirect_to(f"/{n + 1}") for n in range(6)} | {f"{A}/6": Scripted(body=b"end")}
    assert (await fetch(FakeTransport(hops), f"{A}/1")).body == b"end"
    with pytest.raises(Unavailable, match="more than 5"):
        await fetch(FakeTransport(hops), f"{A}/0")


@pytest.mark.parametrize(
    ("location", "is_kept"), [(f"{A}/next", True), (f"{B}/next", False), ("http://a.example/next", False)]
)
async def test_credentials_stay_with_their_origin(location, is_kept):
    """Authorization and cookies follow a redirect only within the same scheme, host and port."""
    transport = FakeTransport({f"{A}/": redirect_to(location), location: Scripted()})
    await fetch(transport, headers=CREDENTIALS)
    names = {name for name, _ in last_request(transport).headers}
    assert names == {"x-other", "accept-encoding"} | ({"authorization", "cookie"} if is_kept else set())


@pytest.mark.parametrize(
    ("status", "method", "becomes"),
    [(301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"), (307, "POST", "POST"),
     (308, "POST", "POST"), (301, "PUT", "PUT"), (303, "HEAD", "HEAD"), (302, "GET", "GET")],
)  # fmt: skip
async def test_method_after_redirect(status, method, becomes):
    """A redirect keeps or changes the method as browsers do; if it changes, the body and its headers are dropped."""
    transport = FakeTransport({f"{A}/": redirect_to("/next", status), f"{A}/next": Scripted()})
    await fetch(transport, method=method, body=b"x", headers=(("Content-Type", "text/plain"),))
    request = last_request(transport)
    assert request.method == becomes
    assert (request.body is None) == (method != becomes)
    assert (("content-type", "text/plain") in request.headers) == (method == becomes)


async def test_redirect_body_is_not_read():
    """The body of a redirect is not read."""
    transport = FakeTransport({f"{A}/": Scripted(302, (("location", "/b"),), bytes(5000)), f"{A}/b": Scripted()})
    await fetch(transport)
    assert transport.chunks_taken == 0


async def test_cap_stops_the_reading():
    """A body beyond the cap is dropped at the chunk that exceeds it, not read to its end."""
    transport = FakeTransport({f"{A}/": Scripted(body=bytes(1_000_000))}, chunk_bytes=100)
    with pytest.raises(Oversized, match="more than 1000 bytes"):
        await fetch(transport)
    assert transport.chunks_taken == 11
    assert transport.closed == 1


async def test_cap_counts_decoded_bytes():
    """The cap applies to the decoded body."""
    compressed = Scripted(200, (("content-encoding", "gzip"),), gzip.compress(bytes(1001)))
    transport = FakeTransport({f"{A}/": compressed})
    assert len((await fetch(transport, max_bytes=1001)).body) == 1001
    with pytest.raises(Oversized):
        await fetch(transport, max_bytes=1000)


async def test_silence_times_out():
    """The timeout covers all hops, and the request is dropped when it expires."""

    async def never(_: TransportRequest) -> Scripted:
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    transport = FakeTransport({f"{A}/": redirect_to("/never?token=1"), f"{A}/never?token=1": never})
    with pytest.raises(TimedOut, match=r"^https://a\.example/ did not answer within 0 s$"):
        await fetch(transport, timeout_s=0)
    assert transport.closed == 2


async def test_failure_names_the_url_without_its_query():
    """A failed connection is Unavailable, and the message does not contain the query."""

    async def lost(_: TransportRequest) -> Scripted:
        raise TransportFailed("Network connection lost.")

    with pytest.raises(Unavailable, match=r"^https://a\.example/x did not answer: Network connection lost\.$"):
        await fetch(FakeTransport({f"{A}/x?key=secret": lost}), f"{A}/x?key=secret")


async def test_lost_connection():
    """A reused connection that was closed is an error of its own, so that a caller may send the request again."""

    async def lost(_: TransportRequest) -> Scripted:
        raise TransportLost("Network connection lost.")

    with pytest.raises(ConnectionLost, match=r"^https://a\.example/x did not answer: Network connection lost\.$"):
        await fetch(FakeTransport({f"{A}/x": lost}), f"{A}/x")


async def test_bugs_are_not_hidden():
    """An exception that is not a TransportFailed passes through: it is a bug, not an outage."""
    with pytest.raises(AssertionError, match="no response is scripted"):
        await fetch(FakeTransport({}))


async def test_accept_encoding():
    """Every request accepts the two encodings that arrive decoded."""
    transport = FakeTransport({f"{A}/": Scripted()})
    await fetch(transport)
    assert last_request(transport).headers == (("accept-encoding", "gzip, br"),)


async def test_without_following():
    """Without `follow` the redirect is the response."""
    transport = FakeTransport({f"{A}/": redirect_to("http://127.0.0.1/")})
    response = await fetch(transport, follow=False)
    assert (response.status, response.header("location"), len(transport.requests)) == (302, "http://127.0.0.1/", 1)


async def test_a_sink_receives_the_body():
    """With a sink the response has no body, and the cap applies all the same."""
    chunks: list[bytes] = []
    transport = FakeTransport({f"{A}/": Scripted(body=b"x" * 900)}, chunk_bytes=100)
    response = await fetch(transport, sink=chunks.append)
    assert (response.body, len(chunks), b"".join(chunks)) == (b"", 9, b"x" * 900)
    with pytest.raises(Oversized):
        await fetch(transport, sink=chunks.append, max_bytes=300)
    assert len(chunks) == 12


async def test_fresh():
    """`fresh` is passed to the transport."""
    transport = FakeTransport({f"{A}/": Scripted()})
    await fetch(transport, fresh=True)
    assert last_request(transport).fresh
    await fetch(transport)
    assert not last_request(transport).fresh


async def test_six_requests_are_under_way_at_once():
    """The seventh request is sent when one of six has ended, and its time begins then."""
    gate, waiting = asyncio.Event(), asyncio.Semaphore(0)

    async def hold(_request: TransportRequest) -> Scripted:
        waiting.release()
        await gate.wait()
        return Scripted(body=b"x")

    transport = FakeTransport({f"{A}/{n}": hold for n in range(8)})
    fetcher = Fetcher(transport, AllowedHosts())
    tasks = [asyncio.ensure_future(fetcher.fetch(f"{A}/{n}", max_bytes=10, timeout_s=60)) for n in range(8)]
    for _ in range(6):
        await waiting.acquire()
    assert len(transport.requests) == 6
    gate.set()
    assert [response.body for response in await asyncio.gather(*tasks)] == [b"x"] * 8
