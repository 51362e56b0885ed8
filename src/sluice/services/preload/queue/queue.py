"""The priority queue of pages to warm: order, merging, overflow and leases. Every operation takes O(log n) for each page.

A page that has timed out stands behind all others (`lease_late`), where it has its 30 s; `warming/drain.py` says how
many such pages may be asked for at once. A lost connection is an attempt too. The first may have been a reused one that
the server had closed, so the second follows at once.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Row, Scalar, Sql
from sluice.core.preload.members import AnyTrigger, Priority, Variant
from sluice.core.preload.priority import MANUAL
from sluice.core.preload.queue_entries import LATE, LEASED, READY, WAITING, QueueEntry, WantedPage, order_key
from sluice.core.preload.retry_backoff import MAX_DELAY_S
from sluice.services.preload.queue.batches import Batches, Count

CHUNK: Final = 500  # pages inserted by one statement: the JSON of the longest URLs stays within a row's 2 MB
PROBES: Final = 1000  # ready entries among which a probe is chosen
MAX_CRASHES: Final = 5  # a page that takes the whole Worker down this often is given up
# `order_key` of the core in SQL.
ORDER: Final = "priority DESC, enqueued_at, id"
# The columns of Tallies, from queue_tally.
TALLIES: Final = "depth, changes, (SELECT n FROM tally WHERE name = 'dead_changes') AS dead_changes"
# The state of an entry that may be leased again.
_READY_OR_LATE: Final = f"iif(EXISTS (SELECT 1 FROM late WHERE entry_id = entry.id), {LATE}, {READY})"  # noqa: S608
REVERSE_ORDER: Final = "priority, enqueued_at DESC, id DESC"


class QueuedPage(TypedDict):
    """A page in the queue, in the same shape as in KV."""

    url: str
    priority: Priority
    enqueued_at: Annotated[int, Doc("Seconds since 1970.")]
    trigger: AnyTrigger
    post_id: int | None
    attempt: Annotated[int, Doc("The number of retries.", minimum=0)]
    variant: NotRequired[Variant]


@dataclass(frozen=True, slots=True)
class EnqueueResult:
    """How many pages wait for the batch, the URLs that had no room, and the depth of the queue afterwards."""

    queued: int
    dropped: list[str]
    depth: int


@dataclass(frozen=True, slots=True)
class QueueCounters:
    """Counters that triggers keep, because counting rows would take longer the more there are."""

    depth: int
    changes: int
    dead_changes: int

    @classmethod
    def parse(cls, row: Row) -> "QueueCounters":
        return cls(int(row["depth"] or 0), int(row["changes"] or 0), int(row["dead_changes"] or 0))


@dataclass(frozen=True, slots=True)
class DueTimes:
    """Whether an entry is ready now, and one behind the others; when the next retry is due, and when the next lease ends."""

    is_ready: bool
    has_late: bool
    retry_at: float | None
    lease_ends_at: float | None


@dataclass(frozen=True, slots=True)
class Queue:
    sql: Sql
    batches: Batches

    @property
    def depth(self) -> int:
        return int(self.sql.value("SELECT depth FROM queue_tally") or 0)

    def count_unknown(self) -> int:
        """Return how many pages wait for their first copy."""
        sql = "SELECT count(*) FROM entry WHERE NOT EXISTS (SELECT 1 FROM page WHERE page.url = entry.url)"
        return int(self.sql.value(sql) or 0)

    def load_tallies(self) -> QueueCounters:
        [row] = self.sql.rows(f"SELECT {TALLIES} FROM queue_tally")  # noqa: S608 - constant
        return QueueCounters.parse(row)

    def enqueue(self, wanted: Sequence[WantedPage], batch_id: str, *, now: float, max_depth: int) -> EnqueueResult:
        """Add pages to the queue and to a batch; an entry that exists is merged as `merge_request` of the core says."""
        added = sum(self._insert(wanted[at : at + CHUNK], batch_id, now) for at in range(0, len(wanted), CHUNK))
        self.batches.add_queued(batch_id, added)
        depth = self.depth
        dropped, dropped_of_batch = self._drop_lowest(depth - max_depth, batch_id, now)
        if added <= dropped_of_batch:
            self.batches.close_if_over(batch_id, now)
        return EnqueueResult(max(0, added - dropped_of_batch), dropped, depth - len(dropped))

    def list_in_order(self, limit: int) -> list[QueueEntry]:
        """Return all entries, leased ones too, in the order of the queue."""
        return [parse_entry(row) for row in self.sql.rows(f"SELECT * FROM entry ORDER BY {ORDER} LIMIT ?", limit)]  # noqa: S608

    def lease(self, now: float, lease_s: float, *, by_hand: bool = False) -> QueueEntry | None:
        """Take the first ready entry, or the first that is wanted by hand; nobody else gets it until the lease ends."""
        ready = f"state = {READY}{_and_manual(by_hand)}"
        return self._lease(f"SELECT id FROM entry WHERE {ready} ORDER BY {ORDER} LIMIT 1", now + lease_s)  # noqa: S608

    def lease_last(self, now: float, lease_s: float, *, by_hand: bool = False) -> QueueEntry | None:
        """Take the last ready entry, to learn whether other pages than the first ones work."""
        ready = f"state = {READY}{_and_manual(by_hand)}"
        return self._lease(f"SELECT id FROM entry WHERE {ready} ORDER BY {REVERSE_ORDER} LIMIT 1", now + lease_s)  # noqa: S608

    def lease_late(self, now: float, lease_s: float, *, by_hand: bool = False) -> QueueEntry | None:
        """Take the first of the entries that stand behind all others."""
        late = f"state = {LATE}{_and_manual(by_hand)}"
        return self._lease(f"SELECT id FROM entry WHERE {late} ORDER BY {ORDER} LIMIT 1", now + lease_s)  # noqa: S608

    def lease_probe(self, now: float, lease_s: float, *, by_hand: bool = False) -> QueueEntry | None:
        """Take the ready entry that says most about the origin: a page that has worked, else one that has not failed."""
        ready = f"state IN ({READY}, {LATE}){_and_manual(by_hand)}"
        first = f"SELECT * FROM entry WHERE {ready} ORDER BY state, {ORDER} LIMIT {PROBES}"  # noqa: S608
        return self._lease(
            f"""SELECT id FROM ({first}) AS entry ORDER BY
                  EXISTS (SELECT 1 FROM page WHERE page.url = entry.url AND page.variant = entry.variant) DESC,
                  first_failed_at IS NULL DESC, {ORDER} LIMIT 1""",  # noqa: S608
            now + lease_s,
        )

    def _lease(self, choice: str, until: float) -> QueueEntry | None:
        rows = self.sql.rows(
            f"UPDATE entry SET state = {LEASED}, due_at = ?, lease = lease + 1 WHERE id = ({choice}) RETURNING *",  # noqa: S608
            until,
        )
        return parse_entry(rows[0]) if rows else None

    def is_held(self, entry: QueueEntry) -> bool:
        """Return whether nobody has leased the entry since, so that what became of it may be settled."""
        return bool(self.sql.value("SELECT 1 FROM entry WHERE id = ? AND lease = ?", entry.id, entry.lease))

    def load_due_times(self, *, by_hand: bool = False) -> DueTimes:
        manual = _and_manual(by_hand)
        [row] = self.sql.rows(
            f"""SELECT EXISTS (SELECT 1 FROM entry WHERE state = {READY}{manual}) AS is_ready,
                  EXISTS (SELECT 1 FROM entry WHERE state = {LATE}{manual}) AS has_late,
                  (SELECT due_at FROM entry WHERE state = {WAITING}{manual} ORDER BY due_at LIMIT 1) AS retry_at,
                  (SELECT due_at FROM entry WHERE state = {LEASED} ORDER BY due_at LIMIT 1) AS lease_ends_at"""  # noqa: S608
        )
        is_ready, has_late = bool(row["is_ready"]), bool(row["has_late"])
        return DueTimes(is_ready, has_late, _time(row["retry_at"]), _time(row["lease_ends_at"]))

    def find_last_retry(self, now: float) -> float:
        """Return when the last of the pages that wait for another attempt gets it; now without such a page."""
        last = _time(self.sql.value(f"SELECT max(due_at) FROM entry WHERE state = {WAITING}"))  # noqa: S608
        return now if last is None else max(now, last)

    def release_due_retries(self, now: float) -> None:
        """Make entries ready whose backoff is over."""
        self.sql.run(f"UPDATE entry SET state = {_READY_OR_LATE} WHERE state = {WAITING} AND due_at <= ?", now)  # noqa: S608

    def reclaim(self, now: float, held: Collection[int] = ()) -> list[QueueEntry]:
        """Make entries ready whose lease has ended, except those that are still held here.

        Return those that have crashed the Worker too often.
        """
        rows = self.sql.rows(
            f"""UPDATE entry SET state = {_READY_OR_LATE}, crashes = crashes + 1
                WHERE state = {LEASED} AND due_at <= ? AND id NOT IN (SELECT value FROM json_each(?))
                RETURNING *""",  # noqa: S608
            *(now, json.dumps(list(held))),
        )
        return [parse_entry(row) for row in rows if int(row["crashes"] or 0) > MAX_CRASHES]

    def shorten_all(self, until: float) -> None:
        """End all leases by that time, after a crash of their holder."""
        self.sql.run(f"UPDATE entry SET due_at = min(due_at, ?) WHERE state = {LEASED}", until)  # noqa: S608

    def clamp_waits(self, now: float, lease_s: float) -> None:
        """Shorten what could not wait so long by its own rules: the clock was set back."""
        for state, longest_s in ((WAITING, MAX_DELAY_S), (LEASED, lease_s)):
            latest = now + longest_s
            self.sql.run(f"UPDATE entry SET due_at = ? WHERE state = {state} AND due_at > ?", latest, latest)  # noqa: S608

    def give_back(self, entry: QueueEntry) -> None:
        """Make an entry ready again, without counting an attempt."""
        self.sql.run(f"UPDATE entry SET state = {_READY_OR_LATE} WHERE id = ?", entry.id)  # noqa: S608

    def repeat(self, entry: QueueEntry) -> None:
        """Make an entry ready for its next attempt at once; it does not count as one that fails."""
        self.sql.run(
            f"UPDATE entry SET state = {_READY_OR_LATE}, attempt = attempt + 1, again = 0 WHERE id = ?",  # noqa: S608
            entry.id,
        )

    def finish(self, entry: QueueEntry, count: Count, now: float) -> None:
        """Remove an entry, and settle it in its batches; one that was wanted again meanwhile is ready again instead."""
        if self.sql.rows("DELETE FROM entry WHERE id = ? AND again = 0 RETURNING id", entry.id):
            self.batches.settle(entry.id, count, now)
            return
        self.sql.run("DELETE FROM late WHERE entry_id = ?", entry.id)
        self.sql.run(
            f"""UPDATE entry SET state = {READY}, again = 0, attempt = 0, crashes = 0, enqueued_at = ?
                WHERE id = ?""",  # noqa: S608
            *(now, entry.id),
        )

    def retry(self, entry: QueueEntry, due_at: float, now: float, *, is_late: bool = False) -> None:
        """Delay an entry after a failed attempt; one that is late then stands behind all others."""
        if is_late:
            self.sql.run("INSERT OR IGNORE INTO late VALUES (?)", entry.id)
        self.sql.run(
            f"""UPDATE entry SET state = {WAITING}, attempt = attempt + 1, due_at = ?, again = 0,
                 first_failed_at = coalesce(first_failed_at, ?) WHERE id = ?""",  # noqa: S608
            *(due_at, now, entry.id),
        )

    def mark_wanted_again(self, urls: Sequence[str]) -> None:
        """Mark leased pages, so that they are fetched once more: they have changed since their fetch began."""
        self.sql.run(
            f"UPDATE entry SET again = 1 WHERE state = {LEASED} AND url IN (SELECT value FROM json_each(?))",  # noqa: S608
            json.dumps(list(urls)),
        )

    def _insert(self, wanted: Sequence[WantedPage], batch_id: str, now: float) -> int:
        """Return how many of the pages are new to the batch."""
        pages = json.dumps(
            [[w.url, w.variant, w.priority, w.trigger, w.post_id, w.hops, w.first_failed_at] for w in wanted]
        )
        self.sql.run(
            f"""INSERT INTO entry (url, variant, priority, trigger_name, post_id, hops, first_failed_at, enqueued_at)
               SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, ?
               FROM json_each(?) WHERE true
               ON CONFLICT (url, variant) DO UPDATE SET
                 priority = max(priority, excluded.priority), post_id = coalesce(excluded.post_id, post_id),
                 trigger_name = CASE excluded.trigger_name WHEN '{MANUAL}' THEN '{MANUAL}' ELSE trigger_name END,
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
        """Drop the last `count` entries that are not leased; return their URLs and how many were of the batch."""
        if count <= 0:
            return [], 0
        candidates = [parse_entry(row) for state in (READY, WAITING, LATE) for row in self._load_lowest(state, count)]
        lowest = sorted(candidates, key=order_key, reverse=True)[:count]
        ids = json.dumps([entry.id for entry in lowest])
        dropped_of_batch = self.batches.settle_dropped(ids, batch_id, now)
        self.sql.run("DELETE FROM entry WHERE id IN (SELECT value FROM json_each(?))", ids)
        return [entry.url for entry in lowest], dropped_of_batch

    def _load_lowest(self, state: int, count: int) -> list[Row]:
        return self.sql.rows(f"SELECT * FROM entry WHERE state = {state} ORDER BY {REVERSE_ORDER} LIMIT ?", count)  # noqa: S608


def _and_manual(by_hand: bool) -> str:
    return f" AND trigger_name = '{MANUAL}'" if by_hand else ""


def parse_entry(row: Row) -> QueueEntry:
    columns = {"trigger": "trigger_name", "wanted_again": "again"}
    fields: dict[str, Any] = {name: row[columns.get(name, name)] for name in QueueEntry.__slots__}
    return QueueEntry(**{**fields, "wanted_again": bool(fields["wanted_again"])})


def entry_as_json(entry: QueueEntry) -> QueuedPage:
    page: QueuedPage = {
        "url": entry.url,
        "priority": entry.priority,
        "enqueued_at": int(entry.enqueued_at),
        "trigger": entry.trigger,
        "post_id": entry.post_id,
        "attempt": entry.attempt,
    }
    if entry.variant:
        page["variant"] = entry.variant
    return page


def _time(value: Scalar) -> float | None:
    return None if value is None else float(value)
