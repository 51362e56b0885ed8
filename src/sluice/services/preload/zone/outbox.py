"""Rows on their way to D1 and to the webhook: written together with the change they report, kept until they arrive.

They leave by one statement for all, because an alarm fits the plan: it carries out one round of a purge, or reads
sitemaps, or warms as many pages as `PRELOAD_SUBREQUESTS` (1,000; 50 with `--plan free`) and 1,000 queries of D1 allow.
What does not fit waits for the next alarm.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.json_text import encode_json
from sluice.core.ports import Database, Row, Scalar, Sql, Statement
from sluice.core.preload.incidents import Incident

BATCH: Final = 100  # rows sent by one call: a guess; more would risk its time limit
BATCHES: Final = 2  # sent by one invocation, and posts of alerts: they share its subrequests with everything else
POSTS: Final = 2
MAX_KEPT: Final = 5000  # while D1 is away for hours, the oldest log lines are dropped first
TRIM_EVERY: Final = 100  # rows: how often the oldest are looked for


@dataclass(frozen=True, slots=True)
class Outbox:
    sql: Sql

    def add_log(self, zone_id: str, url: str, status: str, *, now: float, **fields: Scalar) -> None:
        """Add a line for `preload_log`; fields: http_status, latency_ms, trigger_name, attempt, detail."""
        self._add("log", {"zone_id": zone_id, "url": url, "status": status, "at": now, **fields})

    def add_alert(self, alert: Incident) -> None:
        """Add a new or changed row of `preload_alerts`, which also goes to the webhook."""
        self._add("alert", alert)
        self._add("webhook", alert)

    def _add(self, kind: str, body: Mapping[str, object]) -> None:
        text = encode_json(body)
        newest = int(self.sql.value("INSERT INTO outbox (kind, body) VALUES (?, ?) RETURNING id", kind, text) or 0)
        if newest % TRIM_EVERY == 0:
            self.sql.run("DELETE FROM outbox WHERE kind != 'alert' AND id <= ?", newest - MAX_KEPT)

    async def flush(self, database: Database) -> bool:
        """Send waiting rows to D1, each stored once however often it arrives; return whether these were all."""
        for _ in range(BATCHES):
            rows = self._load_rows("kind != 'webhook'", BATCH)
            if rows:
                await database.batch(_build_statements(rows))
                self.sql.run("DELETE FROM outbox WHERE kind != 'webhook' AND id <= ?", rows[-1]["id"])
            if len(rows) < BATCH:
                return True
        return False

    async def deliver(self, post: Callable[[Incident], Awaitable[None]]) -> bool:
        """Post some alerts to the webhook in order; return whether these were all. What `post` raises ends it."""
        rows = self._load_rows("kind = 'webhook'", POSTS)
        for row in rows:
            await post(json.loads(str(row["body"])))
            self.sql.run("DELETE FROM outbox WHERE id = ?", row["id"])
        return len(rows) < POSTS

    def _load_rows(self, condition: str, limit: int) -> list[Row]:
        return self.sql.rows(f"SELECT id, kind, body FROM outbox WHERE {condition} ORDER BY id LIMIT ?", limit)  # noqa: S608


def _build_statements(rows: Sequence[Row]) -> list[Statement]:
    """Build one statement for all rows of a kind, because D1 counts statements, and the free plan allows an invocation 50."""
    lines = [_describe_line(row) for row in rows if row["kind"] == "log"]
    alerts = [json.loads(str(row["body"])) for row in rows if row["kind"] == "alert"]
    return [
        (sql, [encode_json(values)]) for sql, values in ((_INSERT_LINES, lines), (_INSERT_ALERTS, alerts)) if values
    ]


def _describe_line(row: Row) -> Row:
    """Return a line as the webhook gets it. Its row's id is never used again, so its event id is the same however often it is sent."""
    body = json.loads(str(row["body"]))
    return {**body, "event_id": f"{body['zone_id']}:{int(body['at'] * 1000)}:{int(row['id'] or 0)}"}


def _select(names: Sequence[str]) -> str:
    return ", ".join(f"value ->> '{name}'" for name in names)


_LINE: Final = (
    "event_id",
    "zone_id",
    "url",
    "status",
    "http_status",
    "latency_ms",
    "trigger_name",
    "attempt",
    "detail",
)
_ALERT: Final = ("incident_id", "zone_id", "kind", "level", "message", "raised_at", "resolved_at")
_INSERT_LINES: Final = f"""INSERT OR IGNORE INTO preload_log ({", ".join(_LINE)}, created_at)
  SELECT {_select(_LINE)}, strftime('%Y-%m-%dT%H:%M:%fZ', value ->> 'at', 'unixepoch') FROM json_each(?)"""  # noqa: S608
_INSERT_ALERTS: Final = f"""INSERT INTO preload_alerts ({", ".join(_ALERT)})
  SELECT {_select(_ALERT)} FROM json_each(?) WHERE true
  ON CONFLICT (incident_id) DO UPDATE SET
    message = excluded.message, resolved_at = coalesce(excluded.resolved_at, resolved_at)"""  # noqa: S608
