"""How a zone stands, for people and for the client that waits."""

from dataclasses import dataclass
from typing import Any, Final

from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.batches import Batches, batch_as_json
from sluice.services.preload.queue.dead_letters import DeadLetters
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.warming.grant_store import Limits, Throttle
from sluice.services.preload.zone.alerts import Alerts
from sluice.services.preload.zone.services import Parts

BATCHES_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Status:
    parts: Parts

    def of_zone(self, zone: ZoneConfig) -> dict[str, Any]:
        sql, state, now = self.parts.sql, self.parts.state, self.parts.now()
        breaker = state.breaker.at(now)
        limits = Limits.of(zone)
        return {
            "zone_id": self.parts.zone_id,
            "enabled": zone.preload_enabled,
            "paused": state.get("paused", default=False),
            "queue_depth": Queue(sql).depth,
            "dead_letters": DeadLetters(sql).count,
            "in_flight": Throttle(sql).in_flight(now),
            "breaker": {
                "state": breaker.state,
                "consecutive_failures": breaker.failures,
                "backoff_s": breaker.backoff_s,
                "open_until": breaker.open_until or None,
            },
            "limits": {
                "concurrency": limits.concurrency,
                "per_second": limits.per_second,
                "per_minute": limits.per_minute,
            },
            "last_5_minutes": Alerts(sql).rates(now),
            "alerts": Alerts(sql).active(),
            "batches": [self._shown(row, zone) for row in Batches(sql).latest(BATCHES_SHOWN)],
            "note": "the edge cache is filled in one data centre; R2 is the copy that all of them read",
        }

    def of_batch(self, batch_id: str, zone: ZoneConfig) -> dict[str, Any]:
        return self._shown(Batches(self.parts.sql).row(batch_id), zone)

    def _shown(self, row: Any, zone: ZoneConfig) -> dict[str, Any]:
        return batch_as_json(row, eta_s=self._eta_s(zone))

    def _eta_s(self, zone: ZoneConfig) -> float | None:
        """Until the whole queue is through, at the pace that the limits allow; None while it stands still."""
        state, now = self.parts.state, self.parts.now()
        if not zone.preload_enabled or state.get("paused", default=False):
            return None
        breaker = state.breaker.at(now)
        pause_s = max(0.0, breaker.open_until - now) if breaker.state == "open" else 0.0
        limits = Limits.of(zone)
        depth = Queue(self.parts.sql).depth
        return pause_s + max(depth / limits.per_second, (depth - limits.per_minute) * 60 / limits.per_minute)
