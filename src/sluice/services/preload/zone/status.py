"""The status of a zone and of its batches, in the documented shape."""

from dataclasses import dataclass
from typing import Annotated, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Row
from sluice.core.preload.circuit_breaker import State
from sluice.core.preload.incidents import RatesReply
from sluice.core.preload.members import Amount, EpochS
from sluice.core.preload.rate_limits import OriginLimits
from sluice.core.preload.site_agent import SiteAgent
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.batches import Batch, batch_as_json
from sluice.services.preload.warming.origin_check import OriginCheckReply
from sluice.services.preload.zone.services import ZoneServices

MAX_BATCHES: Final = 20


class BreakerReply(TypedDict):
    """Whether pages are fetched: open means not now, half-open means that one page is tried."""

    state: State
    consecutive_failures: Amount
    backoff_s: float
    open_until: EpochS | None


class LimitsReply(TypedDict):
    """The most requests that the origin gets."""

    concurrency: int
    per_second: int
    per_minute: int


class AgentStatus(TypedDict):
    """The site's own plugin: since when it is away, and why; null while it is there, or there is none."""

    away_since: float | None
    reason: str | None


class StatusReply(TypedDict):
    zone_id: str
    enabled: bool
    paused: bool
    agent: AgentStatus
    queue_depth: Amount
    hit_ratio: Annotated[
        float | None,
        Doc("Visits answered from a copy in the last 24 hours; null without visits.", minimum=0, maximum=1),
    ]
    dead_letters: Amount
    in_flight: Amount
    breaker: BreakerReply
    limits: LimitsReply
    last_5_minutes: RatesReply
    alerts: Annotated[list[str], Doc("The kinds of the active incidents.")]
    origin_check: Annotated[
        OriginCheckReply | None, Doc("The latest since the configuration changed; null without one.")
    ]
    batches: Annotated[list[Batch], Doc("The latest first.")]
    note: str


@dataclass(frozen=True, slots=True)
class ZoneStatus:
    services: ZoneServices

    def describe_zone(self, config: ZoneConfig) -> StatusReply:
        services, now = self.services, self.services.now()
        breaker = services.state.breaker.at(now)
        limits = OriginLimits.from_config(config)
        return {
            "zone_id": services.zone_id,
            "enabled": config.preload_enabled,
            "paused": services.state.is_paused,
            "agent": _describe_agent(services.state.agent),
            "queue_depth": services.queue.depth,
            "hit_ratio": services.traffic.load_day(now).hit_ratio,
            "dead_letters": services.dead_letters.count,
            "in_flight": services.grants.count_in_flight(now),
            "breaker": {
                "state": breaker.state,
                "consecutive_failures": len(breaker.failing),
                "backoff_s": breaker.backoff_s,
                "open_until": breaker.open_until or None,
            },
            "limits": {
                "concurrency": limits.concurrency,
                "per_second": limits.per_second,
                "per_minute": limits.per_minute,
            },
            "last_5_minutes": services.alerts.load_rates(now).as_json(),
            "alerts": services.alerts.list_active(),
            "origin_check": services.origin_check.describe(),
            "batches": [self._describe(row, config) for row in services.batches.list_latest(MAX_BATCHES)],
            "note": "the edge cache is filled in one data centre; R2 is the copy that all of them read",
        }

    def describe_batch(self, batch_id: str, config: ZoneConfig) -> Batch:
        return self._describe(self.services.batches.load(batch_id), config)

    def _describe(self, row: Row, config: ZoneConfig) -> Batch:
        return batch_as_json(row, eta_s=self._estimate_s(config))

    def _estimate_s(self, config: ZoneConfig) -> float | None:
        """Return the seconds until the whole queue is drained at the pace that the limits allow; None while it is not drained."""
        state, now = self.services.state, self.services.now()
        if not config.preload_enabled or state.is_held:
            return None
        breaker = state.breaker.at(now)
        pause_s = max(0.0, breaker.open_until - now) if breaker.state == "open" else 0.0
        limits = OriginLimits.from_config(config)
        depth = self.services.queue.depth
        pace_s = max(depth / limits.per_second, (depth - limits.per_minute) * 60 / limits.per_minute)
        return max(pause_s + pace_s, self.services.queue.find_last_retry(now) - now)


def _describe_agent(agent: SiteAgent) -> AgentStatus:
    return {"away_since": agent.away_since, "reason": agent.explain()}
