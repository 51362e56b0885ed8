"""The queue of pages to warm: highest priority first, then first come; every operation takes O(log n)."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from sluice.core.ports import Row, Sql
from sluice.services.preload.queue.batches import Batches, Count
from sluice.services.preload.zone.schema import LEASED, READY, WAITING

MAX_CRASHES: Final = 5  # a page that takes the whole Worker down so often is given up
CHUNK: Final = 500  # pages inserted by one statement: the JSON of the longest URLs stays within a row's 2 MB


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A page that somebody wants warmed."""

    url: str
    priority: float
    trigger: str
    variant: str = ""
    post_id: int | None = None
    hops: int = 0
    first_failed_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page in the queue."""

    id: int
    url: str
    variant: str
    priority: float
    enqueued_at: float
    trigger: str
    post_id: int | None
    attempt: int
    hops: int
    first_failed_at: float | None

    @classmethod
    def of(cls, row: Row) -> Self:
        fields: dict[str, Any] = {name: row[name] for name in cls.__slots__ if name != "trigger"}
        return cls(**fields, trigger=str(row["trigger_name"]))


@dataclass(frozen=True, slots=True)
class Enqueued:
    """What became of pages that were wanted: how many wait for the batch, and which ones had no room."""

    queued: int
    dropped: list[str]


class Queue:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._batches = Batches(sql)

    @property
    def depth(self) -> int:
        return int(self._sql.value("SELECT n FROM tally WHERE name = 'depth'") or 0)

    def enqueue(self, wanted: Sequence[Wanted], batch_id: str, *, now: float, max_depth: int) -> Enqueued:
        """Add pages to the queue and to a batch; one that is there already keeps its place or moves up."""
        joined = sum(self._insert(wanted[at : at + CHUNK], batch_id, now) for at in range(0, len(wanted), CHUNK))
        self._batches.joined(batch_id, joined)
        dropped, own = self._drop_lowest(self.depth - max_depth, batch_id, now)
        if joined <= own:
            self._batches.close_if_over(batch_id, now)
        return Enqueued(max(0, joined - own), dropped)

    def lease(self, now: float, lease_s: float) -> Entry | None:
        """The next page, reserved until the lease ends."""
        found = self._sql.rows(
            """UPDATE entry SET state = ?, due_at = ? WHERE id = (
                 SELECT id FROM entry WHERE state = ? ORDER BY priority DESC, enqueued_at, id LIMIT 1) RETURNING *""",
            *(LEASED, now + lease_s, READY),
        )
        return Entry.of(found[0]) if found else None

    def wake(self, now: float) -> None:
        """Make ready whose waiting time is over."""
        self._sql.rows(f"UPDATE entry SET state = {READY} WHERE state = {WAITING} AND due_at <= ?", now)  # noqa: S608

    def reclaim(self, now: float, held: Collection[int] = ()) -> list[Entry]:
        """Take back pages whose lease ran out, but for those that somebody still holds; returns the hopeless ones."""
        found = self._sql.rows(
            f"""UPDATE entry SET state = {READY}, crashes = crashes + 1
                WHERE state = {LEASED} AND due_at <= ? AND id NOT IN (SELECT value FROM json_each(?))
                RETURNING *""",  # noqa: S608
            *(now, json.dumps(list(held))),
        )
        return [Entry.of(row) for row in found if int(row["crashes"] or 0) > MAX_CRASHES]

    def shorten_leases(self, until: float) -> None:
        """End all leases by then: whoever held them is dead."""
        self._sql.rows(f"UPDATE entry SET due_at = min(due_at, ?) WHERE state = {LEASED}", until)  # noqa: S608

    def unlease(self, entry: Entry) -> None:
        """Give a page back unfetched."""
        self._sql.execute("UPDATE entry SET state = ? WHERE id = ?", READY, entry.id)

    def finish(self, entry: Entry, count: Count, now: float) -> bool:
        """Settle a page; True when it was wanted again meanwhile and therefore stays."""
        if self._sql.rows("DELETE FROM entry WHERE id = ? AND again = 0 RETURNING id", entry.id):
            self._batches.settle(entry.id, count, now)
            return False
        self._sql.rows(
            "UPDATE entry SET state = ?, again = 0, attempt = 0, crashes = 0, enqueued_at = ? WHERE id = ?",
            *(READY, now, entry.id),
        )
        return True

    def retry(self, entry: Entry, due_at: float, now: float) -> None:
        """Put a page off after a failed attempt."""
        self._sql.execute(
            """UPDATE entry SET state = ?, attempt = attempt + 1, due_at = ?, again = 0,
                 first_failed_at = coalesce(first_failed_at, ?) WHERE id = ?""",
            *(WAITING, due_at, now, entry.id),
        )

    def fetch_again(self, urls: Sequence[str]) -> None:
        """Have pages that are being fetched right now fetched once more, since they changed meanwhile."""
        self._sql.execute(
            f"UPDATE entry SET again = 1 WHERE state = {LEASED} AND url IN (SELECT value FROM json_each(?))",  # noqa: S608
            json.dumps(list(urls)),
        )

    def next_due_at(self) -> float | None:
        """When something will be ready; 0 when something is now, None when nothing is waiting at all."""
        if self._sql.value("SELECT 1 FROM entry WHERE state = ? LIMIT 1", READY):
            return 0.0
        return self._first_due(WAITING)

    def lease_ends_at(self) -> float | None:
        """When the first lease ends."""
        return self._first_due(LEASED)

    def in_order(self, limit: int) -> list[Entry]:
        """All entries, as the queue would give them out."""
        return [
            Entry.of(row)
            for row in self._sql.rows("SELECT * FROM entry ORDER BY priority DESC, enqueued_at, id LIMIT ?", limit)
        ]

    def _first_due(self, state: int) -> float | None:
        found = self._sql.value(f"SELECT due_at FROM entry WHERE state = {state} ORDER BY due_at LIMIT 1")  # noqa: S608
        return None if found is None else float(found)

    def _insert(self, wanted: Sequence[Wanted], batch_id: str, now: float) -> int:
        """How many of the pages are new to the batch."""
        given = json.dumps(
            [[w.url, w.variant, w.priority, w.trigger, w.post_id, w.hops, w.first_failed_at] for w in wanted]
        )
        self._sql.rows(
            """INSERT INTO entry (url, variant, priority, trigger_name, post_id, hops, first_failed_at, enqueued_at)
               SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, ?
               FROM json_each(?) WHERE true
               ON CONFLICT (url, variant) DO UPDATE SET
                 priority = max(priority, excluded.priority), post_id = coalesce(excluded.post_id, post_id),
                 again = CASE WHEN state = 2 THEN 1 ELSE 0 END""",
            *(now, given),
        )
        return self._sql.execute(
            """INSERT OR IGNORE INTO membership (entry_id, batch_id)
               SELECT entry.id, ? FROM json_each(?) AS given
               JOIN entry ON entry.url = given.value ->> 0 AND entry.variant = given.value ->> 1""",
            *(batch_id, given),
        )

    def _drop_lowest(self, count: int, batch_id: str, now: float) -> tuple[list[str], int]:
        """Make room: the lowest priority goes, the last to come first; also how many of them were of the batch."""
        if count <= 0:
            return [], 0
        lowest = """SELECT * FROM (SELECT id, url, priority, enqueued_at FROM entry WHERE state = {}
                    ORDER BY priority, enqueued_at DESC, id DESC LIMIT ?)"""
        found = self._sql.rows(
            f"""{lowest.format(READY)} UNION ALL {lowest.format(WAITING)}
                ORDER BY priority, enqueued_at DESC, id DESC LIMIT ?""",
            *(count, count, count),
        )
        own = 0
        for row in found:
            own += bool(
                self._sql.value("SELECT 1 FROM membership WHERE entry_id = ? AND batch_id = ?", row["id"], batch_id)
            )
            self._batches.settle(int(row["id"] or 0), "dropped", now)
            self._sql.rows("DELETE FROM entry WHERE id = ?", row["id"])
        return [str(row["url"]) for row in found], own


def mirrored(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Entries in the documented shape."""
    return [
        {
            "url": entry.url,
            "priority": entry.priority,
            "enqueued_at": int(entry.enqueued_at),
            "trigger": entry.trigger,
            "post_id": entry.post_id,
            "attempt": entry.attempt,
            **({"variant": entry.variant} if entry.variant else {}),
        }
        for entry in entries
    ]
