"""A compilation of the service: how it downloads its sources, and what it records."""

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from fakes.clock import ManualClock
from sluice import __version__
from sluice.core.compiler.events import ignore_event
from sluice.core.errors import SluiceError, TooLarge, Unusable
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.transport import TransportRequest, TransportResponse
from sluice.services.compiler.cache.list_compiler import compiler_factory, ignore_diagnostic
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.limits.memory import MAX_TEXT_BYTES, TextBudget
from sluice.services.compiler.limits.metered_download import CompilationMeter
from sluice.services.compiler.limits.turns import PATIENCE_S, CompilationTurns
from unit.services.compiler.world import URL, World, configuration, order


class Host:
    """A transport that answers every request with a list, or redirects to it."""

    def __init__(self, content: bytes = b"||ads.example^\n", *, redirects: int = 0) -> None:
        self.content = content
        self.redirects = redirects
        self.requests: list[TransportRequest] = []

    @asynccontextmanager
    async def __call__(self, request: TransportRequest) -> AsyncIterator[TransportResponse]:
        self.requests.append(request)

        async def chunks() -> AsyncIterator[bytes]:
            for at in range(0, len(self.content), 100_000):
                yield self.content[at : at + 100_000]

        if len(self.requests) % (self.redirects + 1):
            yield TransportResponse(302, (("location", f"{URL}?{len(self.requests)}"),), chunks())
        else:
            yield TransportResponse(200, (), chunks())


async def download(
    host: Host,
    *urls: str,
    max_fetches: int = 100,
    turns: CompilationTurns | None = None,
    clock: ManualClock | None = None,
) -> list[str]:
    """Compile the files as one list."""
    clock = clock or ManualClock()
    make_compiler = compiler_factory(host, AllowedHosts.parse(""), clock, lambda: 0.0)
    async with (turns or CompilationTurns()).take(clock) as turn:
        meter = CompilationMeter(FetchAllowance(max_fetches), turn, TextBudget(MAX_TEXT_BYTES))
        compiler = make_compiler(ignore_event, ignore_diagnostic, meter)
        return (await compiler.compile_with_metrics(configuration(*urls))).rules


async def test_sources_are_downloaded_with_a_name():
    """A source is fetched with the service's User-Agent."""
    host = Host()
    assert (await download(host, URL))[-1] == "||ads.example^"
    [request] = host.requests
    assert (request.url, dict(request.headers)["user-agent"]) == (URL, f"sluice/{__version__}")


async def test_redirects_are_fetches():
    """A list whose sources redirect causes no more requests than allowed, counted on the wire."""
    host = Host(redirects=3)
    with pytest.raises(SluiceError, match="needs more than 10 fetches"):
        await download(host, *(f"{URL}/{number}" for number in range(5)), max_fetches=10)
    assert len(host.requests) == 10


async def test_includes_are_fetches():
    """Included files count as well: a file of a thousand includes ends at the limit."""
    host = Host(b"\n".join(b"!#include %d.txt" % number for number in range(1000)))
    with pytest.raises(SluiceError, match=r"needs more than 100 fetches|files are included"):
        await download(host, URL)
    assert len(host.requests) <= 100


async def test_memory_is_bounded():
    """A text that would not fit into memory is refused, also if it is small as bytes: an emoji makes its line wide."""
    line = "||ads.example^$domain=example.com|example.org|example.net\n"
    assert len(await download(Host((line * 100_000).encode()), URL)) > 100_000
    assert len(await download(Host(("\U0001f600" + line * 120_000).encode()), URL)) > 120_000
    with pytest.raises(TooLarge, match="split the list, or compile it with the command line"):
        await download(Host(f"\U0001f600{line}".encode() * 90_000), URL)


async def test_charsets_and_gzip():
    """A source in UTF-16, or packed without saying so, is read as a published list reads it."""
    text = "||ads.example^\n||bücher.example^\n"
    for content in (text.encode("utf-16"), gzip.compress(text.encode())):
        assert (await download(Host(content), URL))[-2:] == ["||ads.example^", "||bücher.example^"]


async def test_unpacked_size_counts():
    """A packed source is as large as what it holds, for the limits and for the turn."""
    with pytest.raises(SluiceError, match="larger than 10,000,000 bytes") as caught:
        await download(Host(gzip.compress(b"||ads.example^\n" * 800_000)), URL)
    assert caught.value.status == 413
    turns, clock = CompilationTurns(), ManualClock()
    async with turns.take(clock) as other:
        assert turns.take_large(other)
        began_s = clock.now()
        await download(Host(gzip.compress(b"||ads.example^\n" * 80_000)), URL, turns=turns, clock=clock)
        assert clock.now() - began_s > PATIENCE_S


async def test_success_is_recorded():
    """A row, a data point, a count and a log line say what asked for the list."""
    world = World()
    await world.compiler.compile(order(trigger="stream"))
    [row] = await world.database.all("select * from compilation_metadata")
    assert (row["path"], row["success"], row["error"]) == ("stream", 1, None)
    assert world.points.written == ["compilation_success"]
    assert world.counts["compilations", "success"] == 1
    assert "compilation.done" in world.log.names()


async def test_failure_is_recorded():
    """A failure is recorded with its reason and raised."""
    world = World({URL: Unusable("gone")})
    with pytest.raises(Unusable, match="gone"):
        await world.compiler.compile(order(trigger="queue"))
    [row] = await world.database.all("select * from compilation_metadata")
    assert (row["path"], row["success"]) == ("queue", 0)
    assert "gone" in str(row["error"])
    assert world.points.written == ["compilation_error"]
