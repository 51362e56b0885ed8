"""The backoff of queue messages: 2^n seconds."""

from typing import Final

MAX_DELAY_S: Final = 3600


def retry_delay_s(attempts: int) -> int:
    """Returns 2, 4, 8 … seconds after 1, 2, 3 … attempts, at most an hour."""
    return min(1 << max(attempts, 1), MAX_DELAY_S)
