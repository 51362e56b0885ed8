"""How many bytes of sources may be in memory at once: those of all sources of a list together."""

from dataclasses import dataclass, field

from sluice.core.errors import Oversized


@dataclass(slots=True)
class DownloadRoom:
    """Shared by all downloads of one build; one that fails gives its room back."""

    limit: int
    used: int = 0

    def open(self) -> "ReceivedBody":
        return ReceivedBody(self)

    def take(self, size: int) -> None:
        if self.used + size > self.limit:
            raise Oversized(f"all sources together are larger than {self.limit:,} bytes: split the list")
        self.used += size


@dataclass(slots=True)
class ReceivedBody:
    """The body of one response as it arrives."""

    room: DownloadRoom
    _body: bytearray = field(default_factory=bytearray)

    def write(self, chunk: bytes) -> None:
        self.room.take(len(chunk))
        self._body.extend(chunk)

    def take_all(self) -> bytes:
        content = bytes(self._body)
        self._body.clear()
        return content

    def discard(self) -> None:
        self.room.used -= len(self._body)
        self._body.clear()
