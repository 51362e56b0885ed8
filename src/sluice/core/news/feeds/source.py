"""What every source of news has in common."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sluice.core.bounded_json import parse_bounded_json
from sluice.core.errors import SluiceError, TooManyRequests, Unavailable
from sluice.core.news.article import Article
from sluice.core.ports import FetchResponse

TIMEOUT_S: Final = 20.0
MAX_BYTES: Final = 5 * 1024 * 1024
_MAX_WAIT_S: Final = 3600


@dataclass(frozen=True, slots=True)
class Harvest:
    """What one source gave, newest first; `error` if it broke off before its end."""

    articles: tuple[Article, ...]
    pages: int
    error: SluiceError | None = None


class Source(Protocol):
    """One source of news."""

    @property
    def name(self) -> str: ...

    async def harvest(self, known: Collection[str], now_ms: int) -> Harvest:
        """Page by page until one holds an article that is `known`; never raises a SluiceError."""


def parsed_json(answer: FetchResponse, who: str) -> Any:
    """The JSON of a service's answer, whatever its status, since errors are JSON too."""
    try:
        return parse_bounded_json(answer.body.decode())
    except ValueError as error:
        check_status(answer, who)
        raise Unavailable(f"{who} answered with what is no JSON: {str(error)[:80]}") from None


def check_status(answer: FetchResponse, who: str, told: str = "") -> None:
    """Raise for anything but success."""
    if answer.status < 300:
        return
    reason = f": {told[:200]}" if told else ""
    if answer.status == 429:
        after = answer.header("retry-after") or ""
        wait_s = min(int(after), _MAX_WAIT_S) if after.isascii() and after.isdigit() else 60
        raise TooManyRequests(f"{who} allows no more requests for now{reason}", wait_s)
    raise Unavailable(f"{who} answered {answer.status}{reason}")
