"""Whose turn it is: one run at a time, and never on an old copy of what the last one wrote.

KV alone cannot promise either. It may show a value as it was a minute ago, and a run that trusts it would do the last
run's work again. So before each write the time that stands in the value is announced here, where reads are never
stale; a run that sees less than was announced leaves the work to the next.
"""

from dataclasses import dataclass
from typing import Final, Protocol

# KV speaks of 60 seconds or more. What was announced and is not seen after this long was never written.
SETTLE_MS: Final = 120_000


@dataclass(frozen=True, slots=True)
class Turn:
    """The right to write until the lease ends, and what was last announced."""

    token: str
    announced: int = 0
    announced_at_ms: int = 0

    def is_stale(self, seen: int, now_ms: int) -> bool:
        """Whether a value written at `seen` is older than the one announced, which must then still be on its way."""
        return seen < self.announced and now_ms - self.announced_at_ms < SETTLE_MS


class Turns(Protocol):
    """Where turns are given out."""

    async def take(self, now_ms: int) -> Turn | None:
        """The turn, or None while another run has it."""

    async def announce(self, turn: Turn, version: int, now_ms: int) -> None:
        """Say what is about to be written, and hold the turn longer; Conflict if it was lost meanwhile."""

    async def release(self, turn: Turn) -> None:
        """Give the turn back; one that was lost is no error."""
