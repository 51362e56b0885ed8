"""How many bytes of sources may be in memory at once: as many as one source may have."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from sluice.core.compiler.limits import ListTooLarge

T = TypeVar("T")


class MemoryFull(Exception):
    """Other sources fill the memory for downloads. The source is read again after them."""


@dataclass(slots=True)
class DownloadMemory:
    """Limits the bytes in memory of all sources that are read at the same time."""

    limit: int
    used: int = 0
    _second_tries: asyncio.Lock = field(default_factory=asyncio.Lock)
    _released: asyncio.Event = field(default_factory=asyncio.Event)

    async def read_in_turn(self, read: Callable[["SourceMemory"], Awaitable[T]]) -> T:
        """Return what was read. What found no room is read again, one such source at a time: alone each has enough."""
        with suppress(MemoryFull):
            return await self._read_once(read)
        async with self._second_tries:
            while True:
                with suppress(MemoryFull):
                    return await self._read_once(read)
                if self.used:
                    await self._released.wait()

    async def _read_once(self, read: Callable[["SourceMemory"], Awaitable[T]]) -> T:
        """Hold the room of one source until its files are compressed or given up."""
        room = SourceMemory(self)
        try:
            return await read(room)
        finally:
            room.give_back(room.held)
            self._released.set()
            self._released = asyncio.Event()


@dataclass(slots=True)
class SourceMemory:
    """Counts the bytes that one source holds, with what it includes."""

    shared: DownloadMemory
    held: int = 0

    def take(self, size: int) -> None:
        """Count bytes that the source holds from now on; raise ListTooLarge if it is too large by itself, MemoryFull if it must wait."""
        if self.held + size > self.shared.limit:
            raise ListTooLarge(f"it is larger than {self.shared.limit:,} bytes with what it includes: split it")
        if self.shared.used + size > self.shared.limit:
            raise MemoryFull
        self.held += size
        self.shared.used += size

    def give_back(self, size: int) -> None:
        self.held -= size
        self.shared.used -= size

    def open_body(self) -> "ReceivedBody":
        return ReceivedBody(self)


@dataclass(slots=True)
class ReceivedBody:
    """The body of one response as it arrives; one that fails gives its room back."""

    room: SourceMemory
    _body: bytearray = field(default_factory=bytearray)

    def write(self, chunk: bytes) -> None:
        self.room.take(len(chunk))
        self._body.extend(chunk)

    def take_all(self) -> bytes:
        content = bytes(self._body)
        self._body.clear()
        return content

    def discard(self) -> None:
        self.room.give_back(len(self._body))
        self._body.clear()
