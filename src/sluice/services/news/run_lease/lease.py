"""The run lease: one run at a time, and never on a stale copy of what the last run wrote.

KV alone guarantees neither. It may return a value that is a minute old, and a run that trusts it would repeat the work of
the last run. So a run announces each value before it writes it, where reads are never stale. A run that reads an older
version than the announced one continues with the announced value, which a crash may even have kept from being written.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, Protocol

from sluice.core.waits import is_waiting

# KV documents a delay of 60 seconds or more. For this time after its first write a key may still look missing.
SETTLE_MS: Final = 120_000


class CurrentValue(Enum):
    """The value of a key that counts: what KV returned, or what the last run announced."""

    KV = auto()
    ANNOUNCED = auto()


@dataclass(frozen=True, slots=True)
class LastAnnouncement:
    """The last announcement of a key. `was_present`: the run that made it had read the key from KV."""

    version: int
    first_at_ms: int
    was_present: bool

    def judge_read(self, version: int | None, now_ms: int) -> CurrentValue:
        """Judge what KV returned: None for a missing key, 0 for a value without a version.

        Only a person writes without a version, as the documented commands do, so that such a value counts at once. A
        missing key was deleted, unless it was written for the first time just now.
        """
        if version is None:
            is_new = not self.was_present and is_waiting(self.first_at_ms + SETTLE_MS, now_ms, SETTLE_MS)
            return CurrentValue.ANNOUNCED if is_new else CurrentValue.KV
        return CurrentValue.KV if version == 0 or version >= self.version else CurrentValue.ANNOUNCED


@dataclass(frozen=True, slots=True)
class LeaseGrant:
    """The answer to a run that asks for the lease: what was last announced, or how long the lease of another run lasts."""

    is_granted: bool
    wait_ms: int = 0
    announced: dict[str, LastAnnouncement] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunLease:
    """The right to write until the lease expires, and what was last announced for each key."""

    token: str
    announced: dict[str, LastAnnouncement] = field(default_factory=dict)

    def judge_read(self, key: str, version: int | None, now_ms: int) -> CurrentValue:
        last = self.announced.get(key)
        return last.judge_read(version, now_ms) if last else CurrentValue.KV

    def next_version(self, key: str, now_ms: int) -> int:
        """Return the version of the next write: the time, but always later than what was announced."""
        last = self.announced.get(key)
        return max(now_ms, last.version + 1 if last else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Announcement:
    """A value that is about to be written; `was_present`: this run has read the key from KV."""

    key: str
    version: int
    value: str
    was_present: bool


class RunLeases(Protocol):
    """Grants run leases."""

    async def acquire(self) -> RunLease | None:
        """Return the lease, or None while another run holds it."""

    async def renew(self, lease: RunLease) -> None:
        """Extend the lease while work goes on. Raise Conflict if it was lost."""

    async def announce(self, lease: RunLease, *announcements: Announcement) -> None:
        """Announce values and renew the lease. Raise Conflict if it was lost."""

    async def load_announced(self, key: str) -> str | None:
        """Return the announced value of a key; None if it was too large to keep."""

    async def release(self, lease: RunLease) -> None:
        """Release the lease; one that was lost is no error."""
