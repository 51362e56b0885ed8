"""What waits to be sent: alerts, webhooks and copies of feeds. Each is sent until it is received, or given up."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sluice.core.ports import Row, Sql

# After 10 s, 30 s, 90 s … up to an hour; the last try is about four hours after the first.
MAX_ATTEMPTS: Final = 9
_FIRST_DELAY_MS: Final = 10_000
_MAX_DELAY_MS: Final = 3_600_000
MAX_WAITING: Final = 10_000
_TABLE: Final = """
create table if not exists delivery (
  id integer primary key autoincrement, kind text not null, target text not null, body text not null,
  attempts integer not null default 0, due_ms integer not null, created_ms integer not null
) strict
"""


class DeliveryKind(StrEnum):
    """The kinds of deliveries; each is sent in a way of its own."""

    ALERT = "alert"
    WEBHOOK = "webhook"
    # The target is a subscription; the content is the feed as it is when it is sent.
    FEED = "feed"
    VERIFICATION = "verification"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One thing to send to one target."""

    id: int
    kind: DeliveryKind
    target: str
    body: str
    attempts: int
    created_ms: int


class Outbox:
    """Stores what waits to be sent, a row for each delivery; a crash sends one again, with the same id."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        sql.run(_TABLE)
        sql.run("create index if not exists delivery_due on delivery (due_ms)")

    def add(self, kind: DeliveryKind, target: str, body: str, now_ms: int) -> None:
        """Add a delivery. Of the feed one for each subscription is enough, because it is always the newest."""
        if kind is DeliveryKind.FEED:
            self._sql.run("delete from delivery where kind = ? and target = ? and attempts = 0", kind, target)
        self._sql.run(
            "insert into delivery (kind, target, body, due_ms, created_ms) values (?, ?, ?, ?, ?)",
            kind,
            target,
            body,
            now_ms,
            now_ms,
        )
        # The oldest go first when nobody receives for days.
        self._sql.run(
            "delete from delivery where id <= (select id from delivery order by id desc limit 1 offset ?)", MAX_WAITING
        )

    def clamp_waits(self, now_ms: int) -> None:
        """Shorten what could not wait so long by its own rule: the clock was set back."""
        latest_ms = now_ms + _MAX_DELAY_MS
        self._sql.run("update delivery set due_ms = ? where due_ms > ?", latest_ms, latest_ms)

    def list_due(self, now_ms: int, limit: int) -> list[Delivery]:
        rows = self._sql.rows(
            "select id, kind, target, body, attempts, created_ms from delivery where due_ms <= ? order by due_ms, id limit ?",
            now_ms,
            limit,
        )
        return [_parse(row) for row in rows]

    def remove(self, delivery: Delivery) -> None:
        self._sql.run("delete from delivery where id = ?", delivery.id)

    def retry(self, delivery: Delivery, now_ms: int) -> bool:
        """Plan the next try; return False, and remove the delivery, if that was the last one.

        A try that ends late, when a later one has been counted, changes nothing.
        """
        attempts = delivery.attempts + 1
        if attempts >= MAX_ATTEMPTS:
            self._sql.run("delete from delivery where id = ? and attempts = ?", delivery.id, delivery.attempts)
            return False
        delay_ms = min(_FIRST_DELAY_MS * 3 ** (attempts - 1), _MAX_DELAY_MS)
        self._sql.run(
            "update delivery set attempts = ?, due_ms = ? where id = ? and attempts = ?",
            *(attempts, now_ms + delay_ms, delivery.id, delivery.attempts),
        )
        return True

    def next_due_ms(self) -> int | None:
        value = self._sql.value("select min(due_ms) from delivery")
        return None if value is None else int(value)

    def count_kind(self, kind: DeliveryKind) -> int:
        return int(self._sql.value("select count(*) from delivery where kind = ?", kind) or 0)

    def count(self) -> int:
        return int(self._sql.value("select count(*) from delivery") or 0)


def _parse(row: Row) -> Delivery:
    found: dict[str, Any] = {**row, "kind": DeliveryKind(str(row["kind"]))}
    return Delivery(**found)
