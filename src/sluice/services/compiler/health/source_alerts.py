"""Alerts of unhealthy sources: opened once, delivered once, resolved when the source is healthy again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypedDict

from sluice.core.json_text import encode_json
from sluice.core.net.webhook import post_alert
from sluice.core.ports import Clock, Database, Fetch
from sluice.core.timestamps import iso
from sluice.services.compiler.health.source_check import SourceHealth

# The index of open alerts refuses a second one for the same source.
_OPEN: Final = """
insert into health_alerts (id, source, run_id, payload, opened_ms) values (?, ?, ?, ?, ?) on conflict do nothing
"""
_UNDELIVERED: Final = "from health_alerts where resolved_ms is null and delivered_ms is null"
# The end of an alert is only told to whoever was told of its beginning.
_UNDELIVERED_ENDS: Final = (
    "from health_alerts where resolved_ms is not null and delivered_ms is not null and resolution_delivered_ms is null"
)
_RESOLVE: Final = "update health_alerts set resolved_ms = ? where source = ? and resolved_ms is null"


class SourceName(TypedDict):
    name: str
    url: str


class SourceAlert(TypedDict):
    """What the webhook is told of a source."""

    type: Literal["source-unhealthy"]
    alertId: str
    runId: str
    timestamp: str
    source: SourceName
    consecutiveFailures: int
    statusCode: int
    responseTimeMs: int
    ruleCount: int
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceAlerts:
    """Stores and delivers the alerts of sources. `url` is the webhook; without one, alerts are only stored."""

    database: Database
    fetch: Fetch
    clock: Clock
    url: str

    async def open_alerts(
        self, run_id: str, failing: Mapping[str, int], results: Sequence[SourceHealth]
    ) -> list[SourceAlert]:
        """Open an alert for each failing source without one. Return the alerts of this run, also from before a crash."""
        now_ms = self._now_ms()
        for at, result in enumerate(results):
            if result["url"] in failing:
                alert_id = f"{run_id}-{at}"
                payload = _payload(alert_id, run_id, now_ms, result, failing[result["url"]])
                await self.database.run(_OPEN, alert_id, result["url"], run_id, encode_json(payload), now_ms)
        rows = await self.database.all("select payload from health_alerts where run_id = ? order by id", run_id)
        return [json.loads(row["payload"]) for row in rows]

    async def resolve(self, sources: Sequence[str]) -> int:
        """Resolve the alerts of healthy sources. Return how many."""
        if not sources:
            return 0
        now_ms = self._now_ms()
        changed = await self.database.batch([(_RESOLVE, (now_ms, source)) for source in sources])
        return sum(each.changes for each in changed)

    async def count_undelivered(self) -> int:
        """Count beginnings and ends of alerts that were not delivered, also of earlier runs whose webhook failed."""
        counts = f"select (select count(*) {_UNDELIVERED}) + (select count(*) {_UNDELIVERED_ENDS})"
        return int(await self.database.value(counts)) if self.url else 0

    async def deliver(self) -> list[str]:
        """Deliver every open alert, and every end of one, that was not delivered yet. Return the ids of the alerts."""
        rows = await self.database.all(f"select id, payload {_UNDELIVERED} order by opened_ms") if self.url else []
        for row in rows:
            await post_alert(self.fetch, self.url, row["payload"], row["id"])
            await self.database.run("update health_alerts set delivered_ms = ? where id = ?", self._now_ms(), row["id"])
        return [row["id"] for row in rows] + await self._deliver_ends()

    async def _deliver_ends(self) -> list[str]:
        select = f"select id, payload, resolved_ms {_UNDELIVERED_ENDS} order by resolved_ms"
        rows = await self.database.all(select) if self.url else []
        for row in rows:
            payload = json.loads(row["payload"])
            ended = {name: payload[name] for name in ("alertId", "source")} | {"openedAt": payload["timestamp"]}
            ended |= {"type": "source-recovered", "timestamp": iso(row["resolved_ms"] / 1000)}
            await post_alert(self.fetch, self.url, encode_json(ended), f"{row['id']}-resolved")
            await self.database.run(
                "update health_alerts set resolution_delivered_ms = ? where id = ?", self._now_ms(), row["id"]
            )
        return [row["id"] for row in rows]

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _payload(alert_id: str, run_id: str, now_ms: int, result: SourceHealth, failures: int) -> SourceAlert:
    return {
        "type": "source-unhealthy",
        "alertId": alert_id,
        "runId": run_id,
        "timestamp": iso(now_ms / 1000),
        "source": {"name": result["name"], "url": result["url"]},
        "consecutiveFailures": failures,
        "statusCode": result["statusCode"],
        "responseTimeMs": result["responseTimeMs"],
        "ruleCount": result["ruleCount"],
        "error": result.get("error"),
    }
