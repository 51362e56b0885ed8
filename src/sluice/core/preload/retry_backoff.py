"""When a failed page is tried again: after 5, 25 and 125 s, and not before the origin's Retry-After."""

import re
from typing import Final

from sluice.core.headers import header_value
from sluice.core.http_dates import parse_http_date
from sluice.core.ports import HeaderPairs

FIRST_DELAY_S: Final = 5
MAX_DELAY_S: Final = 3600.0  # neither the backoff nor an origin's Retry-After delays a page for longer
_SECONDS: Final = re.compile(r"[0-9]{1,9}")


def backoff_s(attempt: int) -> float:
    """Return 5^n: 5, 25, 125 s after the first, second and third failure."""
    return float(min(MAX_DELAY_S, FIRST_DELAY_S ** (attempt + 1)))


def parse_retry_after_s(headers: HeaderPairs, now: float) -> float | None:
    """Return the seconds to wait by the Retry-After header, a number of seconds or a date; None without a valid one."""
    text = header_value(headers, "retry-after").strip()
    if _SECONDS.fullmatch(text):
        return min(MAX_DELAY_S, float(text))
    time = parse_http_date(text)
    return min(MAX_DELAY_S, max(0.0, time.timestamp() - now)) if time else None
