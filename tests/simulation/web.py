"""The network between the services and other people's servers: late, lost, cut off, and never answering."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fakes.binding import Crash
from simulation.chance import Chance
from simulation.loop import Process, current_process, forever
from sluice.core.errors import ConnectionLost, TimedOut, Unavailable
from sluice.core.net.transport import TransportFailed, TransportLost, TransportRequest, TransportResponse
from sluice.core.ports import NO_CONTENT, Content, HeaderPairs, OriginResponse


@dataclass(frozen=True, slots=True)
class Served:
    """What a server answers, after so long."""

    status: int = 200
    headers: HeaderPairs = ()
    body: bytes = b""
    after_s: float = 0.0


@dataclass
class Arrival:
    """One request as its server sees it; it is over when it was answered, or whoever sent it is gone."""

    at: float
    request: TransportRequest
    sender: Process
    ended_at: float | None = None

    @property
    def is_under_way(self) -> bool:
        return self.ended_at is None and self.sender.alive


Serve = Callable[[Arrival], Awaitable[Served]]


@dataclass
class SimulatedWeb:
    """Every request of the services to somebody else ends here, at `serve`."""

    chance: Chance
    serve: Serve

    @asynccontextmanager
    async def transport(self, request: TransportRequest) -> AsyncIterator[TransportResponse]:
        """Send one request, as the guarded fetch does."""
        served = await self._send(request)
        is_cut = len(served.body) > 1 and self.chance.occurs("cut off", "web")
        headers = served.headers
        if served.body:
            headers = (*headers, ("content-length", str(len(served.body))))
        yield TransportResponse(
            served.status, headers, _stream(served.body[: len(served.body) // 2] if is_cut else served.body)
        )

    async def visit(
        self, url: str, changes: Mapping[str, str | None], *, timeout_s: float, is_repeatable: bool = True
    ) -> OriginResponse:
        """Send a visitor's own request; the platform repeats none in here."""
        del is_repeatable
        headers = tuple((name, value) for name, value in changes.items() if value is not None)
        try:
            async with asyncio.timeout(timeout_s):
                served = await self._send(TransportRequest("GET", url, headers, None))
        except TimeoutError:
            raise TimedOut(f"{url} did not answer in time") from None
        except TransportLost as error:
            raise ConnectionLost(str(error)) from error
        except TransportFailed as error:
            raise Unavailable(str(error)) from error
        content = Content(served.body, len(served.body)) if served.body else NO_CONTENT
        return OriginResponse(served.status, served.headers, content)

    async def _send(self, request: TransportRequest) -> Served:
        sender, chance = current_process(), self.chance
        if not sender.alive:
            raise Crash(f"{sender.name} is dead")
        await asyncio.sleep(chance.delay())
        if chance.occurs("connection lost", "web"):
            raise TransportLost("Network connection lost.")
        if chance.occurs("unreachable", "web"):
            raise TransportFailed("connection refused")
        loop = asyncio.get_running_loop()
        arrival = Arrival(loop.time(), request, sender)
        try:
            served = await self.serve(arrival)
            if chance.occurs("web hangs", "web"):
                await forever()
            if chance.occurs("web is slow", "web"):
                await asyncio.sleep(chance.amount("web is slow", 1, 40))
            await asyncio.sleep(served.after_s)
        finally:
            arrival.ended_at = loop.time()
        if chance.occurs("answer lost", "web"):
            raise TransportFailed("the connection was closed")
        await asyncio.sleep(chance.delay())
        return served


async def _stream(body: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(body), 16):
        yield body[at : at + 16]
