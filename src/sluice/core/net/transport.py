"""The port of the guarded fetch: one HTTP request over one connection, without redirects."""

from collections.abc import AsyncIterable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from sluice.core.ports import HeaderPairs


@dataclass(frozen=True, slots=True)
class TransportRequest:
    """One HTTP request; `fresh` bypasses every cache on the way."""

    method: str
    url: str
    headers: HeaderPairs
    body: bytes | None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class TransportResponse:
    """The response to one request: header names in lower case, the body decoded and in chunks."""

    status: int
    headers: HeaderPairs
    chunks: AsyncIterable[bytes]

    def header(self, name: str) -> str | None:
        """Return the first value of a header, by its name in lower case."""
        return next((value for key, value in self.headers if key == name), None)


class TransportFailed(Exception):
    """The connection failed before or during the response; the text is the platform's reason."""


class TransportLost(TransportFailed):
    """A reused connection turned out to be closed; the same request may be sent again at once."""


# Sends one request without following redirects; leaving the context discards the unread rest of the body.
Transport = Callable[[TransportRequest], AbstractAsyncContextManager[TransportResponse]]
