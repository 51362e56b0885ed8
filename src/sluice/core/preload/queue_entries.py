"""Entries of the queue: their order, and what happens when a queued page is wanted again.

The queue itself is SQL, because a lease must be one atomic statement. A property test runs the SQL and these rules on the
same operations and compares the results.
"""

from dataclasses import dataclass, replace
from typing import Final

from sluice.core.preload.members import AnyTrigger
from sluice.core.preload.priority import MANUAL

MAX_REQUEST_URLS: Final = 100  # that one request may want
READY: Final = 0
WAITING: Final = 1  # for its next attempt, at `due_at`
LEASED: Final = 2  # being fetched; the lease ends at `due_at`
LATE: Final = 3  # ready, but behind all others, because its last request timed out


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPage:
    """One variant of a page that somebody wants warmed."""

    url: str
    priority: float
    trigger: AnyTrigger
    variant: str = ""
    post_id: int | None = None
    hops: int = 0
    first_failed_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """One variant of a page in the queue; there is one entry for each `(url, variant)`."""

    id: int
    url: str
    variant: str
    priority: float
    enqueued_at: float
    trigger: AnyTrigger
    post_id: int | None
    attempt: int
    hops: int
    first_failed_at: float | None
    # How often it was leased. It names a lease: who held an earlier one has nothing to settle any more.
    lease: int = 0
    state: int = READY
    wanted_again: bool = False


def order_key(entry: QueueEntry) -> tuple[float, float, int]:
    """Return the sort key of an entry: the smallest is leased first, the largest is dropped from a full queue.

    Highest priority first, then first come, first served.
    """
    return (-entry.priority, entry.enqueued_at, entry.id)


def merge_request(entry: QueueEntry, wanted: WantedPage) -> QueueEntry:
    """Return the entry after its page is wanted again: its priority rises but never falls, and it keeps its place among equals.

    A leased page is fetched once more, because it may have changed since its fetch began. One that is wanted by hand is
    warmed even in a zone that is switched off.
    """
    return replace(
        entry,
        priority=max(entry.priority, wanted.priority),
        trigger=MANUAL if wanted.trigger == MANUAL else entry.trigger,
        post_id=entry.post_id if wanted.post_id is None else wanted.post_id,
        wanted_again=entry.state == LEASED,
    )
