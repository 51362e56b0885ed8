"""The dead-letter queue: pages that failed for good. Ten are retried every hour, all are deleted after a week."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Row, Sql
from sluice.core.preload.members import EpochS
from sluice.core.preload.queue_entries import QueueEntry, WantedPage
from sluice.services.preload.queue.queue import QueuedPage

REPLAY_INTERVAL_S: Final = 3600
REPLAYED_AT_ONCE: Final = 10
KEPT_S: Final = 7 * 86_400


class DeadLetter(QueuedPage):
    id: int
    status: Annotated[int | None, Doc("The status of the origin's response; null without one.")]
    reason: str
    failed_at: EpochS
    fails_since: EpochS


class FailedReply(TypedDict):
    count: Annotated[int, Doc("The number of all, not only of those listed.", minimum=0)]
    failed: list[DeadLetter]


@dataclass(slots=True)
class DeadLetterQueue:
    sql: Sql
    # False when there is certainly none: then a page that is warmed need not be looked for here.
    may_have_any: bool = field(init=False)

    def __post_init__(self) -> None:
        self.may_have_any = self.count > 0

    def add(self, entry: QueueEntry, *, status: int | None, reason: str, now: float) -> None:
        self.may_have_any = True
        self.sql.run(
            """INSERT INTO dead (url, variant, priority, enqueued_at, trigger_name, post_id, attempt, status, reason,
                 first_failed_at, failed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (url, variant) DO UPDATE SET
                 status = excluded.status, reason = excluded.reason, failed_at = excluded.failed_at""",
            *(entry.url, entry.variant, entry.priority, entry.enqueued_at, entry.trigger, entry.post_id),
            *(entry.attempt, status, reason[:500], entry.first_failed_at or now, now),
        )

    def remove(self, url: str, variant: str) -> None:
        """Remove a page that was warmed after all, or is gone."""
        self.sql.run("DELETE FROM dead WHERE url = ? AND variant = ?", url, variant)

    def take(self, limit: int, ids: Sequence[int] | None = None) -> list[WantedPage]:
        """Remove and return the oldest letters, or those with the ids, so that they are tried again."""
        rows = self._load_rows(limit, ids)
        for row in rows:
            self.sql.run("DELETE FROM dead WHERE id = ?", row["id"])
        return [_parse_row(row) for row in rows]

    def delete(self, ids: Sequence[int] | None = None) -> int:
        """Return how many were deleted; without ids all are."""
        if ids is None:
            return self.sql.execute("DELETE FROM dead")
        return sum(self.sql.execute("DELETE FROM dead WHERE id = ?", each) for each in ids)

    def delete_old(self, now: float) -> None:
        """Delete pages by the age of their first failure, so that one that keeps failing goes too."""
        self.sql.run("DELETE FROM dead WHERE first_failed_at < ?", now - KEPT_S)
        self.may_have_any = self.count > 0

    def list_oldest(self, limit: int) -> list[DeadLetter]:
        return [_letter_as_json(row) for row in self._load_rows(limit, None)]

    @property
    def count(self) -> int:
        return int(self.sql.value("SELECT count(*) FROM dead") or 0)

    def _load_rows(self, limit: int, ids: Sequence[int] | None) -> list[Row]:
        if ids is None:
            return self.sql.rows("SELECT * FROM dead ORDER BY failed_at, id LIMIT ?", limit)
        return [row for each in ids[:limit] for row in self.sql.rows("SELECT * FROM dead WHERE id = ?", each)]


def _parse_row(row: Row) -> WantedPage:
    values: dict[str, Any] = row
    return WantedPage(
        url=values["url"],
        variant=values["variant"],
        priority=values["priority"],
        trigger=values["trigger_name"],
        post_id=values["post_id"],
        first_failed_at=values["first_failed_at"],
    )


def _letter_as_json(row: Row) -> DeadLetter:
    values: dict[str, Any] = row
    letter: DeadLetter = {
        "id": values["id"],
        "url": values["url"],
        "priority": values["priority"],
        "enqueued_at": int(values["enqueued_at"] or 0),
        "trigger": values["trigger_name"],
        "post_id": values["post_id"],
        "attempt": values["attempt"],
        "status": values["status"],
        "reason": values["reason"],
        "failed_at": values["failed_at"],
        "fails_since": values["first_failed_at"],
    }
    if values["variant"]:
        letter["variant"] = values["variant"]
    return letter
