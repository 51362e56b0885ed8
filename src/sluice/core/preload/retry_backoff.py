"""What an answer of the origin means for the page: stored, unchanged, gone, skipped, tried again or given up."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from sluice.core.header_values import header_value
from sluice.core.http_dates import parse_http_date
from sluice.core.ports import HeaderPairs

FIRST_DELAY_S: Final = 5
MAX_DELAY_S: Final = 3600.0  # neither our steps nor an origin's Retry-After put a page off for longer
_SECONDS: Final = re.compile(r"[0-9]{1,9}")

Kind = Literal["store", "unchanged", "gone", "redirect", "skipped", "retry", "failed"]
# What the breaker makes of it: a good answer, one that says nothing of the origin's health, or trouble.
Health = Literal["good", "neutral", "trouble"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    kind: Kind
    health: Health
    reason: str = ""
    status: int | None = None
    retry_after_s: float | None = None


def judge(status: int, headers: HeaderPairs, now: float) -> Verdict:
    """The verdict on an answer by its status."""
    match status:
        case 200:
            return Verdict(kind="store", health="good", status=status)
        case 304:
            return Verdict(kind="unchanged", health="good", status=status)
        case 404 | 410:
            return Verdict(kind="gone", health="neutral", status=status, reason=f"status {status}")
        case 429:
            wait_s = retry_after_s(headers, now)
            return Verdict(
                kind="retry",
                health="neutral",
                status=status,
                reason="status 429",
                retry_after_s=wait_s or FIRST_DELAY_S,
            )
        case _ if status >= 500:
            wait_s = retry_after_s(headers, now)
            reason = f"status {status}"
            return Verdict(kind="retry", health="trouble", status=status, reason=reason, retry_after_s=wait_s)
        case _ if status >= 400:
            return Verdict(kind="failed", health="neutral", status=status, reason=f"status {status}")
        case 301 | 302 | 303 | 307 | 308:
            return Verdict(kind="redirect", health="neutral", status=status, reason=header_value(headers, "location"))
        case _:
            health: Health = "good" if 200 <= status < 300 else "neutral"
            return Verdict(kind="skipped", health=health, status=status, reason=f"status {status}")


def delay_s(attempt: int) -> float:
    """5, 25, 125 s after the first, second and third failure."""
    return float(min(MAX_DELAY_S, FIRST_DELAY_S ** (attempt + 1)))


def retry_after_s(headers: HeaderPairs, now: float) -> float | None:
    """How long the origin asks to wait, in seconds or as a date; None when it does not say."""
    text = header_value(headers, "retry-after").strip()
    if _SECONDS.fullmatch(text):
        return min(MAX_DELAY_S, float(text))
    moment: datetime | None = parse_http_date(text)
    return min(MAX_DELAY_S, max(0.0, moment.timestamp() - now)) if moment else None
