"""Rows on their way to D1: written beside the change they tell of, kept until D1 has them."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.json_text import encode_json
from sluice.core.ports import Database, Sql, Statement
from sluice.core.timestamps import iso

BATCH: Final = 50  # statements sent together: a guess; more would risk the time one D1 call may take
MAX_KEPT: Final = 5000  # with D1 away for hours, the oldest lines of the log go first


@dataclass(frozen=True, slots=True)
class Outbox:
    sql: Sql

    def log(self, zone_id: str, url: str, status: str, *, now: float, **more: Any) -> None:
        """A line for `preload_log`; more: http_status, latency_ms, trigger, attempt, detail."""
        number = int(self.sql.value("UPDATE tally SET n = n + 1 WHERE name = 'events' RETURNING n") or 0)
        event_id = f"{zone_id}:{int(now * 1000)}:{number}"
        body = {"event_id": event_id, "zone_id": zone_id, "url": url, "status": status, "at": now, **more}
        self._add("log", body)

    def alert(self, **fields: Any) -> None:
        """A new or changed row of `preload_alerts`, of which the webhook is told too."""
        self._add("alert", fields)
        self._add("webhook", fields)

    def _add(self, kind: str, body: dict[str, Any]) -> None:
        newest = self.sql.value("INSERT INTO outbox (kind, body) VALUES (?, ?) RETURNING id", kind, encode_json(body))
        self.sql.execute("DELETE FROM outbox WHERE kind != 'alert' AND id <= ?", int(newest or 0) - MAX_KEPT)

    async def flush(self, database: Database) -> None:
        """Send what is waiting for D1; a row may arrive twice and is taken once."""
        waiting = "SELECT id, kind, body FROM outbox WHERE kind != 'webhook' ORDER BY id LIMIT ?"
        while rows := self.sql.rows(waiting, BATCH):
            await database.batch([_STATEMENTS[str(row["kind"])](json.loads(str(row["body"]))) for row in rows])
            self.sql.execute("DELETE FROM outbox WHERE kind != 'webhook' AND id <= ?", rows[-1]["id"])

    async def deliver(self, post: Callable[[dict[str, Any]], Awaitable[None]] | None) -> None:
        """Tell the webhook, one change after the other, until it refuses one; without a webhook nobody is told."""
        for row in self.sql.rows("SELECT id, body FROM outbox WHERE kind = 'webhook' ORDER BY id LIMIT ?", BATCH):
            if post is not None:
                await post(json.loads(str(row["body"])))
            self.sql.execute("DELETE FROM outbox WHERE id = ?", row["id"])

    @property
    def waiting(self) -> bool:
        return bool(self.sql.value("SELECT 1 FROM outbox LIMIT 1"))


def _log_row(body: dict[str, Any]) -> Statement:
    names = ("event_id", "zone_id", "url", "status", "http_status", "latency_ms", "trigger_name", "attempt", "detail")
    values: list[object] = [body.get(name) for name in names]
    return (
        f"INSERT OR IGNORE INTO preload_log ({', '.join(names)}, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        [*values, iso(body["at"])],
    )


def _alert_row(body: dict[str, Any]) -> Statement:
    names = ("incident_id", "zone_id", "kind", "level", "message", "raised_at", "resolved_at")
    return (
        f"""INSERT INTO preload_alerts ({", ".join(names)}) VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (incident_id) DO UPDATE SET
              message = excluded.message, resolved_at = coalesce(excluded.resolved_at, resolved_at)""",  # noqa: S608
        [body.get(name) for name in names],
    )


_STATEMENTS: Final[dict[str, Callable[[dict[str, Any]], Statement]]] = {"log": _log_row, "alert": _alert_row}
