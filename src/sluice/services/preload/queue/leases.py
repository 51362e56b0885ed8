"""Leases: which entry is fetched next and by whom, and what becomes of it afterwards."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Scalar, Sql
from sluice.core.preload.entries import LEASED, READY, WAITING, QueueEntry
from sluice.services.preload.queue.batches import Batches, Count
from sluice.services.preload.queue.queue import ORDER, parse_entry

MAX_CRASHES: Final = 5  # a page that takes the whole Worker down this often is given up


@dataclass(frozen=True, slots=True)
class DueTimes:
    """Whether an entry is ready now, when the next retry is due, and when the next lease ends."""

    is_ready: bool
    retry_at: float | None
    lease_ends_at: float | None


@dataclass(frozen=True, slots=True)
class Leases:
    sql: Sql
    batches: Batches

    def lease(self, now: float, lease_s: float) -> QueueEntry | None:
        """Takes the first ready entry; nobody else gets it until the lease ends."""
        rows = self.sql.rows(
            f"""UPDATE entry SET state = {LEASED}, due_at = ? WHERE id = (
                  SELECT id FROM entry WHERE state = {READY} ORDER BY {ORDER} LIMIT 1) RETURNING *""",  # noqa: S608
            now + lease_s,
        )
        return parse_entry(rows[0]) if rows else None

    def load_due_times(self) -> DueTimes:
        [row] = self.sql.rows(
            f"""SELECT EXISTS (SELECT 1 FROM entry WHERE state = {READY}) AS is_ready,
                  (SELECT due_at FROM entry WHERE state = {WAITING} ORDER BY due_at LIMIT 1) AS retry_at,
                  (SELECT due_at FROM entry WHERE state = {LEASED} ORDER BY due_at LIMIT 1) AS lease_ends_at"""  # noqa: S608
        )
        return DueTimes(bool(row["is_ready"]), _time(row["retry_at"]), _time(row["lease_ends_at"]))

    def release_due_retries(self, now: float) -> None:
        """Makes entries ready whose backoff is over."""
        self.sql.run(f"UPDATE entry SET state = {READY} WHERE state = {WAITING} AND due_at <= ?", now)  # noqa: S608

    def reclaim(self, now: float, held: Collection[int] = ()) -> list[QueueEntry]:
        """Makes entries ready whose lease has ended, except those that are still held here.

        Returns those that have crashed the Worker too often.
        """
        rows = self.sql.rows(
            f"""UPDATE entry SET state = {READY}, crashes = crashes + 1
                WHERE state = {LEASED} AND due_at <= ? AND id NOT IN (SELECT value FROM json_each(?))
                RETURNING *""",  # noqa: S608
            *(now, json.dumps(list(held))),
        )
        return [parse_entry(row) for row in rows if int(row["crashes"] or 0) > MAX_CRASHES]

    def shorten_all(self, until: float) -> None:
        """Ends all leases by that time, after a crash of their holder."""
        self.sql.run(f"UPDATE entry SET due_at = min(due_at, ?) WHERE state = {LEASED}", until)  # noqa: S608

    def give_back(self, entry: QueueEntry) -> None:
        """Makes an entry ready again, without counting an attempt."""
        self.sql.run(f"UPDATE entry SET state = {READY} WHERE id = ?", entry.id)  # noqa: S608

    def finish(self, entry: QueueEntry, count: Count, now: float) -> None:
        """Removes an entry and settles it in its batches; one that was wanted again meanwhile is ready again instead."""
        if self.sql.rows("DELETE FROM entry WHERE id = ? AND again = 0 RETURNING id", entry.id):
            self.batches.settle(entry.id, count, now)
            return
        self.sql.run(
            f"""UPDATE entry SET state = {READY}, again = 0, attempt = 0, crashes = 0, enqueued_at = ?
                WHERE id = ?""",  # noqa: S608
            *(now, entry.id),
        )

    def retry(self, entry: QueueEntry, due_at: float, now: float) -> None:
        """Delays an entry after a failed attempt."""
        self.sql.run(
            f"""UPDATE entry SET state = {WAITING}, attempt = attempt + 1, due_at = ?, again = 0,
                 first_failed_at = coalesce(first_failed_at, ?) WHERE id = ?""",  # noqa: S608
            *(due_at, now, entry.id),
        )

    def mark_wanted_again(self, urls: Sequence[str]) -> None:
        """Marks leased pages, so that they are fetched once more: they have changed since their fetch began."""
        self.sql.run(
            f"UPDATE entry SET again = 1 WHERE state = {LEASED} AND url IN (SELECT value FROM json_each(?))",  # noqa: S608
            json.dumps(list(urls)),
        )


def _time(value: Scalar) -> float | None:
    return None if value is None else float(value)
