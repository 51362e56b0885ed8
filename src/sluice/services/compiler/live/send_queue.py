"""The outgoing messages of a WebSocket, in order and bounded."""

import asyncio
from dataclasses import dataclass, field
from typing import Final, Protocol

MAX_WAITING: Final = 1024  # a guess, several times what three compilations report at once


class TextSender(Protocol):
    async def send_text(self, text: str) -> None: ...


@dataclass(slots=True)
class SendQueue:
    socket: TextSender
    _waiting: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    _has_room: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, text: str) -> None:
        """Add a message that must be sent. Handlers of client messages wait for room first."""
        self._waiting.put_nowait(text)

    def offer(self, text: str) -> bool:
        """Add a message that may be dropped; False if there was no room."""
        if self._waiting.qsize() >= MAX_WAITING:
            return False
        self.put(text)
        return True

    async def wait_for_room(self) -> None:
        while self._waiting.qsize() >= MAX_WAITING:
            self._has_room.clear()
            await self._has_room.wait()

    async def send(self) -> None:
        """Send messages until it is cancelled."""
        while True:
            await self.socket.send_text(await self._waiting.get())
            self._has_room.set()
