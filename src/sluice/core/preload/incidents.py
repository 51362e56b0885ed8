"""Incidents that an operator should know of: when one begins, and when it is over."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.members import Amount, EpochS
from sluice.core.preload.site_agent import SiteAgent

WINDOW_S: Final = 300.0
MAX_FAILURE_RATE: Final = 0.10
MIN_RESULTS: Final = 3  # one failed page on a quiet site is no trend
MAX_DEPTH: Final = 5000
LOOP_REMEDY: Final = "set the zone's origin_url to a host name of the origin that has no route to it"
REDIRECT_LOOP_REASONS: Final = (
    "the site does not know by which host its visitors ask. Activate its plugin with the zone's signing key, "
    "or let its server answer for that host"
)


Kind = Literal["failure_rate", "queue_depth", "breaker_open", "warming_loop", "agent_away", "redirect_circle"]
Level = Literal["warning", "critical"]


class Incident(TypedDict):
    incident_id: str
    zone_id: str
    kind: Kind
    level: Level
    message: str
    raised_at: EpochS
    resolved_at: Annotated[float | None, Doc("null while it is active.")]


class RatesReply(TypedDict):
    attempts: Amount
    failures: Amount
    failure_rate: Annotated[float, Doc(minimum=0, maximum=1)]
    mean_latency_ms: float | None
    slowest_latency_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRates:
    """How many fetches of the last five minutes there were, how many failed, and how long they took."""

    attempts: int
    failures: int
    mean_ms: float | None
    slowest_ms: float | None

    @property
    def failure_rate(self) -> float:
        return round(self.failures / self.attempts, 4) if self.attempts else 0.0

    def as_json(self) -> RatesReply:
        return {
            "attempts": self.attempts,
            "failures": self.failures,
            "failure_rate": self.failure_rate,
            "mean_latency_ms": self.mean_ms,
            "slowest_latency_ms": self.slowest_ms,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentInputs:
    """What is watched beside the figures.

    Requests to the hosts of `looping` come back to us; `redirect_loop_url` is a page that redirects to itself.
    """

    breaker: Breaker
    agent: SiteAgent
    looping: Sequence[str] = ()
    redirect_loop_url: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one watched thing: `message` says what is wrong, None that nothing is.

    Without a message `is_over` tells whether an open incident of this kind may be resolved.
    """

    kind: Kind
    level: Level
    message: str | None
    is_over: bool


def review_zone(rates: FetchRates, depth: int, watched: IncidentInputs) -> Iterator[Finding]:
    """Yield the state of everything that is watched."""
    breaker, away = watched.breaker, watched.agent.explain()
    is_high = rates.failure_rate > MAX_FAILURE_RATE
    failing = f"{rates.failures} of {rates.attempts} fetches failed in the last 5 minutes"
    yield Finding(
        "failure_rate",
        "warning",
        failing if is_high and rates.attempts >= MIN_RESULTS else None,
        # A few results, or none because nothing is fetched, do not prove that the origin has recovered.
        is_over=not is_high and breaker.state == "closed",
    )
    waiting = f"{depth} pages are waiting" if depth > MAX_DEPTH else None
    yield Finding("queue_depth", "warning", waiting, is_over=waiting is None)
    pause = f"the origin fails: preload pauses for {breaker.backoff_s:g} s, then tries one page"
    is_closed = breaker.state == "closed"
    yield Finding("breaker_open", "critical", None if is_closed else pause, is_over=is_closed)
    loop = (
        f"requests for pages of {', '.join(watched.looping)} come back to this Worker and are not warmed: {LOOP_REMEDY}"
    )
    yield Finding("warming_loop", "critical", loop if watched.looping else None, is_over=not watched.looping)
    yield Finding("agent_away", "critical", away, is_over=away is None)
    circle = (
        f"{watched.redirect_loop_url} redirects to itself: {REDIRECT_LOOP_REASONS}"
        if watched.redirect_loop_url
        else None
    )
    yield Finding("redirect_circle", "critical", circle, is_over=circle is None)
