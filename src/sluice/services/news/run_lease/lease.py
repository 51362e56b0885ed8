"""The run lease: one run at a time, and never on a stale copy of what the last run wrote.

KV alone guarantees neither. It may return a value that is a minute old, and a run that trusts it would repeat the work of
the last run. So a run announces the version of a value here before it writes it, where reads are never stale. A run that
reads an older version than the announced one leaves the work to the next run.
"""

from dataclasses import dataclass
from typing import Final, Protocol

# KV documents a delay of 60 seconds or more. A version that is not visible after this time was never written.
SETTLE_MS: Final = 120_000


@dataclass(frozen=True, slots=True)
class RunLease:
    """The right to write until the lease expires, and the last announced version."""

    token: str
    announced: int = 0
    announced_at_ms: int = 0

    def is_stale(self, version: int, now_ms: int) -> bool:
        """Whether a version that was read is older than the announced one, which must then still be on its way."""
        return version < self.announced and now_ms - self.announced_at_ms < SETTLE_MS


class RunLeases(Protocol):
    """Grants run leases."""

    async def acquire(self, now_ms: int) -> RunLease | None:
        """Returns the lease, or None while another run holds it."""

    async def announce(self, lease: RunLease, version: int, now_ms: int) -> None:
        """Announces the version that is about to be written and renews the lease. Raises Conflict if it was lost."""

    async def release(self, lease: RunLease) -> None:
        """Releases the lease; one that was lost is no error."""
