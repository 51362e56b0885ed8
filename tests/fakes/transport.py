"""Scripted responses by URL; an unknown URL fails the test."""

import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from sluice.core.net.transport import TransportRequest, TransportResponse
from sluice.core.ports import HeaderPairs


@dataclass(frozen=True, slots=True)
class Scripted:
    """A response as it is sent; gzip is decoded on arrival, as in workerd."""

    status: int = 200
    headers: HeaderPairs = ()
    body: bytes = b""

    def chunks(self, size: int) -> list[bytes]:
        encoded = ("content-encoding", "gzip") in self.headers
        content = gzip.decompress(self.body) if encoded else self.body
        return [content[at : at + size] for at in range(0, len(content), size)]


@dataclass
class FakeTransport:
    """Responds by URL with a value, or with a function of the request, which may raise or await forever."""

    answers: Mapping[str, Scripted | Callable[[TransportRequest], Awaitable[Scripted]]]
    chunk_bytes: int = 1024
    requests: list[TransportRequest] = field(default_factory=list)
    # The chunks that were read and the requests that were closed: a reader that stops early reads few chunks.
    chunks_taken: int = 0
    closed: int = 0

    @asynccontextmanager
    async def __call__(self, request: TransportRequest) -> AsyncIterator[TransportResponse]:
        self.requests.append(request)
        if request.url not in self.answers:
            raise AssertionError(f"no response is scripted for {request.url}")
        answer = self.answers[request.url]
        try:
            scripted = answer if isinstance(answer, Scripted) else await answer(request)
            yield TransportResponse(scripted.status, scripted.headers, self._read_chunks(scripted))
        finally:
            self.closed += 1

    async def _read_chunks(self, scripted: Scripted) -> AsyncIterator[bytes]:
        for chunk in scripted.chunks(self.chunk_bytes):
            self.chunks_taken += 1
            yield chunk
