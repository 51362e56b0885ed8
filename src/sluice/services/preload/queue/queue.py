"""The priority queue of pages to warm: order, merging and overflow. Every operation takes O(log n) for each page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.ports import Row, Sql
from sluice.core.preload.entries import LEASED, READY, WAITING, QueueEntry, WantedPage, order_key
from sluice.services.preload.queue.batches import Batches

CHUNK: Final = 500  # pages inserted by one statement: the JSON of the longest URLs stays within a row's 2 MB
# `order_key` of the core in SQL.
ORDER: Final = "priority DESC, enqueued_at, id"
REVERSE_ORDER: Final = "priority, enqueued_at DESC, id DESC"


@dataclass(frozen=True, slots=True)
class EnqueueResult:
    """How many pages wait for the batch, the URLs that had no room, and the depth of the queue afterwards."""

    queued: int
    dropped: list[str]
    depth: int


@dataclass(frozen=True, slots=True)
class Tallies:
    """Counters that triggers keep, because counting rows would take longer the more there are."""

    depth: int
    changes: int
    dead_changes: int


@dataclass(frozen=True, slots=True)
class Queue:
    sql: Sql
    batches: Batches

    @property
    def depth(self) -> int:
        return int(self.sql.value("SELECT n FROM tally WHERE name = 'depth'") or 0)

    def load_tallies(self) -> Tallies:
        counts = {row["name"]: int(row["n"] or 0) for row in self.sql.rows("SELECT name, n FROM tally")}
        return Tallies(counts["depth"], counts["changes"], counts["dead_changes"])

    def enqueue(self, wanted: Sequence[WantedPage], batch_id: str, *, now: float, max_depth: int) -> EnqueueResult:
        """Adds pages to the queue and to a batch; an entry that exists is merged as `merge_request` of the core says."""
        added = sum(self._insert(wanted[at : at + CHUNK], batch_id, now) for at in range(0, len(wanted), CHUNK))
        self.batches.add_queued(batch_id, added)
        depth = self.depth
        dropped, dropped_of_batch = self._drop_lowest(depth - max_depth, batch_id, now)
        if added <= dropped_of_batch:
            self.batches.close_if_over(batch_id, now)
        return EnqueueResult(max(0, added - dropped_of_batch), dropped, depth - len(dropped))

    def list_in_order(self, limit: int) -> list[QueueEntry]:
        """All entries, leased ones too, in the order of the queue."""
        return [parse_entry(row) for row in self.sql.rows(f"SELECT * FROM entry ORDER BY {ORDER} LIMIT ?", limit)]  # noqa: S608

    def _insert(self, wanted: Sequence[WantedPage], batch_id: str, now: float) -> int:
        """Returns how many of the pages are new to the batch."""
        pages = json.dumps(
            [[w.url, w.variant, w.priority, w.trigger, w.post_id, w.hops, w.first_failed_at] for w in wanted]
        )
        self.sql.run(
            f"""INSERT INTO entry (url, variant, priority, trigger_name, post_id, hops, first_failed_at, enqueued_at)
               SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, ?
               FROM json_each(?) WHERE true
               ON CONFLICT (url, variant) DO UPDATE SET
                 priority = max(priority, excluded.priority), post_id = coalesce(excluded.post_id, post_id),
                 again = CASE WHEN state = {LEASED} THEN 1 ELSE 0 END""",  # noqa: S608
            *(now, pages),
        )
        joined = self.sql.rows(
            """INSERT OR IGNORE INTO membership (entry_id, batch_id)
               SELECT entry.id, ? FROM json_each(?) AS page
               JOIN entry ON entry.url = page.value ->> 0 AND entry.variant = page.value ->> 1
               RETURNING entry_id""",
            *(batch_id, pages),
        )
        return len(joined)

    def _drop_lowest(self, count: int, batch_id: str, now: float) -> tuple[list[str], int]:
        """Drops the last `count` entries that are not leased; returns their URLs and how many were of the batch."""
        if count <= 0:
            return [], 0
        candidates = [parse_entry(row) for state in (READY, WAITING) for row in self._load_lowest(state, count)]
        lowest = sorted(candidates, key=order_key, reverse=True)[:count]
        dropped_of_batch = 0
        for entry in lowest:
            dropped_of_batch += batch_id in self.batches.list_ids(entry.id)
            self.batches.settle(entry.id, "dropped", now)
            self.sql.run("DELETE FROM entry WHERE id = ?", entry.id)
        return [entry.url for entry in lowest], dropped_of_batch

    def _load_lowest(self, state: int, count: int) -> list[Row]:
        return self.sql.rows(f"SELECT * FROM entry WHERE state = {state} ORDER BY {REVERSE_ORDER} LIMIT ?", count)  # noqa: S608


def parse_entry(row: Row) -> QueueEntry:
    columns = {"trigger": "trigger_name", "wanted_again": "again"}
    fields: dict[str, Any] = {name: row[columns.get(name, name)] for name in QueueEntry.__slots__}
    return QueueEntry(**{**fields, "wanted_again": bool(fields["wanted_again"])})


def entries_as_json(entries: Sequence[QueueEntry]) -> list[dict[str, Any]]:
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
