"""Sources from elsewhere: what a download is, which answers count, and when it is tried again."""

from collections.abc import Awaitable, Callable
from typing import Final

from sluice.core.compiler.sources.failures import SourceMissing
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.ports import Clock, Draw, Fetch

RETRIES: Final = 3
_BASE_DELAY_S: Final = 1.0
_JITTER: Final = 0.3  # of the delay, so that many compilations do not come back at the same moment
_PASSING: Final = frozenset({408, 425, 429})  # and every 5xx: later the answer may be another

# The content behind an address; a SluiceError tells whether trying again may help.
Download = Callable[[str], Awaitable[bytes | str]]


def through(fetch: Fetch, *, max_bytes: int, timeout_s: float) -> Download:
    """Downloads by a guarded fetch."""

    async def download(url: str) -> bytes:
        answer = await fetch(url, max_bytes=max_bytes, timeout_s=timeout_s)
        check_status(answer.status)
        return answer.body

    return download


def check_status(status: int) -> None:
    """Nothing for a success, otherwise the error that says what the status means."""
    if status >= 500 or status in _PASSING:
        raise Unavailable(f"the host answered with status {status}")
    if not 200 <= status < 300:
        raise SourceMissing(f"the host answered with status {status}")


def retrying(download: Download, clock: Clock, draw: Draw) -> Download:
    """The same download, tried up to three more times where that may help."""

    async def patient(location: str) -> bytes | str:
        for attempt in range(RETRIES):
            try:
                return await download(location)
            except SluiceError as error:
                if not error.retryable:
                    raise
            await clock.sleep(delay_s(attempt, draw()))
        return await download(location)

    return patient


def delay_s(attempt: int, jitter: float) -> float:
    """The wait after a failed attempt (from 0): 1, 2 and 4 s, and up to 30 % more."""
    return _BASE_DELAY_S * 2.0**attempt * (1 + _JITTER * jitter)
