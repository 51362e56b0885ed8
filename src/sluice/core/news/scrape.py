"""The text behind an article's link."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Refused, SluiceError, Unavailable
from sluice.core.news.extraction import decode, extract
from sluice.core.news.sentences import cut_at_sentence
from sluice.core.ports import Fetch

TIMEOUT_S: Final = 10.0
MAX_BYTES: Final = 5 * 1024 * 1024
MIN_CHARS: Final = 200  # less is no article: a notice, a paywall's first line, an error page
_HTML: Final = ("text/html", "application/xhtml+xml")
_ACCEPT: Final = (("Accept", "text/html, application/xhtml+xml"), ("Accept-Language", "en"))
# They stay so, whoever asks again.
_GONE: Final = frozenset({401, 402, 410, 451})


class TooLittle(SluiceError):
    """The page has next to no text for one who does not pay or log in; later it may have."""

    retryable = True


@dataclass(frozen=True, slots=True)
class Scraper:
    """`user_agent` says who asks, so that a site can refuse."""

    fetch: Fetch
    user_agent: str
    max_chars: int

    async def __call__(self, url: str) -> str:
        headers = (*_ACCEPT, ("User-Agent", self.user_agent))
        answer = await self.fetch(url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, headers=headers)
        if answer.status in _GONE:
            raise Refused(f"the page answered {answer.status}")
        if answer.status != 200:
            raise Unavailable(f"the page answered {answer.status}")
        kind = answer.header("content-type") or "text/html"
        if kind.partition(";")[0].strip().lower() not in _HTML:
            raise Refused(f"the page is {kind.partition(';')[0][:60]}, not HTML")
        text = extract(decode(answer.body, kind)).text
        if len(text) < MIN_CHARS:
            raise TooLittle(f"the page has only {len(text)} characters of text")
        return cut_at_sentence(text, self.max_chars)
