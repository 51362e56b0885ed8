"""What an attempt to warm a page leads to, as types; texts in them are for people."""

from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from sluice.core.headers import header_value
from sluice.core.ports import HeaderPairs
from sluice.core.preload.retry_backoff import FIRST_DELAY_S, parse_retry_after_s


class OriginHealth(Enum):
    """What a response says about the origin's health."""

    GOOD = "good"
    NEUTRAL = "neutral"
    TROUBLE = "trouble"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Storable:
    """A response with content: it is stored if it may be shared."""


@dataclass(frozen=True, slots=True)
class Stored:
    """R2 and the edge hold a new copy."""


@dataclass(frozen=True, slots=True)
class EdgeOnly:
    """R2 refused the copy, the edge holds it."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The page has not changed, its stored copy is renewed."""


@dataclass(frozen=True, slots=True)
class FetchAgain:
    """The page must be fetched once more, at once."""

    reason: str


@dataclass(frozen=True, slots=True)
class Gone:
    """404 or 410: there is no such page any more."""

    reason: str


@dataclass(frozen=True, slots=True)
class Redirect:
    """The page is at another URL, as the Location header names it."""

    to: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A response that is not stored."""

    reason: str


@dataclass(frozen=True, slots=True)
class Retry:
    """A failure that may pass. With `pauses_zone` the origin asks to be left alone with all of its pages.

    With `is_lost` the connection was lost. The first time it may have been a reused one that the server had closed before.
    So the page is tried again at once, as its next attempt, and nothing is said about the origin.
    """

    reason: str
    after_s: float | None = None
    pauses_zone: bool = False
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class TimedOutPage:
    """No response in time: the page is tried again behind all others. With `was_preempted` others did not wait any longer for it."""

    reason: str
    was_preempted: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """A failure that will not pass."""

    reason: str


# What the status of a response means.
ResponseOutcome = Storable | Unchanged | Gone | Redirect | Skipped | Retry | Failed
# How an attempt ends.
Outcome = Stored | EdgeOnly | Unchanged | FetchAgain | Gone | Redirect | Skipped | Retry | TimedOutPage | Failed


def classify_response(status: int, headers: HeaderPairs, now: float) -> ResponseOutcome:
    """Return what a response means, by its status."""
    reason = f"status {status}"
    match status:
        case 200:
            return Storable()
        case 304:
            return Unchanged()
        case 404 | 410:
            return Gone(reason)
        case 429:
            return Retry(reason, parse_retry_after_s(headers, now) or FIRST_DELAY_S, pauses_zone=True)
        case _ if status >= 500:
            return Retry(reason, parse_retry_after_s(headers, now))
        case _ if status >= 400:
            return Failed(reason)
        case 301 | 302 | 303 | 307 | 308:
            return Redirect(header_value(headers, "location"))
        case _:
            return Skipped(reason)


def health_of(status: int) -> OriginHealth:
    """Return what a status says of the origin's health: 5xx is trouble, 4xx and redirects say nothing."""
    if status >= 500:
        return OriginHealth.TROUBLE
    return OriginHealth.GOOD if 200 <= status < 300 or status == 304 else OriginHealth.NEUTRAL


def detail_of(outcome: Outcome) -> str:
    """Return the detail for people; "" when the outcome says it all."""
    match outcome:
        case Stored() | Unchanged():
            return ""
        case EdgeOnly():
            return "edge only: R2 refused it"
        case Redirect():
            return outcome.to
        case FetchAgain() | Gone() | Skipped() | Retry() | TimedOutPage() | Failed():
            return outcome.reason
        case _:
            assert_never(outcome)
