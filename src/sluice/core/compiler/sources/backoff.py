"""Exponential backoff of downloads: when a failed download is tried again."""

from typing import TYPE_CHECKING, Final

from sluice.core.compiler.sources.download import Download
from sluice.core.errors import SluiceError

if TYPE_CHECKING:
    from sluice.core.ports import Clock, Draw

RETRIES: Final = 3
_BASE_DELAY_S: Final = 1.0
_JITTER: Final = 0.3  # of the delay, so that many compilations do not retry at the same time


def retry_with_backoff(download: Download, clock: "Clock", draw: "Draw") -> Download:
    """Wrap a download so that it is tried up to three more times if the error is retryable."""

    async def download_with_retries(location: str) -> bytes | str:
        for attempt in range(RETRIES):
            try:
                return await download(location)
            except SluiceError as error:
                if not error.retryable:
                    raise
            await clock.sleep(backoff_s(attempt, draw()))
        return await download(location)

    return download_with_retries


def backoff_s(attempt: int, jitter: float) -> float:
    """Return the wait after a failed attempt (from 0): 1, 2 and 4 s, plus up to 30 % of jitter."""
    return _BASE_DELAY_S * 2.0**attempt * (1 + _JITTER * jitter)
