"""What all sources of news have in common: the interface, the limits, and the check of a response."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sluice.core.errors import SluiceError, TooManyRequests, Unavailable
from sluice.core.json_text import parse_bounded_json
from sluice.core.news.article import Article
from sluice.core.ports import FetchResponse

TIMEOUT_S: Final = 20.0
MAX_BYTES: Final = 5 * 1024 * 1024
_DEFAULT_RETRY_AFTER_S: Final = 60
_MAX_RETRY_AFTER_S: Final = 3600


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The articles of one source, newest first; `error` says why reading stopped early, if it did.

    `warnings` say what was wrong with a feed that was read all the same.
    """

    articles: tuple[Article, ...]
    pages: int
    error: SluiceError | None = None
    warnings: tuple[str, ...] = ()


class NewsSource(Protocol):
    """One source of news."""

    @property
    def name(self) -> str: ...

    async def fetch_articles(self, known: Collection[str], now_ms: int) -> SourceResult:
        """Read page by page until one holds a `known` article; a SluiceError is part of the result, and never raised."""


def parse_provider_json(response: FetchResponse, provider: str) -> Any:
    """Parse the JSON of a response of any status, because errors are JSON too."""
    try:
        return parse_bounded_json(response.body.decode())
    except ValueError as error:
        check_status(response, provider)
        raise Unavailable(f"{provider} answered with something that is no JSON: {str(error)[:80]}") from None


def check_status(response: FetchResponse, provider: str, error_text: str = "") -> None:
    """Raise TooManyRequests for 429 and Unavailable for any other status that is not a success."""
    if response.status < 300:
        return
    reason = f": {error_text[:200]}" if error_text else ""
    if response.status == 429:
        raise TooManyRequests(f"{provider} allows no more requests for now{reason}", _retry_after_s(response))
    raise Unavailable(f"{provider} answered {response.status}{reason}")


def _retry_after_s(response: FetchResponse) -> int:
    text = response.header("retry-after") or ""
    return min(int(text), _MAX_RETRY_AFTER_S) if text.isascii() and text.isdigit() else _DEFAULT_RETRY_AFTER_S
