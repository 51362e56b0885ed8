"""The retry rules: how many attempts a stage has, who makes the last one, and how long a retry waits."""

from enum import Enum, auto
from typing import Final

from sluice.core.news.checkpoint import TryLaterEntry
from sluice.core.waits import is_waiting

_MAX_DOUBLINGS: Final = 10


class AttemptBy(Enum):
    """The analyst that makes an attempt at a stage: the intended one, the fallback, or none."""

    PRIMARY = auto()
    # One last attempt by the fallback analyst.
    FALLBACK = auto()
    NONE = auto()


def plan_attempt(attempt: int, max_attempts: int, *, has_fallback: bool = False) -> AttemptBy:
    """Decide who makes attempt number `attempt`, counted from 1.

    A number beyond the limit occurs when the run that made the last attempt crashed before it recorded the outcome.
    """
    if attempt <= max_attempts:
        return AttemptBy.PRIMARY
    return AttemptBy.FALLBACK if has_fallback and attempt == max_attempts + 1 else AttemptBy.NONE


def is_retry_due(entry: TryLaterEntry, *, retry_delay_s: int, now_ms: int) -> bool:
    """Return whether an article may be tried again.

    The first retry is immediate, the next ones wait 1, 3, 7 … delays, so that a short outage does not use up all attempts.
    """
    failures = max(1, entry.article.attempts)
    wait_s = retry_delay_s * ((1 << min(failures - 1, _MAX_DOUBLINGS)) - 1)
    return not is_waiting(entry.failed_at_ms + wait_s * 1000, now_ms, wait_s * 1000)
