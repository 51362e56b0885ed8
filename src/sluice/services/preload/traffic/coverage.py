"""How much of a site is warm, and how much its limits can keep warm."""

from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Database
from sluice.core.preload.members import Amount
from sluice.core.preload.zone_config import ZoneConfig


class CoverageReply(TypedDict):
    """All known pages: stored ones, those that the site or visitors told of, and those that wait for their first copy."""

    pages: Amount
    warm: Annotated[int, Doc("With a fresh copy.", minimum=0)]
    stale: Annotated[int, Doc("With a copy that may only serve while a newer one is fetched.", minimum=0)]
    cold: Annotated[int, Doc("Without a copy.", minimum=0)]


class KeepWarmReply(TypedDict):
    capacity: Annotated[int, Doc("How many pages the limits can keep warm.", minimum=0)]
    is_enough: bool


class CoverageFigures(TypedDict):
    coverage: CoverageReply
    keep_warm: KeepWarmReply


@dataclass(frozen=True, slots=True)
class Coverage:
    """Pages with a fresh copy, with one that may only serve for a while, and without one; and how long copies live."""

    warm: int
    stale: int
    cold: int
    mean_life_s: float

    def as_json(self, config: ZoneConfig) -> CoverageFigures:
        pages = self.warm + self.stale + self.cold
        capacity = int(config.preload_rpm_limit * self.mean_life_s / 60) if config.preload_enabled else 0
        return {
            "coverage": {"pages": pages, "warm": self.warm, "stale": self.stale, "cold": self.cold},
            "keep_warm": {"capacity": capacity, "is_enough": capacity >= pages},
        }


async def load_coverage(database: Database, zone_id: str, config: ZoneConfig, *, queued: int, now: float) -> Coverage:
    """Count all known pages: stored ones, those that the site or visitors told of, and those that wait in the queue."""
    usable_s = max(config.cache_stale_if_error_s, config.cache_stale_while_revalidate_s)
    row = await database.first(
        """SELECT count(*) FILTER (WHERE fresh_until > ?2) AS warm,
             count(*) FILTER (WHERE fresh_until <= ?2 AND fresh_until + ?3 > ?2) AS stale,
             count(*) FILTER (WHERE fresh_until + ?3 <= ?2) AS cold,
             avg(fresh_until - max(stored_at, coalesce(renewed_at, 0))) AS life_s,
             (SELECT count(*) FROM page_facts WHERE zone_id = ?1 AND NOT EXISTS
               (SELECT 1 FROM cached_pages AS copy WHERE copy.zone_id = ?1 AND copy.url = page_facts.url)) AS told
           FROM cached_pages WHERE zone_id = ?1""",
        *(zone_id, now, usable_s),
    )
    counts: dict[str, Any] = row or {}
    cold = int(counts.get("cold") or 0) + max(int(counts.get("told") or 0), queued)
    life_s = float(counts.get("life_s") or 0) or float(config.preload_schedule_interval_s)
    return Coverage(int(counts.get("warm") or 0), int(counts.get("stale") or 0), cold, max(0.0, life_s))
