"""Turns: how many compilations an isolate runs at once, so that together they fit into its memory.

Small lists run beside each other. A compilation that has read more than a little is large, and only one of these runs at a
time. Waiting is done by polling: the platform does not let one request resume another. A holder that the platform has ended
never gives its turn back, so turns end by themselves.

Places are for clients: none holds all of them, and who holds fewer is served first, then who came first. Holders that wait for
slow sources give way, at once as many as others wait for.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeVar

from sluice.core.errors import Unavailable
from sluice.core.ports import Clock
from sluice.core.waits import clamp_wait

T = TypeVar("T")

SMALL_BYTES: Final = 256 * 1024
MAX_SMALL_BYTES: Final = 6 * SMALL_BYTES  # of all small lists together
MAX_AT_ONCE: Final = 30
MAX_OF_CLIENT: Final = 20  # of these
TURN_S: Final = 300.0
MAX_DOWNLOAD_S: Final = 240.0  # less than a turn, so that no compilation outlives its turn
PREEMPT_AFTER_S: Final = 10.0
PATIENCE_S: Final = 120.0
_POLL_S: Final = 0.05
_WATCH_S: Final = 1.0
_STILL_WAITING_S: Final = 5.0  # since a waiting request was last heard of: the platform may have ended it
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
    client: str
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
        await self.turns.wait_for_large(self)

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
        now = self.clock.now()
        self.began_at = clamp_wait(self.began_at, now, 0)
        held_s = now - self.began_at
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


@dataclass(slots=True, eq=False)
class Waiting:
    """One that waits in a line, and when it was last heard of."""

    client: str
    seen_at: float


@dataclass(slots=True)
class CompilationTurns:
    """Limits how many compilations run at once; there is one for all requests and objects of an isolate."""

    _running: list[Turn] = field(default_factory=list)
    _large: Turn | None = None
    # Those who wait for a place, and those who wait to be the large one, each in the order in which they came.
    _line: list[Waiting] = field(default_factory=list)
    _large_line: list[Waiting] = field(default_factory=list)

    @asynccontextmanager
    async def take(self, clock: Clock, client: str = "") -> AsyncIterator[Turn]:
        """Wait for a free place, and hold it while the block runs; all that nobody waits for is one client."""
        await self._wait(self._line, client, clock, self._may_enter)
        turn = Turn(self, clock, client, clock.now())
        self._running.append(turn)
        try:
            yield turn
        finally:
            self._release(turn)

    async def wait_for_large(self, turn: Turn) -> None:
        """Return when the turn is the large one."""

        def take(waiting: Waiting) -> bool:
            return self._rank(self._large_line, turn.clock.now())[:1] == [waiting] and self._take_large(turn)

        await self._wait(self._large_line, turn.client, turn.clock, take)

    def needs_large(self, turn: Turn) -> bool:
        """Return whether the turn is no small one any more, or there is no room for another small one."""
        small_bytes = sum(other.bytes_read for other in self._running if other is not self._large)
        return turn is self._large or turn.bytes_read > SMALL_BYTES or small_bytes > MAX_SMALL_BYTES

    def take_large(self, turn: Turn) -> bool:
        """Return whether the turn is now the large one, without waiting: those who wait come first."""
        if turn is self._large or not self._rank(self._large_line, turn.clock.now()):
            return self._take_large(turn)
        return False

    def blocks_others(self, turn: Turn) -> bool:
        """Return whether somebody waits for what this turn, which has lasted long enough, holds."""
        now = turn.clock.now()
        if turn is self._large and self._rank(self._large_line, now):
            return True
        return turn in self._choose_to_end(now)

    def _choose_to_end(self, now: float) -> list[Turn]:
        """Return the turns that give way: of clients with the most places, and the oldest, as many as wait."""
        held = self._count_held()
        over = [turn for turn in self._running if now - turn.began_at > PREEMPT_AFTER_S]
        over.sort(key=lambda turn: -held[turn.client])  # stable: the oldest first
        waiting = self._rank(self._line, now)
        # Whose client has its share waits for a place of the same client.
        at_limit = Counter(one.client for one in waiting if held[one.client] >= MAX_OF_CLIENT)
        wanted = len(waiting) - at_limit.total() - (MAX_AT_ONCE - len(self._running))
        chosen = over[: max(0, wanted)]
        for client, number in at_limit.items():
            chosen += [turn for turn in over if turn.client == client and turn not in chosen][:number]
        return chosen

    async def _wait(self, line: list[Waiting], client: str, clock: Clock, is_served: Callable[[Waiting], bool]) -> None:
        """Stand in line until one is served; what follows happens before anybody else looks."""
        waiting = Waiting(client, clock.now())
        line.append(waiting)
        end = clock.now() + PATIENCE_S
        try:
            while not is_served(waiting):
                end = clamp_wait(end, clock.now(), PATIENCE_S)
                if clock.now() > end:
                    raise Unavailable(_BUSY)
                await clock.sleep(_POLL_S)
                waiting.seen_at = clock.now()
        finally:
            line.remove(waiting)

    def _may_enter(self, waiting: Waiting) -> bool:
        now = waiting.seen_at
        self._running = [turn for turn in self._running if not _is_over(turn, now)]
        held = self._count_held()
        below_limit = [one for one in self._rank(self._line, now) if held[one.client] < MAX_OF_CLIENT]
        return waiting in below_limit[: MAX_AT_ONCE - len(self._running)]

    def _rank(self, line: list[Waiting], now: float) -> list[Waiting]:
        """Return those who still wait: who holds the fewest places first, then who came first."""
        held = self._count_held()
        still_there = [waiting for waiting in line if abs(now - waiting.seen_at) < _STILL_WAITING_S]
        return sorted(still_there, key=lambda waiting: held[waiting.client])

    def _count_held(self) -> Counter[str]:
        return Counter(turn.client for turn in self._running)

    def _take_large(self, turn: Turn) -> bool:
        holder = self._large
        if holder is None or _is_over(holder, turn.clock.now()):
            self._large = turn
        return self._large is turn

    def _release(self, turn: Turn) -> None:
        self._running = [other for other in self._running if other is not turn]
        if self._large is turn:
            self._large = None


def _is_over(turn: Turn, now: float) -> bool:
    """Return whether so many seconds have passed; a clock that was set back counts as well."""
    return not turn.began_at <= now < turn.began_at + TURN_S
