"""The progress of everything that was asked for together: each page is in exactly one count."""

from dataclasses import dataclass
from math import ceil
from typing import Any, Final, Literal

from sluice.core.errors import NotFound
from sluice.core.ports import Row, Sql

KEPT_S: Final = 7 * 86_400

Count = Literal["done", "failed", "gone", "skipped", "dropped", "cancelled"]
COUNTS: Final[tuple[Count, ...]] = ("done", "failed", "gone", "skipped", "dropped", "cancelled")


@dataclass(frozen=True, slots=True)
class Batches:
    sql: Sql

    def open(self, batch_id: str, trigger: str, now: float) -> None:
        self.sql.execute(
            "INSERT OR IGNORE INTO batch (id, trigger_name, created_at) VALUES (?, ?, ?)", batch_id, trigger, now
        )

    def joined(self, batch_id: str, count: int) -> None:
        """Count pages that now wait for their turn."""
        self.sql.rows("UPDATE batch SET total = total + ?, queued = queued + ? WHERE id = ?", count, count, batch_id)

    def settled_at_once(self, batch_id: str, count: Count, n: int) -> None:
        """Count pages that never came into the queue."""
        self.sql.execute(f"UPDATE batch SET total = total + ?, {count} = {count} + ? WHERE id = ?", n, n, batch_id)  # noqa: S608

    def settle(self, entry_id: int, count: Count, now: float) -> None:
        """Move a page of all its batches from queued to where it ended."""
        self.sql.rows(
            f"""UPDATE batch SET queued = queued - 1, {count} = {count} + 1,
                  finished_at = CASE WHEN queued = 1 AND crawling = 0 THEN ? ELSE finished_at END
                WHERE id IN (SELECT batch_id FROM membership WHERE entry_id = ?)""",  # noqa: S608
            *(now, entry_id),
        )
        self.sql.rows("DELETE FROM membership WHERE entry_id = ?", entry_id)

    def crawling(self, batch_id: str, now: float, *, over: bool) -> None:
        """Note whether more pages may still be found for a batch."""
        self.sql.execute("UPDATE batch SET crawling = ? WHERE id = ?", int(not over), batch_id)
        self.close_if_over(batch_id, now)

    def close_if_over(self, batch_id: str, now: float) -> None:
        self.sql.execute(
            "UPDATE batch SET finished_at = ? WHERE id = ? AND queued = 0 AND crawling = 0 AND finished_at IS NULL",
            now,
            batch_id,
        )

    def cancel(self, batch_id: str, now: float) -> int:
        """Take back what only this batch wanted; pages under way are finished. Returns how many it gave up."""
        self.row(batch_id)
        self.sql.execute(
            """DELETE FROM entry WHERE state != 2
                 AND id IN (SELECT entry_id FROM membership WHERE batch_id = ?)
                 AND id NOT IN (SELECT m.entry_id FROM membership m JOIN membership mine ON mine.entry_id = m.entry_id
                                AND mine.batch_id = ? WHERE m.batch_id != ?)""",
            *(batch_id, batch_id, batch_id),
        )
        given_up = self.sql.execute(
            "DELETE FROM membership WHERE batch_id = ? AND entry_id NOT IN (SELECT id FROM entry WHERE state = 2)",
            batch_id,
        )
        self.sql.execute(
            "UPDATE batch SET queued = queued - ?, cancelled = cancelled + ?, crawling = 0 WHERE id = ?",
            *(given_up, given_up, batch_id),
        )
        self.sql.execute("DELETE FROM crawl WHERE batch_id = ?", batch_id)
        self.close_if_over(batch_id, now)
        return given_up

    def row(self, batch_id: str) -> Row:
        found = self.sql.rows("SELECT * FROM batch WHERE id = ?", batch_id)
        if not found:
            raise NotFound(f"there is no batch {batch_id} in this zone; batches are kept for 7 days")
        return found[0]

    def latest(self, limit: int) -> list[Row]:
        return self.sql.rows("SELECT * FROM batch ORDER BY created_at DESC LIMIT ?", limit)

    def forget(self, now: float) -> None:
        self.sql.execute("DELETE FROM batch WHERE created_at < ? AND queued = 0", now - KEPT_S)


def batch_as_json(row: Row, *, eta_s: float | None) -> dict[str, Any]:
    """The progress as told to people: queued and the ends add up to the total."""
    finished = row["finished_at"] is not None
    return {
        "preload_batch_id": row["id"],
        "trigger": row["trigger_name"],
        "state": "finished" if finished else "crawling" if row["crawling"] else "running",
        "total": row["total"],
        "queued": row["queued"],
        **{name: row[name] for name in COUNTS},
        "created_at": row["created_at"],
        "finished_at": row["finished_at"],
        "eta_s": 0 if finished else None if eta_s is None else ceil(eta_s),
    }
