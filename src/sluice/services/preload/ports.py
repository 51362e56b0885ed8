"""What this service alone needs from outside: the edge cache, the visitor's way to the origin, and bodies outside of Python."""

from collections.abc import Callable, Mapping
from typing import Protocol

from sluice.core.ports import Content, HeaderPairs, OriginResponse


class SendToOrigin(Protocol):
    """Sends a visitor's own request, with its method and body, to this URL; `changes` replace headers, None removes one.

    Raises TimedOut when no headers have come in time. Afterwards the body may take as long as it does. One that is
    `is_repeatable` may be sent again when its connection is lost.
    """

    async def __call__(
        self, url: str, changes: Mapping[str, str | None], *, timeout_s: float, is_repeatable: bool = True
    ) -> OriginResponse: ...


class Bodies(Protocol):
    """Operations on bodies that stay outside of Python."""

    def split(self, content: Content) -> tuple[Content, Content]:
        """Return two bodies with the same bytes, for two readers."""

    async def collect(self, content: Content, reserve: Callable[[int], bool]) -> Content | None:
        """Return the whole body as a buffer that can be read often; None when `reserve` refuses to hold so many bytes more."""

    async def cut(self, content: Content, first: int, end: int) -> Content:
        """Return the bytes from `first` up to, but without, `end`."""

    async def digest(self, content: Content) -> str:
        """Return a short text that tells bodies apart."""


class CachedResponse(Protocol):
    """A response as the edge cache stored it."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> HeaderPairs: ...
    @property
    def content(self) -> Content: ...


class Edge(Protocol):
    """The edge cache of one data centre."""

    async def match(self, url: str) -> CachedResponse | None: ...
    async def put(self, url: str, *, status: int, headers: HeaderPairs, content: Content) -> None: ...
    async def delete(self, url: str) -> bool: ...
