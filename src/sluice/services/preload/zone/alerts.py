"""Incidents an operator should hear of: told once when they begin, and once when they are over."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.ports import Sql
from sluice.core.preload.circuit_breaker import Breaker
from sluice.services.preload.zone.outbox import Outbox

WINDOW_S: Final = 300.0
MAX_FAILURE_RATE: Final = 0.10
MIN_RESULTS: Final = 3  # one page that fails on a quiet site is no trend
MAX_DEPTH: Final = 5000


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one thing that is watched: `message` says what is wrong, None that all is well."""

    kind: str
    level: str
    message: str | None


@dataclass(frozen=True, slots=True)
class Alerts:
    sql: Sql

    def count_result(self, now: float, *, ok: bool, latency_ms: float | None) -> None:
        self.sql.execute("INSERT INTO result (at, ok, latency_ms) VALUES (?, ?, ?)", now, int(ok), latency_ms)
        self.sql.execute("DELETE FROM result WHERE at <= ?", now - WINDOW_S)

    def rates(self, now: float) -> dict[str, Any]:
        """Attempts of the last five minutes, how many failed, how long they took."""
        [row] = self.sql.rows(
            """SELECT count(*) AS attempts, coalesce(sum(ok = 0), 0) AS failures,
                 avg(latency_ms) AS mean_ms, max(latency_ms) AS slowest_ms
               FROM result WHERE at > ?""",
            now - WINDOW_S,
        )
        attempts, failures = int(row["attempts"] or 0), int(row["failures"] or 0)
        return {
            "attempts": attempts,
            "failures": failures,
            "failure_rate": round(failures / attempts, 4) if attempts else 0.0,
            "mean_latency_ms": row["mean_ms"],
            "slowest_latency_ms": row["slowest_ms"],
        }

    def review(self, zone_id: str, *, now: float, depth: int, breaker: Breaker, new_id: str) -> list[dict[str, Any]]:
        """Raise what has begun and resolve what is over; returns what changed, for the log."""
        changes = []
        for finding in self._findings(now, depth, breaker):
            found = self.sql.rows("SELECT id, raised_at FROM incident WHERE kind = ?", finding.kind)
            if finding.message and not found:
                incident_id = f"{zone_id}:{finding.kind}:{new_id}"
                self.sql.execute("INSERT INTO incident VALUES (?, ?, ?)", finding.kind, incident_id, now)
                changes.append(_change(zone_id, finding, incident_id, finding.message, raised_at=now))
            elif found and not finding.message and not self._undecided(finding, breaker, now):
                self.sql.execute("DELETE FROM incident WHERE kind = ?", finding.kind)
                raised_at = float(found[0]["raised_at"] or 0)
                changes.append(
                    _change(zone_id, finding, str(found[0]["id"]), "it is over", raised_at=raised_at, resolved_at=now)
                )
        for change in changes:
            Outbox(self.sql).alert(**change)
        return changes

    def active(self) -> list[str]:
        return [str(row["kind"]) for row in self.sql.rows("SELECT kind FROM incident ORDER BY kind")]

    def _undecided(self, finding: Finding, breaker: Breaker, now: float) -> bool:
        """A few results, or none because nothing is fetched, do not prove that failing is over."""
        failing = self.rates(now)["failure_rate"] > MAX_FAILURE_RATE
        return finding.kind == "failure_rate" and (failing or breaker.state != "closed")

    def _findings(self, now: float, depth: int, breaker: Breaker) -> Iterator[Finding]:
        rates = self.rates(now)
        failing = rates["attempts"] >= MIN_RESULTS and rates["failure_rate"] > MAX_FAILURE_RATE
        told = f"{rates['failures']} of {rates['attempts']} fetches failed in the last 5 minutes"
        yield Finding("failure_rate", "warning", told if failing else None)
        yield Finding("queue_depth", "warning", f"{depth} pages are waiting" if depth > MAX_DEPTH else None)
        opened = f"the origin fails: preload pauses for {breaker.backoff_s:g} s, then tries one page"
        yield Finding("breaker_open", "critical", opened if breaker.state != "closed" else None)


def _change(
    zone_id: str,
    finding: Finding,
    incident_id: str,
    message: str,
    *,
    raised_at: float,
    resolved_at: float | None = None,
) -> dict[str, Any]:
    return {
        "incident_id": incident_id,
        "zone_id": zone_id,
        "kind": finding.kind,
        "level": finding.level,
        "message": message,
        "raised_at": raised_at,
        "resolved_at": resolved_at,
    }
