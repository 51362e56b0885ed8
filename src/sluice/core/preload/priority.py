"""Which page is warmed first."""

from dataclasses import dataclass
from math import log10
from typing import Final, Literal, get_args

Trigger = Literal["post-purge", "scheduled", "sitemap", "manual", "deployment"]
MANUAL: Final = "manual"  # somebody asks for the page by hand, which is possible even in a zone that is switched off
VISIT: Final = "visit"  # a visitor saw the page; no caller of the API may name this trigger
TRIGGERS: Final[tuple[Trigger, ...]] = get_args(Trigger)
BASE: Final[dict[str, int]] = {
    "post-purge": 80,
    "scheduled": 50,
    "sitemap": 30,
    "manual": 100,
    "deployment": 40,
    VISIT: 10,
}
MAX_RECENCY: Final = 20
MAX_TRAFFIC: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about a page besides its URL; `published_at` in epoch seconds."""

    published_at: float | None = None
    monthly_pageviews: int = 0
    post_id: int | None = None


NOTHING_KNOWN: Final = Facts()


def compute_priority(trigger: str, facts: Facts, now: float) -> float:
    """Return the base by trigger, plus up to 20 for a page published within the last 20 hours, plus up to 30 for its traffic."""
    return round(BASE[trigger] + _recency_bonus(facts.published_at, now) + _traffic_bonus(facts.monthly_pageviews), 3)


def _recency_bonus(published_at: float | None, now: float) -> float:
    if published_at is None:
        return 0
    hours = max(0.0, now - published_at) / 3600
    return max(0.0, MAX_RECENCY - hours)


def _traffic_bonus(monthly_pageviews: int) -> float:
    return min(MAX_TRAFFIC, log10(monthly_pageviews) * 10) if monthly_pageviews > 0 else 0
