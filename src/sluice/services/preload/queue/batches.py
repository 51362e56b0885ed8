"""The progress of pages that were wanted together: each page is in exactly one count."""

from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any, Final, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import NotFound
from sluice.core.ports import Row, Sql
from sluice.core.preload.members import Amount, AnyTrigger, EpochS
from sluice.core.preload.queue_entries import LEASED

KEPT_S: Final = 7 * 86_400

Count = Literal["done", "failed", "gone", "skipped", "dropped", "cancelled"]
COUNTS: Final[tuple[Count, ...]] = ("done", "failed", "gone", "skipped", "dropped", "cancelled")


class Batch(TypedDict):
    """The progress of a batch: queued and the six results add up to the total."""

    preload_batch_id: str
    trigger: AnyTrigger
    state: Literal["running", "crawling", "finished"]
    total: Amount
    queued: Amount
    done: Amount
    failed: Amount
    gone: Amount
    skipped: Amount
    dropped: Amount
    cancelled: Amount
    created_at: EpochS
    finished_at: EpochS | None
    eta_s: Annotated[int | None, Doc("Seconds until the whole queue is drained; null while it is not drained.")]


@dataclass(frozen=True, slots=True)
class Batches:
    sql: Sql

    def open(self, batch_id: str, trigger: str, now: float) -> None:
        self.sql.run(
            "INSERT OR IGNORE INTO batch (id, trigger_name, created_at) VALUES (?, ?, ?)", batch_id, trigger, now
        )

    def add_queued(self, batch_id: str, count: int) -> None:
        """Count pages that wait in the queue."""
        self.sql.run("UPDATE batch SET total = total + ?, queued = queued + ? WHERE id = ?", count, count, batch_id)

    def add_settled(self, batch_id: str, count: Count, n: int) -> None:
        """Count pages that never entered the queue."""
        self.sql.run(f"UPDATE batch SET total = total + ?, {count} = {count} + ? WHERE id = ?", n, n, batch_id)  # noqa: S608

    def settle(self, entry_id: int, count: Count, now: float) -> None:
        """Move a page, in all of its batches, from `queued` to the count of its end."""
        self.sql.run(
            f"""UPDATE batch SET queued = queued - 1, {count} = {count} + 1,
                  finished_at = CASE WHEN queued = 1 AND crawling = 0 THEN ? ELSE finished_at END
                WHERE id IN (SELECT batch_id FROM membership WHERE entry_id = ?)""",  # noqa: S608
            *(now, entry_id),
        )
        self.sql.run("DELETE FROM membership WHERE entry_id = ?", entry_id)

    def settle_dropped(self, entry_ids: str, batch_id: str, now: float) -> int:
        """Move pages, given as a JSON list of ids, from `queued` to `dropped`; return how many were of this batch."""
        of_batch = self.sql.value(
            "SELECT count(*) FROM membership WHERE batch_id = ? AND entry_id IN (SELECT value FROM json_each(?))",
            *(batch_id, entry_ids),
        )
        self.sql.run(
            """UPDATE batch SET queued = queued - lost.n, dropped = dropped + lost.n,
                 finished_at = CASE WHEN queued = lost.n AND crawling = 0 THEN ? ELSE finished_at END
               FROM (SELECT batch_id, count(*) AS n FROM membership
                     WHERE entry_id IN (SELECT value FROM json_each(?)) GROUP BY batch_id) AS lost
               WHERE batch.id = lost.batch_id""",
            *(now, entry_ids),
        )
        self.sql.run("DELETE FROM membership WHERE entry_id IN (SELECT value FROM json_each(?))", entry_ids)
        return int(of_batch or 0)

    def list_ids(self, entry_id: int) -> list[str]:
        """Return the batches that want an entry."""
        rows = self.sql.rows("SELECT batch_id FROM membership WHERE entry_id = ?", entry_id)
        return [str(row["batch_id"]) for row in rows]

    def begin_crawl(self, batch_id: str) -> None:
        """Note that a crawl may still find pages for a batch, so that it does not finish before."""
        self.sql.run("UPDATE batch SET crawling = 1 WHERE id = ?", batch_id)

    def end_crawl(self, batch_id: str, now: float) -> None:
        self.sql.run("UPDATE batch SET crawling = 0 WHERE id = ?", batch_id)
        self.close_if_over(batch_id, now)

    def close_if_over(self, batch_id: str, now: float) -> None:
        self.sql.run(
            "UPDATE batch SET finished_at = ? WHERE id = ? AND queued = 0 AND crawling = 0 AND finished_at IS NULL",
            now,
            batch_id,
        )

    def cancel(self, batch_id: str, now: float) -> None:
        """Remove the entries that only this batch wants; leased pages are finished."""
        self.load(batch_id)
        self.sql.run(
            f"""DELETE FROM entry WHERE state != {LEASED}
                 AND id IN (SELECT entry_id FROM membership WHERE batch_id = ?)
                 AND id NOT IN (SELECT m.entry_id FROM membership m JOIN membership mine ON mine.entry_id = m.entry_id
                                AND mine.batch_id = ? WHERE m.batch_id != ?)""",  # noqa: S608
            *(batch_id, batch_id, batch_id),
        )
        cancelled = self.sql.execute(
            f"""DELETE FROM membership
                WHERE batch_id = ? AND entry_id NOT IN (SELECT id FROM entry WHERE state = {LEASED})""",  # noqa: S608
            batch_id,
        )
        self.sql.run(
            "UPDATE batch SET queued = queued - ?, cancelled = cancelled + ?, crawling = 0 WHERE id = ?",
            *(cancelled, cancelled, batch_id),
        )
        self.sql.run("DELETE FROM crawl WHERE batch_id = ?", batch_id)
        self.close_if_over(batch_id, now)

    def load(self, batch_id: str) -> Row:
        rows = self.sql.rows("SELECT * FROM batch WHERE id = ?", batch_id)
        if not rows:
            raise NotFound(f"there is no batch {batch_id} in this zone; batches are kept for 7 days")
        return rows[0]

    def list_latest(self, limit: int) -> list[Row]:
        return self.sql.rows("SELECT * FROM batch ORDER BY created_at DESC LIMIT ?", limit)

    def forget_old(self, now: float) -> None:
        self.sql.run("DELETE FROM batch WHERE created_at < ? AND queued = 0", now - KEPT_S)


def batch_as_json(row: Row, *, eta_s: float | None) -> Batch:
    values: dict[str, Any] = row
    is_finished = row["finished_at"] is not None
    return {
        "preload_batch_id": values["id"],
        "trigger": values["trigger_name"],
        "state": "finished" if is_finished else "crawling" if row["crawling"] else "running",
        "total": values["total"],
        "queued": values["queued"],
        "done": values["done"],
        "failed": values["failed"],
        "gone": values["gone"],
        "skipped": values["skipped"],
        "dropped": values["dropped"],
        "cancelled": values["cancelled"],
        "created_at": values["created_at"],
        "finished_at": values["finished_at"],
        "eta_s": 0 if is_finished else None if eta_s is None else ceil(eta_s),
    }
