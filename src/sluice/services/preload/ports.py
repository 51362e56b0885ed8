"""What only the preload service asks of the outside; the other ports are in `sluice.core.ports`."""

from typing import Protocol

from sluice.core.ports import HeaderPairs


class EdgeResponse(Protocol):
    """A response as the edge cache stored it."""

    @property
    def headers(self) -> HeaderPairs: ...
    @property
    def body(self) -> bytes: ...


class Edge(Protocol):
    """The cache of this data centre only."""

    async def match(self, url: str) -> EdgeResponse | None: ...
    async def put(self, url: str, *, status: int, headers: HeaderPairs, body: bytes) -> None: ...
    async def delete(self, url: str) -> bool: ...
