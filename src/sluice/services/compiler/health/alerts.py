"""Incidents of sources: opened once, told once, resolved when the source is well again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import Unavailable
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import Clock, Database, Fetch
from sluice.core.timestamps import iso

TIMEOUT_S: Final = 10.0
MAX_REPLY_BYTES: Final = 64 * 1024

# The index of open incidents refuses a second one for the same source.
_OPEN: Final = """
insert into health_alerts (id, source, run_id, payload, opened_ms) values (?, ?, ?, ?, ?) on conflict do nothing
"""
_UNTOLD: Final = "from health_alerts where resolved_ms is null and delivered_ms is null"
_RESOLVE: Final = "update health_alerts set resolved_ms = ? where source = ? and resolved_ms is null"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alerts:
    """`url` is where they are told; without one they are only kept."""

    database: Database
    fetch: Fetch
    clock: Clock
    url: str

    async def opened(
        self, run_id: str, failing: Mapping[str, int], results: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Open an incident for each of the sources that has none; those that this run has opened, also before a crash."""
        now_ms = self._now_ms()
        for at, result in enumerate(results):
            if result["url"] in failing:
                alert_id = f"{run_id}-{at}"
                told = _payload(alert_id, run_id, now_ms, result, failing[result["url"]])
                await self.database.run(_OPEN, alert_id, result["url"], run_id, encode_json(told), now_ms)
        rows = await self.database.all("select payload from health_alerts where run_id = ? order by id", run_id)
        return [json.loads(row["payload"]) for row in rows]

    async def resolve(self, sources: Sequence[str]) -> int:
        """Close the incidents of sources that are well again; their number."""
        if not sources:
            return 0
        now_ms = self._now_ms()
        changed = await self.database.batch([(_RESOLVE, (now_ms, source)) for source in sources])
        return sum(each.changes for each in changed)

    async def untold(self) -> int:
        """How many open incidents nobody was told of, of this run or of an earlier one whose webhook failed."""
        return int(await self.database.value(f"select count(*) {_UNTOLD}")) if self.url else 0

    async def deliver(self) -> list[str]:
        """Tell of every open incident that was not told yet; their ids."""
        rows = await self.database.all(f"select id, payload {_UNTOLD} order by opened_ms") if self.url else []
        for row in rows:
            await self._post(row["id"], row["payload"])
            await self.database.run("update health_alerts set delivered_ms = ? where id = ?", self._now_ms(), row["id"])
        return [row["id"] for row in rows]

    async def _post(self, alert_id: str, payload: str) -> None:
        # A crash between the answer and our note of it repeats the request: the id tells the two as one.
        headers = (("Content-Type", "application/json"), ("Idempotency-Key", alert_id))
        answer = await self.fetch(
            self.url,
            method="POST",
            headers=headers,
            body=encode_utf8(payload),
            max_bytes=MAX_REPLY_BYTES,
            timeout_s=TIMEOUT_S,
        )
        if not 200 <= answer.status < 300:
            raise Unavailable(f"the webhook answered {answer.status} to alert {alert_id}")

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _payload(alert_id: str, run_id: str, now_ms: int, result: Mapping[str, Any], failures: int) -> dict[str, Any]:
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
