"""The edge cache with a short memory before it: a page that one isolate serves again and again is not read each time.

Two seconds are as long as a purge may take, so nothing gets older by it, and each copy is compared with the list of
purges as always. A page is kept only when it is asked for a second time, and only a small one.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from sluice.core.ports import Clock, Content, HeaderPairs
from sluice.core.waits import is_waiting
from sluice.services.preload.ports import Bodies, CachedResponse, Edge

# A purge holds after two seconds, and so does what another isolate of the data centre has stored.
REMEMBERED_S: Final = 2.0
MAX_BODY_BYTES: Final = 64 * 1024
MAX_PAGES: Final = 64  # then all are forgotten


@dataclass(frozen=True, slots=True)
class HotResponse:
    """A response whose body can be sent often."""

    status: int
    headers: HeaderPairs
    content: Content


@dataclass(slots=True)
class HotPages:
    """What one isolate remembers by URL, each until a time; None stands for a page that was asked for once."""

    pages: dict[str, tuple[float, HotResponse | None]] = field(default_factory=dict)

    def remember(self, url: str, until: float, response: HotResponse | None) -> None:
        if len(self.pages) >= MAX_PAGES:
            self.pages.clear()
        self.pages[url] = (until, response)


@dataclass(frozen=True, slots=True)
class HotEdge:
    """Remembers a small page when it is asked for a second time within two seconds."""

    edge: Edge
    bodies: Bodies
    clock: Clock
    memory: HotPages

    async def match(self, url: str) -> CachedResponse | None:
        now = self.clock.now()
        until, remembered = self.memory.pages.get(url, (0.0, None))
        is_remembered = is_waiting(until, now, REMEMBERED_S)
        if is_remembered and remembered:
            return remembered
        found = await self.edge.match(url)
        if found is None or not 0 < (found.content.size or 0) <= MAX_BODY_BYTES:
            return found
        response = HotResponse(found.status, found.headers, found.content)
        if is_remembered:
            response = await self._buffer_body(response)
            self.memory.remember(url, now + REMEMBERED_S, response)
        else:
            self.memory.remember(url, now + REMEMBERED_S, None)
        return response

    async def _buffer_body(self, response: HotResponse) -> HotResponse:
        content = await self.bodies.collect(response.content, lambda _bytes: True)
        return replace(response, content=content or response.content)

    async def put(self, url: str, *, status: int, headers: HeaderPairs, content: Content) -> None:
        self.memory.pages.pop(url, None)
        await self.edge.put(url, status=status, headers=headers, content=content)

    async def delete(self, url: str) -> bool:
        self.memory.pages.pop(url, None)
        return await self.edge.delete(url)
