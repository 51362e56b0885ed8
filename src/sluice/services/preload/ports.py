"""What the preload service asks of the outside; the platform's adapters fit as they are."""

from collections.abc import Callable
from typing import Any, Protocol

from sluice.core.ports import HeaderPairs


class Edge(Protocol):
    """The cache of this data centre alone."""

    async def match(self, url: str) -> Any: ...
    async def put(self, url: str, *, status: int, headers: HeaderPairs, body: bytes) -> None: ...
    async def delete(self, url: str) -> bool: ...


# Writes one structured line.
Tell = Callable[..., None]
