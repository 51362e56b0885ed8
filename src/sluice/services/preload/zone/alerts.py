"""Incidents of a zone: reported once when they begin, and once when they are over."""

import json
from dataclasses import dataclass
from typing import Final

from sluice.core.json_text import encode_json
from sluice.core.net.webhook import post_alert
from sluice.core.ports import Fetch, Row, Sql
from sluice.core.preload.incidents import WINDOW_S, FetchRates, Finding, Incident, IncidentInputs, review_zone
from sluice.services.preload.zone.outbox import Outbox

RATES: Final = """count(*) AS attempts, coalesce(sum(ok = 0), 0) AS failures, avg(latency_ms) AS mean_ms,
  max(latency_ms) AS slowest_ms"""


@dataclass(frozen=True, slots=True)
class ZoneAlerts:
    zone_id: str
    sql: Sql
    outbox: Outbox

    def count_result(self, now: float, *, ok: bool, latency_ms: float | None) -> None:
        self.sql.run("INSERT INTO result (at, ok, latency_ms) VALUES (?, ?, ?)", now, int(ok), latency_ms)

    def clamp_waits(self, now: float) -> None:
        """Count no result for longer than the last minutes: the clock was set back."""
        self.sql.run("UPDATE result SET at = ? WHERE at > ?", now, now)

    def forget_old_results(self, now: float) -> None:
        self.sql.run("DELETE FROM result WHERE at <= ?", now - WINDOW_S)

    def load_rates(self, now: float) -> FetchRates:
        """Return how many attempts of the last five minutes there were, how many failed, and how long they took."""
        [row] = self.sql.rows(f"SELECT {RATES} FROM result WHERE at > ?", now - WINDOW_S)  # noqa: S608 - constant
        return _parse_rates(row)

    def load_good_latency_ms(self, now: float) -> float:
        """Return how long the good attempts of the last five minutes took on average; 0 without any."""
        sql = "SELECT avg(latency_ms) FROM result WHERE at > ? AND ok = 1"
        return float(self.sql.value(sql, now - WINDOW_S) or 0)

    def has_answered_since(self, time: float) -> bool:
        """Return whether the origin has answered a request since then as it should."""
        return bool(self.sql.value("SELECT EXISTS (SELECT 1 FROM result WHERE at >= ? AND ok = 1)", time))

    def review(self, *, now: float, watched: IncidentInputs, new_id: str) -> None:
        """Report the incidents that have begun and those that are over; all is read in one statement, because most find nothing."""
        [row] = self.sql.rows(
            f"""SELECT {RATES}, (SELECT depth FROM queue_tally) AS depth,
                  (SELECT json_group_array(json_array(kind, id, raised_at)) FROM incident) AS incidents
                FROM result WHERE at > ?""",  # noqa: S608 - constant
            now - WINDOW_S,
        )
        active = {kind: (incident_id, raised_at) for kind, incident_id, raised_at in json.loads(str(row["incidents"]))}
        for finding in review_zone(_parse_rates(row), int(row["depth"] or 0), watched):
            if finding.message and finding.kind not in active:
                incident_id = f"{self.zone_id}:{finding.kind}:{new_id}"
                self.sql.run("INSERT INTO incident VALUES (?, ?, ?)", finding.kind, incident_id, now)
                self._report(finding, incident_id, finding.message, raised_at=now)
            elif finding.is_over and finding.kind in active:
                self.sql.run("DELETE FROM incident WHERE kind = ?", finding.kind)
                incident_id, raised_at = active[finding.kind]
                self._report(finding, incident_id, "it is over", raised_at=raised_at, resolved_at=now)

    def has_active(self) -> bool:
        """Return whether an incident is not over."""
        return bool(self.sql.value("SELECT EXISTS (SELECT 1 FROM incident)"))

    def list_active(self) -> list[str]:
        """Return the kinds of the incidents that are not over."""
        return [str(row["kind"]) for row in self.sql.rows("SELECT kind FROM incident ORDER BY kind")]

    def _report(
        self,
        finding: Finding,
        incident_id: str,
        message: str,
        *,
        raised_at: float,
        resolved_at: float | None = None,
    ) -> None:
        self.outbox.add_alert(
            {
                "incident_id": incident_id,
                "zone_id": self.zone_id,
                "kind": finding.kind,
                "level": finding.level,
                "message": message,
                "raised_at": raised_at,
                "resolved_at": resolved_at,
            }
        )


def _parse_rates(row: Row) -> FetchRates:
    mean_ms, slowest_ms = row["mean_ms"], row["slowest_ms"]
    return FetchRates(
        attempts=int(row["attempts"] or 0),
        failures=int(row["failures"] or 0),
        mean_ms=None if mean_ms is None else float(mean_ms),
        slowest_ms=None if slowest_ms is None else float(slowest_ms),
    )


@dataclass(frozen=True, slots=True)
class AlertWebhook:
    """Posts each alert to the operator's URL; without a URL it does nothing."""

    url: str
    fetch: Fetch

    async def post(self, alert: Incident) -> None:
        if not self.url:
            return
        # The beginning of an incident and its end are two alerts.
        alert_id = alert["incident_id"] + ("" if alert["resolved_at"] is None else "-resolved")
        await post_alert(self.fetch, self.url, encode_json(alert), alert_id)
