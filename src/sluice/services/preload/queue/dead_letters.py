"""Pages that failed for good: seen by people, tried again every hour by ten, cleared after a week."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.ports import Row, Sql
from sluice.services.preload.queue.queue import Entry, Wanted

REPLAY_INTERVAL_S: Final = 3600
REPLAYED_AT_ONCE: Final = 10
KEPT_S: Final = 7 * 86_400


@dataclass(frozen=True, slots=True)
class DeadLetters:
    sql: Sql

    def add(self, entry: Entry, *, status: int | None, reason: str, now: float) -> None:
        self.sql.execute(
            """INSERT INTO dead (url, variant, priority, enqueued_at, trigger_name, post_id, attempt, status, reason,
                 first_failed_at, failed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (url, variant) DO UPDATE SET
                 status = excluded.status, reason = excluded.reason, failed_at = excluded.failed_at""",
            *(entry.url, entry.variant, entry.priority, entry.enqueued_at, entry.trigger, entry.post_id),
            *(entry.attempt, status, reason[:500], entry.first_failed_at or now, now),
        )

    def remove(self, url: str, variant: str) -> None:
        """Forget a page that came after all, or is gone."""
        self.sql.execute("DELETE FROM dead WHERE url = ? AND variant = ?", url, variant)

    def take(self, limit: int, ids: Sequence[int] | None = None) -> list[Wanted]:
        """Take the oldest out, or those with the ids, to be tried again."""
        rows = self._rows(limit, ids)
        for row in rows:
            self.sql.execute("DELETE FROM dead WHERE id = ?", row["id"])
        return [_wanted(row) for row in rows]

    def delete(self, ids: Sequence[int] | None = None) -> int:
        if ids is None:
            return self.sql.execute("DELETE FROM dead")
        return sum(self.sql.execute("DELETE FROM dead WHERE id = ?", each) for each in ids)

    def clear_old(self, now: float) -> int:
        """A page that keeps failing is old by its first failure, not by its last."""
        return self.sql.execute("DELETE FROM dead WHERE first_failed_at < ?", now - KEPT_S)

    def listed(self, limit: int) -> list[dict[str, Any]]:
        return [_shown(row) for row in self._rows(limit, None)]

    @property
    def count(self) -> int:
        return int(self.sql.value("SELECT count(*) FROM dead") or 0)

    def _rows(self, limit: int, ids: Sequence[int] | None) -> list[Row]:
        if ids is None:
            return self.sql.rows("SELECT * FROM dead ORDER BY failed_at, id LIMIT ?", limit)
        return [row for each in ids[:limit] for row in self.sql.rows("SELECT * FROM dead WHERE id = ?", each)]


def _wanted(row: Row) -> Wanted:
    post_id, first = row["post_id"], row["first_failed_at"]
    return Wanted(
        url=str(row["url"]),
        variant=str(row["variant"]),
        priority=float(row["priority"] or 0),
        trigger=str(row["trigger_name"]),
        post_id=None if post_id is None else int(post_id),
        first_failed_at=None if first is None else float(first),
    )


def _shown(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "url": row["url"],
        "priority": row["priority"],
        "enqueued_at": int(row["enqueued_at"] or 0),
        "trigger": row["trigger_name"],
        "post_id": row["post_id"],
        "attempt": row["attempt"],
        "status": row["status"],
        "reason": row["reason"],
        "failed_at": row["failed_at"],
        **({"variant": row["variant"]} if row["variant"] else {}),
    }
