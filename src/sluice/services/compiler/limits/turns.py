"""Turns: how many compilations an isolate runs at once, so that together they fit into its memory.

Small lists run beside each other. A compilation that has read more than a little is large, and only one of these runs at a
time. Waiting is done by polling: the platform does not let one request resume another. A holder that the platform has ended
never gives its turn back, so turns end by themselves.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from sluice.core.errors import Unavailable
from sluice.core.ports import Clock

SMALL_BYTES: Final = 256 * 1024
MAX_AT_ONCE: Final = 6
TURN_S: Final = 300.0
PATIENCE_S: Final = 120.0
_POLL_S: Final = 0.05
_BUSY: Final = "this Worker is busy with other large lists: try again in a minute"


class NeedsTurn(Exception):
    """A download has become large while another large compilation runs."""


@dataclass(slots=True, eq=False)
class Turn:
    """One running compilation; `count` raises NeedsTurn, and the download is repeated after `wait`."""

    turns: "CompilationTurns"
    clock: Clock
    began_at: float
    bytes_read: int = 0

    def count(self, size: int) -> None:
        """Counts bytes that are in memory from now on."""
        self.bytes_read += size
        if self.bytes_read > SMALL_BYTES and not self.turns.take_large(self):
            self.bytes_read -= size
            raise NeedsTurn

    async def wait(self) -> None:
        """Returns when this is the large compilation."""
        end = self.clock.now() + PATIENCE_S
        while not self.turns.take_large(self):
            if self.clock.now() > end:
                raise Unavailable(_BUSY)
            await self.clock.sleep(_POLL_S)


@dataclass(slots=True)
class CompilationTurns:
    """One for all requests and objects of an isolate."""

    _running: list[Turn] = field(default_factory=list)
    _large: Turn | None = None

    @asynccontextmanager
    async def take(self, clock: Clock) -> AsyncIterator[Turn]:
        """Waits for a free place and holds it while the block runs."""
        end = clock.now() + PATIENCE_S
        while not self._has_place(clock.now()):
            if clock.now() > end:
                raise Unavailable(_BUSY)
            await clock.sleep(_POLL_S)
        turn = Turn(self, clock, clock.now())
        self._running.append(turn)
        try:
            yield turn
        finally:
            self._release(turn)

    def take_large(self, turn: Turn) -> bool:
        """Whether the turn is now the large one."""
        holder = self._large
        if holder is None or _is_over(holder, turn.clock.now()):
            self._large = turn
        return self._large is turn

    def _has_place(self, now: float) -> bool:
        self._running = [turn for turn in self._running if not _is_over(turn, now)]
        return len(self._running) < MAX_AT_ONCE

    def _release(self, turn: Turn) -> None:
        self._running = [other for other in self._running if other is not turn]
        if self._large is turn:
            self._large = None


def _is_over(turn: Turn, now: float) -> bool:
    """A clock that was set back also ends a turn."""
    return not turn.began_at <= now < turn.began_at + TURN_S
