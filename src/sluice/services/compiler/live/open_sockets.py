"""How many WebSockets each client has open in an isolate: one costs memory, and so does closing many at once."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.errors import TooManyRequests

MAX_OPEN: Final = 30  # of one client
# A socket tells that it is open every 30 s. What the platform has ended does not.
KEPT_S: Final = 90.0


@dataclass(slots=True, eq=False)
class OpenSocket:
    """One open socket, and when it was last known to be."""

    seen_at: float


@dataclass(slots=True)
class OpenSockets:
    """The open sockets of an isolate, by their clients."""

    _open: dict[str, list[OpenSocket]] = field(default_factory=dict)

    def admit(self, client: str, now: float) -> OpenSocket:
        """Count one more socket of the client, or raise TooManyRequests."""
        kept = [socket for socket in self._open.get(client, ()) if abs(now - socket.seen_at) < KEPT_S]
        if len(kept) >= MAX_OPEN:
            raise TooManyRequests(f"{MAX_OPEN} WebSockets of this client are open: close some", retry_after_s=60)
        socket = OpenSocket(now)
        self._open[client] = [*kept, socket]
        return socket

    def release(self, client: str, socket: OpenSocket) -> None:
        """Forget a socket that is closed."""
        kept = [other for other in self._open.get(client, ()) if other is not socket]
        if kept:
            self._open[client] = kept
        else:
            self._open.pop(client, None)


THIS_ISOLATE: Final = OpenSockets()
