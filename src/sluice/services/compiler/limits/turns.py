"""Turns: how many compilations an isolate runs at once, so that together they fit into its memory.

Small lists run beside each other. A compilation that has read more than a little is large, and only one of these runs at a
time. Waiting is done by polling: the platform does not let one request resume another. A holder that the platform has ended
never gives its turn back, so turns end by themselves. A holder that waits for slow sources gives way to others.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from sluice.core.errors import Unavailable
from sluice.core.ports import Clock

T = TypeVar("T")

SMALL_BYTES: Final = 256 * 1024
MAX_SMALL_BYTES: Final = 6 * SMALL_BYTES  # of all small lists together
MAX_AT_ONCE: Final = 30
TURN_S: Final = 300.0
MAX_DOWNLOAD_S: Final = 240.0  # less than a turn, so that no compilation outlives its turn
PREEMPT_AFTER_S: Final = 10.0
PATIENCE_S: Final = 120.0
_POLL_S: Final = 0.05
_WATCH_S: Final = 1.0
_STILL_WAITING_S: Final = 2.0
_BUSY: Final = "this Worker is busy with other large lists: try again in a minute"


class NeedsTurn(Exception):
    """A download has become large while another large compilation runs."""


class TooSlow(Unavailable):
    """The sources of a list keep others waiting. The same compilation does not try again, a later one may."""

    retryable = False


@dataclass(slots=True, eq=False)
class Turn:
    """One running compilation; `count` raises NeedsTurn, and the download is repeated after `wait`."""

    turns: "CompilationTurns"
    clock: Clock
    began_at: float
    bytes_read: int = 0

    def count(self, size: int) -> None:
        """Count bytes that are in memory from now on."""
        self.bytes_read += size
        if self.turns.needs_large(self) and not self.turns.take_large(self):
            self.bytes_read -= size
            raise NeedsTurn

    async def wait(self) -> None:
        """Return when this is the large compilation."""
        end = self.clock.now() + PATIENCE_S
        while not self.turns.take_large(self):
            if self.clock.now() > end:
                raise Unavailable(_BUSY)
            await self.turns.wait_a_little(self.clock)

    async def watch(self, download: Awaitable[T]) -> T:
        """Return what the download returns; raise TooSlow as soon as it keeps others waiting, or takes minutes."""
        reason = ""
        try:
            async with asyncio.timeout(None) as deadline:
                watchdog = _Watchdog(self, deadline)
                try:
                    return await download
                finally:
                    reason = watchdog.stop()
        except TimeoutError:
            raise TooSlow(reason) from None

    def abort_reason(self) -> str:
        """Return why the sources have had enough time; "" if they may have more."""
        held_s = self.clock.now() - self.began_at
        if held_s > MAX_DOWNLOAD_S:
            return f"the sources took more than {MAX_DOWNLOAD_S:g} s: check them, or split the list"
        if held_s > PREEMPT_AFTER_S and self.turns.blocks_others(self):
            return "the sources are slow, and other lists wait: try again in a minute"
        return ""


class _Watchdog:
    """Ends a deadline as soon as its turn has lasted long enough; no task, which would keep its result alive for longer."""

    def __init__(self, turn: Turn, deadline: asyncio.Timeout) -> None:
        self._turn = turn
        self._deadline = deadline
        self._loop = asyncio.get_running_loop()
        self._reason = ""
        self._timer = self._loop.call_later(_WATCH_S, self._look)

    def stop(self) -> str:
        """Return why the deadline was ended, if it was."""
        self._timer.cancel()
        return self._reason

    def _look(self) -> None:
        self._reason = self._turn.abort_reason()
        if self._reason:
            self._deadline.reschedule(self._loop.time())
        else:
            self._timer = self._loop.call_later(_WATCH_S, self._look)


@dataclass(slots=True)
class CompilationTurns:
    """Limits how many compilations run at once; there is one for all requests and objects of an isolate."""

    _running: list[Turn] = field(default_factory=list)
    _large: Turn | None = None
    _waited_at: float | None = None  # when somebody was last seen waiting

    @asynccontextmanager
    async def take(self, clock: Clock) -> AsyncIterator[Turn]:
        """Wait for a free place, and hold it while the block runs."""
        end = clock.now() + PATIENCE_S
        while not self._has_place(clock.now()):
            if clock.now() > end:
                raise Unavailable(_BUSY)
            await self.wait_a_little(clock)
        turn = Turn(self, clock, clock.now())
        self._running.append(turn)
        try:
            yield turn
        finally:
            self._release(turn)

    async def wait_a_little(self, clock: Clock) -> None:
        self.note_waiting(clock)
        await clock.sleep(_POLL_S)

    def note_waiting(self, clock: Clock) -> None:
        """Note that somebody waits now."""
        self._waited_at = clock.now()

    def needs_large(self, turn: Turn) -> bool:
        """Return whether the turn is no small one any more, or there is no room for another small one."""
        small_bytes = sum(other.bytes_read for other in self._running if other is not self._large)
        return turn is self._large or turn.bytes_read > SMALL_BYTES or small_bytes > MAX_SMALL_BYTES

    def take_large(self, turn: Turn) -> bool:
        """Return whether the turn is now the large one."""
        holder = self._large
        if holder is None or _is_over(holder, turn.clock.now()):
            self._large = turn
        return self._large is turn

    def blocks_others(self, turn: Turn) -> bool:
        """Return whether somebody waits for what this turn holds: the place of the large one, or the oldest place of all."""
        is_blocking = turn is self._large or (self._running[:1] == [turn] and len(self._running) >= MAX_AT_ONCE)
        return is_blocking and self._waited_at is not None and turn.clock.now() - self._waited_at < _STILL_WAITING_S

    def _has_place(self, now: float) -> bool:
        self._running = [turn for turn in self._running if not _is_over(turn, now)]
        return len(self._running) < MAX_AT_ONCE

    def _release(self, turn: Turn) -> None:
        self._running = [other for other in self._running if other is not turn]
        if self._large is turn:
            self._large = None


def _is_over(turn: Turn, now: float) -> bool:
    """Return whether so many seconds have passed; a clock that was set back counts as well."""
    return not turn.began_at <= now < turn.began_at + TURN_S
